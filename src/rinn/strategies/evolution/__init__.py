"""Networks that evolve: genes, their fitness, breeding, and populations as the search sees them."""
