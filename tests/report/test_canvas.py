"""Text in figures: what the font lacks, and the room there is."""

from rinn.report.figures.canvas import fit_text, spell, wrap_text


def test_letters_that_the_font_lacks_are_spelled_out():
    assert spell("TP53 $x_1$ \U0001f9ec") == r"TP53 $x_1$ \U0001f9ec"


def test_text_fits_a_width():
    assert fit_text("a\nb\x07", 1.0) == r"a b\x07"
    assert fit_text("w" * 300, 0.5) == "wwww…"
    assert wrap_text("one two three", 0.5, 8.0) == ["one two", "three"]
