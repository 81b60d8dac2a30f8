"""Data from known causal graphs: graph, mechanism, samples."""
