"""Does a graph carry the data? A network with exactly its edges, and what each edge is worth."""
