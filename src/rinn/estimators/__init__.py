"""The search for a latent graph as scikit-learn estimators, one for each strategy."""
