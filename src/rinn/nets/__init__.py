"""Networks: one net, many trained as one program, the search, which to keep, predictions."""
