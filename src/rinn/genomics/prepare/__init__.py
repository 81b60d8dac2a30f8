"""From the files of a cancer study to X, Y and covariates that `rinn fit` takes."""
