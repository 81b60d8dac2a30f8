"""Learn the hidden causal graph between known causes (X) and known effects (Y)."""
