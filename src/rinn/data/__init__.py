"""Tables to numbers: text, cells, ids, kinds, covariates, scales, splits."""
