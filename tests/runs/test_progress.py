import io
import math

import pytest
from rich.console import Console

import rinn.runs.progress
from rinn.nets.groups import TrainedNet
from rinn.runs.progress import SECONDS_BETWEEN_LINES, TrainingProgress


class Clock:
    """A clock that goes on when told to."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(rinn.runs.progress, "time", clock)
    return clock


def make_net(loss):
    return TrainedNet(None, None, "converged", 3, loss, loss, loss)


def lines(console):
    return console.file.getvalue().splitlines()


def test_plain_lines_where_there_is_no_terminal(clock):
    console = Console(file=io.StringIO(), width=40)
    with TrainingProgress(8, console) as progress:
        clock.now += SECONDS_BETWEEN_LINES + 2
        progress([make_net(0.5), make_net(0.25)], 0.25)
        clock.now += SECONDS_BETWEEN_LINES + 2
        progress([], 0.25)
        progress([make_net(0.125)], 0.5)
    assert lines(console) == [
        "2/8 networks, 25% of the epochs, best validation loss 0.25",
        "2/8 networks, 50% of the epochs, best validation loss 0.25, about 24.0 s left",
        "3/8 networks, 100% of the epochs, best validation loss 0.125",
    ]


def test_what_an_earlier_session_did_says_nothing_about_the_pace(clock):
    console = Console(file=io.StringIO(), width=40)
    with TrainingProgress(100, console) as progress:
        progress([make_net(1.0)] * 80, 0.8, True)
        clock.now += 60  # compilation
        progress([make_net(1.0)], 0.01, False)
        for _ in range(3):
            clock.now += SECONDS_BETWEEN_LINES + 2
            progress([make_net(1.0)], 0.01, False)
    assert [line.partition("about ")[2] for line in lines(console)] == [
        "",  # the first network of this session: no pace is known
        "3 min 36 s left",
        "3 min 24 s left",
        "3 min 12 s left",
        "",
    ]
    assert lines(console)[1].startswith("82/100 networks, 82% of the epochs, ")


def test_no_estimate_before_the_pace_is_known(clock):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with TrainingProgress(4, console) as progress:
        progress([], 0.1)
        for seconds, said in ((4, False), (2, True)):
            clock.now += seconds
            progress([], 0.1)
            assert ("left" in progress._describe_rest()) == said


def test_lines_come_seldom(clock):
    console = Console(file=io.StringIO())
    with TrainingProgress(100, console) as progress:
        for _ in range(100):
            clock.now += SECONDS_BETWEEN_LINES / 10
            progress([make_net(1.0)], 0.01)
    assert 5 <= len(lines(console)) <= 11


def test_nothing_is_known_yet(clock):
    console = Console(file=io.StringIO())
    with TrainingProgress(4, console) as progress:
        clock.now += SECONDS_BETWEEN_LINES + 1
        progress([], 0.0)
    assert lines(console) == ["0/4 networks, 0% of the epochs"] * 2


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_diverged_networks_count_but_are_not_best(clock, loss):
    console = Console(file=io.StringIO())
    with TrainingProgress(2, console) as progress:
        progress([make_net(loss)], 0.5)
        assert progress.best == math.inf
        progress([make_net(3.0)], 0.5)
    assert lines(console) == ["2/2 networks, 100% of the epochs, best validation loss 3"]


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_prints_nothing(clock, terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with TrainingProgress(2, console, quiet=True) as progress:
        clock.now += 100
        progress([make_net(1.0)], 0.5)
    assert console.file.getvalue() == ""
    assert progress.done == 1


def test_bar_on_a_terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with TrainingProgress(2, console) as progress:
        progress([make_net(0.5)], 0.5)
        progress([make_net(0.25)], 0.5)
    drawn = console.file.getvalue()
    assert "training ━" in drawn
    assert "2/2 networks, 100% of the epochs, best validation loss 0.25" in drawn
    assert "\x1b[?25h" in drawn  # the cursor is shown again


def test_bar_is_put_away_on_an_error():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with pytest.raises(KeyboardInterrupt), TrainingProgress(2, console):
        raise KeyboardInterrupt
    assert "\x1b[?25h" in console.file.getvalue()
