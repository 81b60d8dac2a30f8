"""From the files of a perturbation experiment to X, Y and covariates that `rinn fit` takes."""
