"""The words of messages: names in quotes, counts, suggestions."""

from rinn.errors import clip, count, name_row, quote, quote_some, suggest


def test_suggestions_name_the_closest_choice_and_all_of_them():
    end = "; did you mean 'gaussian'? Known: matrix, gaussian"
    assert suggest("gausian", ["matrix", "gaussian"]) == end


def test_names_are_quoted_and_shortened():
    assert (quote("TP53"), len(quote("x" * 300))) == ("'TP53'", 62)
    assert quote_some(["a", "b", "c"], limit=2) == "'a', 'b' and 1 more"
    assert clip("a long name", 6) == "a lon…"


def test_counts_have_their_nouns():
    assert (count(1, "latent"), count(1200, "sample")) == ("1 latent", "1,200 samples")


def test_rows_are_named_as_the_user_sees_them():
    assert name_row(0, [2, 3], ["a", "b"]) == "line 2 (sample 'a')"
    assert name_row(0, None, None) == "row 1"
