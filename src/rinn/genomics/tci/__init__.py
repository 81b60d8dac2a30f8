"""TCI, tumour-specific causal inference: which alteration changed which gene in which tumour."""
