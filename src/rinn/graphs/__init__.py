"""Latent graphs as such: files, formats, comparison, and what can be known of them."""
