"""Cancer genomics: readers of its formats, tables for a fit, TCI."""
