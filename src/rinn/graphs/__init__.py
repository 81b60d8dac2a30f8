"""Latent graphs: files, formats, layout, comparison, and what is identifiable in them."""
