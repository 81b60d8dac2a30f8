import pytest

from rinn.config import check_choices, check_count, check_range, check_share, fill_parameters
from rinn.errors import InputError


def test_given_parameters_replace_defaults_and_keep_their_order():
    assert list(fill_parameters("or", {"b": 3}, {"a": 1, "b": 2}).items()) == [("a", 1), ("b", 3)]


def test_unknown_parameter_names_the_closest():
    with pytest.raises(InputError, match=r"'nois' is not a parameter of .*'or'.*mean 'noise'"):
        fill_parameters("or", {"nois": 1}, {"noise": 0.1})


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", None])
def test_count_refuses_what_is_no_whole_number_from_one(value):
    with pytest.raises(
        InputError, match=r"samples must be a whole number of at least 1 and at most"
    ):
        check_count("samples", value)


def test_count_with_an_upper_end():
    assert check_count("parents", 3, least=0, most=3) == 3
    said = r"parents must be .* at least 0 and at most 3, but 4 was given; choose 0 to 3"
    with pytest.raises(InputError, match=said):
        check_count("parents", 4, least=0, most=3)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.1", True])
def test_share_refuses_what_is_no_probability(value):
    with pytest.raises(InputError, match=r"p must be a number of at least 0 and at most 1, but"):
        check_share("p", value)


def test_share_with_an_open_end_refuses_the_end():
    assert check_share("noise", 0.49, below=0.5, closed=False) == 0.49
    with pytest.raises(InputError, match=r"at least 0 and below 0\.5, but 0\.5 was given"):
        check_share("noise", 0.5, below=0.5, closed=False)


@pytest.mark.parametrize("value", [(3, 1), (-1, 2), (1,), (1, 2, 3), 2.0, ("a", "b"), "12"])
def test_range_refuses_what_is_no_pair_in_order(value):
    with pytest.raises(InputError, match=r"noise must be two numbers \(low, high\) with 0 <= low"):
        check_range("noise", value)


def test_range_above_zero():
    assert check_range("noise", [0, 1]) == (0.0, 1.0)
    with pytest.raises(InputError, match=r"weight must be two numbers .* 0 < low <= high"):
        check_range("weight", (0, 1), open_end=True)


def test_range_with_an_upper_end():
    assert check_range("strength", (0.2, 1), most=1) == (0.2, 1.0)
    with pytest.raises(InputError, match=r"strength must be .* <= high <= 1, but \(0\.2, 1\.1\)"):
        check_range("strength", (0.2, 1.1), most=1)


def test_choices_name_the_closest_word():
    assert check_choices("operators", "or", ("and", "or")) == ("or",)
    with pytest.raises(InputError, match=r"operators must be .* 'xorr' was given; did you mean"):
        check_choices("operators", ["xorr"], ("and", "or", "xor"))
    with pytest.raises(InputError, match=r"operators must name at least one of and, or, but \(\)"):
        check_choices("operators", (), ("and", "or"))
