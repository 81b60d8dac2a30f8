"""RINN and the other strategies as scikit-learn estimators."""
