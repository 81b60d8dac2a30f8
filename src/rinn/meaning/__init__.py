"""What latents and inputs may mean: names from gene sets, and inputs that act alike."""

from rinn.meaning.enrichment import Enrichment, adjust_p, enrich_latents
from rinn.meaning.gmt import GeneSets, load_gmt
from rinn.meaning.similarity import Similarity, compare_inputs, load_effects

__all__ = [
    "Enrichment",
    "GeneSets",
    "Similarity",
    "adjust_p",
    "compare_inputs",
    "enrich_latents",
    "load_effects",
    "load_gmt",
]
