"""The graph: effects, the score of a graph, the search, and how sure each edge is."""
