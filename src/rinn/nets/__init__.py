"""One network at a time: its weights, its forward pass, its penalty."""
