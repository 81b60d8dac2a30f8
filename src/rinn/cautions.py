"""What must be said of data before anyone believes a graph from them."""

from __future__ import annotations

FEW_SAMPLES = 200


def warn_of_size(samples: int, inputs: int) -> str | None:
    """Warn where there are few samples, or fewer than inputs.

    Args:
        samples: rows of X and Y.
        inputs: columns of X.

    Returns:
        One sentence, or None where the data are large enough to begin with.

    Example:
        >>> warn_of_size(84, 14)
        'Small data: 84 samples are few (fewer than 200), so read the graph as a hypothesis and \
single edges as doubtful; --null says how much of it is chance.'
        >>> warn_of_size(5000, 634) is None
        True
    """
    if samples < inputs:
        why = f"{samples:,} samples are fewer than the {inputs:,} inputs"
    elif samples < FEW_SAMPLES:
        why = f"{samples:,} samples are few (fewer than {FEW_SAMPLES})"
    else:
        return None
    return (
        f"Small data: {why}, so read the graph as a hypothesis and single edges as doubtful; "
        f"--null says how much of it is chance."
    )
