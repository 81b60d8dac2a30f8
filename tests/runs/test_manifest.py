"""The manifest of a run: what is written is what is read, and nothing else is."""

import json

import pytest

from rinn.errors import InputError
from rinn.runs.manifest import Manifest, Spread, load_manifest, read_record
from run_folders import make_comparison, make_manifest


def test_saved_equals_loaded():
    values = make_manifest(comparison=make_comparison(True), warnings=["Small data."])
    manifest = Manifest.from_json(values)
    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json()))) == manifest
    assert manifest.to_json()["tables"].keys() == values["tables"].keys()
    assert manifest.is_complete
    assert manifest.settings.strategy == "rinn"
    assert str(manifest.device) == "1 x cpu"


def test_manifest_of_no_folder(tmp_path):
    with pytest.raises(InputError, match=r"RUN must be a run folder, but .*none is not a folder"):
        load_manifest(tmp_path / "none")


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": None},
        {"settings": {"budget": "none"}},
        {"data": None},
        {"data": {"x": 3}},
        {"tables": None},
        {"tables": {}},
        {"tables": make_manifest()["tables"] | {"inputs": []}},
        {"tables": make_manifest()["tables"] | {"inputs": ["y0"]}},
        {"seconds": float("nan")},
        {"seconds": True},
        {"device": {"platform": "cpu"}},
        {"scores": {}},
        {"test": {"error": 3}},
    ],
)
def test_values_that_do_not_fit(tmp_path, changes):
    (tmp_path / "manifest.json").write_text(json.dumps(make_manifest(**changes)))
    with pytest.raises(InputError, match=r"has no readable manifest\.json"):
        load_manifest(tmp_path)


@pytest.mark.parametrize(
    "content", [None, b"", b"[]", b"3", b"{}", b'{"format": 1}', b"\xff\xfe", b"[" * 100_000]
)
def test_unreadable_manifest(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"has no readable manifest\.json"):
        load_manifest(tmp_path)


def test_records_are_read_by_their_types():
    assert read_record(Spread, {"mean": 1, "sd": 0.5}) == Spread(1, 0.5)
    assert read_record(tuple[str, ...], ["a"]) == ("a",)
    with pytest.raises(ValueError, match="expected float, got nan"):
        read_record(Spread, {"mean": float("nan")})
