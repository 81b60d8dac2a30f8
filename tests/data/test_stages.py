"""Stages: followers hear of each, and the seconds of inner stages are counted once."""

import time

from rinn.data.stages import count_parts, follow, stage


class Recorder:
    def __init__(self):
        self.heard, self.seconds = [], {}

    def begin(self, name):
        self.heard.append(f"begin {name}")

    def advance(self, done, total):
        self.heard.append(f"{done}/{total}")

    def end(self, name, seconds):
        self.heard.append(f"end {name}")
        self.seconds[name] = seconds


def test_a_follower_hears_of_stages_and_parts():
    recorder = Recorder()
    with follow(recorder), stage("outer"):
        assert list(count_parts("ab", 2)) == ["a", "b"]
        with stage("inner"):
            time.sleep(0.05)
    assert recorder.heard == ["begin outer", "0/2", "1/2", "begin inner", "end inner", "end outer"]
    assert recorder.seconds["inner"] >= 0.05 > recorder.seconds["outer"]


def test_two_followers_hear_the_same():
    first, second = Recorder(), Recorder()
    with follow(first), follow(second), stage("work"):
        pass
    assert first.heard == second.heard == ["begin work", "end work"]


def test_without_a_follower_nothing_happens():
    with stage("alone"):
        assert list(count_parts(range(3), 3)) == [0, 1, 2]


def test_a_stage_that_fails_has_ended():
    recorder = Recorder()
    try:
        with follow(recorder), stage("broken"):
            raise KeyError
    except KeyError:
        pass
    assert recorder.heard[-1] == "end broken"
