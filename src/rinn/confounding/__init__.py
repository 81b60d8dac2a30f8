"""Covariates such as tissue, batch and sex: they act on the outputs directly, beside the graph."""

from rinn.confounding.coding import Coding, Covariates, code_covariates, encode_covariates
from rinn.confounding.models import Adjustment, CovariateModel, fit_adjustment, fit_covariates
from rinn.confounding.reading import (
    CovariateTable,
    load_covariates,
    make_covariates,
    match_covariates,
)
from rinn.confounding.telling import sum_up_covariates, tabulate_covariates

__all__ = [
    "Adjustment",
    "Coding",
    "CovariateModel",
    "CovariateTable",
    "Covariates",
    "code_covariates",
    "encode_covariates",
    "fit_adjustment",
    "fit_covariates",
    "load_covariates",
    "make_covariates",
    "match_covariates",
    "sum_up_covariates",
    "tabulate_covariates",
]
