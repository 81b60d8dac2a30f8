"""Ways to damage a file, its format or its path; every choice comes from the case's generator."""

from __future__ import annotations

import copy
import csv
import gzip
import html
import io
import json
import os
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PLAIN_NUMBERS = """-1 0 1 2 3 -0.0 0.5 -0.5 nan NaN inf -inf Infinity 1e308 -1e308 1e-320 1e400
    1e18 0x10 1_000 +5 1.5.2 1e 2024-01-01 True 1,5 5% \N{MINUS SIGN}1 \N{ARABIC-INDIC DIGIT THREE}
    \N{FULLWIDTH DIGIT ONE}"""
NUMBERS = [
    *PLAIN_NUMBERS.split(),
    *["", " 7 ", str(10**18), str(-(10**18)), str(10**30), "1" * 5000],
]
PLAIN_NAMES = """a,b a;b NA nan 1 None sample TP53 MYC L1 H1 h0 x0 y0 __class__ --out [/] %s%n{0} =1
    ../../a </script><script> " ' \\ [bold]a[/bold]"""
NAMES = [
    *PLAIN_NAMES.split(),
    *["", " ", "\r", "a\rb", "a\nb", "a\tb", "a\0b", "\x1b[31mred\x1b[0m", "\x9b31m", "\u202eabc"],
    *["\u2066abc", "\u200fabc", "\u2028abc", "\ufeffabc", "e\u0301", "\U0001f9ec" * 40, "x" * 9000],
]
VALUES = [
    *[None, True, False, -1, 0, 2, 0.5, 1e308, -1e308, float("nan"), float("inf"), 10**30],
    *["", "input", "latent", "output", "TP53", "MYC", "L1", "nan", "0.5", "\ud800", *NAMES],
    *[[], {}, [1], [None], ["input"], {"id": 1}, {"a": [{}]}, [[[[]]]]],
]
DEEP = "[" * 100_000
XML_PARTS = [
    *["", "d0", "x0", "boolean", "long", "undirected", "nan", "inf", "1e400", "-1", "1" * 5000],
    *["input", "latent", "output", "TP53", "MYC", "L1", "&#13;", "&#x202e;", "&bomb;", "<node/>"],
    *["<a>" * 300, *map(html.escape, NAMES)],
]
# What a token is in each kind of text, and what may take its place.
CELL = r"[^,;\t\r\n]+"
TOKENS = {
    "json": (r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.e+-]*|true|false|null', [*NUMBERS, '"', DEEP]),
    "xml": (r'(?<==")[^"]*(?=")|(?<=>)[^<>\s][^<>]*(?=<)', XML_PARTS),
    "cells": (CELL, [*NUMBERS, *NAMES, *(f'"{name}"' for name in NAMES)]),
}
KINDS = {".json": "json", ".graphml": "xml", ".html": "xml", ".safetensors": "tensors"}
BOMB = f"<!DOCTYPE a [<!ENTITY b 'b'><!ENTITY bomb '{'&b;' * 99}'>]><graphml>&bomb;</graphml>"
JUNK = [
    *[b"", b"\n", b"\0" * 64, b"{}", b"[]", b"null", b"1", b'"text"', b"a\n", b"a,b\n"],
    *[b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"PK\x03\x04" + b"\0" * 60, b"%PDF-1.4\n"],
    *[b"\x1f\x8b\x08\0\0\0\0\0", b"PAR1" + b"\0" * 40 + b"PAR1", b"\x93NUMPY\x01\0v\0"],
    *[b"\xff\xfea\0,\0", BOMB.encode()],
]


def pick(rng, choices):
    return choices[rng.randrange(len(choices))]


def swap_tokens(rng, text, kind):
    """Put hostile parts in the place of one to three tokens."""
    pattern, parts = TOKENS[kind]
    for _ in range(rng.randint(1, 3)):
        tokens = list(re.finditer(pattern, text))
        if not tokens:
            return pick(rng, parts)
        found = pick(rng, tokens)
        text = text[: found.start()] + pick(rng, parts) + text[found.end() :]
    return text


def change_word(rng, text, kind):
    """Write a hostile name in each place of a quoted word, so that the parts still fit."""
    words = re.findall(r'"[^"\\]*"', text)
    name = pick(rng, NAMES)
    spelt = json.dumps(name) if kind == "json" else f'"{html.escape(name)}"'
    return text.replace(pick(rng, words), spelt) if words else text


def change_name(rng, text):
    """Give a column another name, or a sample; quoted, so that the table stays a table."""
    lines = list(re.finditer(r"[^\r\n]+", text))
    tokens = [line for line in lines[1:] if rng.random() < 0.1]
    tokens = tokens or ([*re.finditer(CELL, lines[0].group())] if lines else [])
    if not tokens:
        return text
    found = pick(rng, tokens)
    name = pick(rng, NAMES).replace('"', '""')
    end = found.start() + len(re.match(r"[^,;\t]*", found.group()).group())
    return f'{text[: found.start()]}"{name}"{text[end:]}'


def change_tree(rng, text):
    """Replace, remove, repeat or rename parts of a JSON document."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(rng.randint(1, 2)):
        places = list(_walk(tree))
        if not places:
            break
        parent, key = pick(rng, places)
        way = rng.random()
        if way < 0.65:
            value = pick(rng, VALUES)
            everywhere = way < 0.4 and isinstance(parent, dict)
            for other, name in [each for each in places if each[1] == key] * everywhere:
                other[name] = value
            parent[key] = copy.deepcopy(value)
        elif way < 0.75:
            del parent[key]
        elif way < 0.85:
            other, name = pick(rng, places)
            parent[key] = copy.deepcopy(other[name])
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        else:
            parent[pick(rng, NAMES)] = parent.pop(key)
    return json.dumps(tree)


def change_tensors(rng, content):
    """Damage the header of a safetensors file, or rinn's own notes in it; the lengths stay true."""
    size = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + size])
        notes = header["__metadata__"]["rinn"]
    except (ValueError, KeyError, TypeError):
        return change_bytes(rng, content)
    if rng.random() < 0.7:
        header["__metadata__"]["rinn"] = change_tree(rng, notes)
        text = json.dumps(header)
    else:
        text = change_tree(rng, json.dumps(header))
    return len(text.encode()).to_bytes(8, "little") + text.encode() + content[8 + size :]


def _walk(tree):
    """Each place of a document: a list or object, and where in it."""
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _walk(tree[key])


def change_lines(rng, text):
    """Remove, repeat, move or cut whole lines."""
    lines = text.split("\n")
    at, to = sorted(rng.randrange(len(lines)) for _ in range(2))
    ways = [
        [*lines[:at], *lines[at + 1 :]],
        [*lines[:to], lines[at], *lines[to:]],
        [*lines[:at], lines[at][: len(lines[at]) // 2], *lines[at + 1 :]],
        [*lines[:at], lines[at] + ",1\t1", *lines[at + 1 :]],
        [*lines[:at], *lines[to:]],
        rng.sample(lines, len(lines)),
        lines[1:],
        lines[:1],
        lines[:2],
    ]
    return "\n".join(pick(rng, ways))


def change_columns(rng, text):
    """Transpose a table, or remove, repeat, fill or reorder its columns."""
    separator = max(",\t;", key=text.count)
    rows = [line.split(separator) for line in text.splitlines()]
    columns = [list(column) for column in zip(*rows, strict=False)]
    if not columns:
        return text
    column = pick(rng, columns)
    rest = [each for each in columns if each is not column]
    name, size = column[:1], len(rows) - 1
    ways = [
        rows,
        rest,
        [*columns, column],
        [*rest, name + [pick(rng, NUMBERS)] * size],
        [*rest, name + [pick(rng, NUMBERS) for _ in range(size)]],
        [*rest, pick(rng, columns)[:1] + column[1:]],
        columns[:1],
        rng.sample(columns, len(columns)),
    ]
    lines = zip(*pick(rng, ways), strict=False)
    return "\n".join(map(separator.join, lines)) + "\n"


def change_encoding(rng, content):
    """Write the same text in another encoding, or with other line ends and separators."""
    text = content.decode("utf-8", "replace")
    way = rng.randrange(7)
    if way < 4:
        coding = ("utf-16", "utf-8-sig", "latin-1", "utf-32")[way]
        return f"é{text}".encode(coding, "replace")
    swaps = {4: ("\n", "\r"), 5: ("\n", "\r\n"), 6: (",", pick(rng, ";\t| "))}
    return text.replace(*swaps[way]).encode()


def change_bytes(rng, content):
    """Flip, cut, repeat or insert bytes, or replace them all."""
    if not content or rng.random() < 0.15:
        return pick(rng, JUNK)
    at, to = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    way = rng.randrange(5)
    if way == 0:
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        return bytes(damaged)
    parts = (content[:at], content[:at] + content[to:], content[:to] + content[at:])
    return parts[way - 1] if way < 4 else content[:at] + rng.randbytes(9) + content[at:]


def change_file(rng, path):
    """Damage what a file holds, by its kind, one to three times."""
    content = path.read_bytes()
    packed = content[:2] == b"\x1f\x8b"
    try:
        content = gzip.decompress(content) if packed else content
    except (OSError, EOFError, zlib.error):
        return
    kind = KINDS.get(path.suffix, "cells")
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        content = _change_content(rng, content, kind)
    content = gzip.compress(content, mtime=0) if packed else content
    path.write_bytes(change_bytes(rng, content) if packed and rng.random() < 0.2 else content)


def _change_content(rng, content, kind):
    change = pick(rng, WAYS[kind])
    if change in (change_bytes, change_encoding, change_tensors):
        return change(rng, content)
    text = content.decode("utf-8", "surrogateescape")
    more = (kind,) if change in (swap_tokens, change_word) else ()
    return change(rng, text, *more).encode("utf-8", "surrogateescape")


ANY = [change_bytes, change_encoding, change_lines]
WAYS = {
    "json": [*ANY, swap_tokens, *[change_word] * 6, *[change_tree] * 14],
    "xml": [*ANY, *[change_word] * 6, *[swap_tokens] * 8],
    "cells": [*ANY, *ANY, *[change_columns] * 4, *[change_name] * 5, *[swap_tokens] * 6],
    "tensors": [change_bytes, *[change_tensors] * 3],
}


def change_format(rng, path):
    """Write a table of text as another file that rinn reads; the new path."""
    content = path.read_bytes()
    suffix = rng.choice([".tsv", ".txt", ".csv.gz", ".parquet", ".parquet", ".npz", ".npz"])
    new = path.with_suffix(suffix)
    rows = list(csv.reader(content.decode(errors="replace").splitlines()))
    if suffix == ".csv.gz":
        content = gzip.compress(content, mtime=0)
        new.write_bytes(change_bytes(rng, content) if rng.random() < 0.3 else content)
    elif suffix == ".parquet":
        new.write_bytes(_pack_parquet(rng, rows))
    elif suffix == ".npz":
        new.write_bytes(_pack_npz(rng, rows))
    else:
        new.write_bytes(content.replace(b",", b"\t"))
    return new


def _pack_parquet(rng, rows):
    header, *body = rows
    columns = [list(column) for column in zip(*body, strict=False)]
    kinds = [pa.string()] + [
        pick(rng, [pa.float64()] * 9 + [pa.int8(), pa.string(), pa.bool_(), pa.float16()])
        for _ in columns[1:]
    ]
    arrays = []
    for column, kind in zip(columns, kinds, strict=True):
        try:
            values = column if kind == pa.string() else [float(cell) for cell in column]
            arrays.append(pa.array(values).cast(kind))
        except (ValueError, pa.ArrowException):
            arrays.append(pa.array(column))
    names = [pick(rng, NAMES) if rng.random() < 0.05 else name for name in header]
    content = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=names[: len(arrays)]), content)
    packed = content.getvalue()
    return change_bytes(rng, packed) if rng.random() < 0.4 else packed


def _pack_npz(rng, rows):
    header, *body = rows
    digits = [[cell if cell[:1].isdigit() else "0" for cell in row[1:]] for row in body]
    values = np.array(digits, float)
    odd = [values[:, 0], values[None], values * 1j, values.astype(str), values > 0, values[:0]]
    odd += [np.array(3.0), values + np.inf, np.zeros((2, 0)), values.astype("m8[s]")]
    arrays = {
        "values": pick(rng, odd) if rng.random() < 0.4 else values,
        "columns": np.array(header[1:] if rng.random() < 0.7 else rng.sample(NAMES, 5)),
        "samples": np.array([row[0] for row in body][: rng.choice([None, 3, 0])]),
    }
    del arrays[rng.choice(["columns", "samples"])]
    if rng.random() < 0.2:
        arrays["more"] = values
    content = io.BytesIO()
    np.savez(content, **arrays)
    if rng.random() < 0.2:  # what only pickle could read
        with zipfile.ZipFile(content, "a") as archive:
            archive.writestr("objects.npy", b"\x93NUMPY\x01\0v\0{'descr': '|O', }")
    packed = content.getvalue()
    return change_bytes(rng, packed) if rng.random() < 0.3 else packed


def change_path(rng, path):
    """Put something else where a file was, or move it to a hostile path; the new path."""
    way = rng.randrange(11)
    if way < 5:
        aside = path.with_name("aside")
        path.rename(aside)
        if way == 0:
            os.mkfifo(path)
        elif way == 1:
            path.mkdir()
        else:
            path.symlink_to((path.name, pick(rng, ["/dev/zero", "/dev/null"]), "nowhere")[way - 2])
        return path
    names = [
        os.fsdecode(b"caf\xe9"),
        "a\nb",
        "\u202e\x1b[31m",
        "n" * (255 - len(path.suffix)),
        "a b",
    ]
    if way < 10:
        return path.rename(path.with_name(names[way - 5] + path.suffix))
    return Path("d" * 200, *["e" * 200] * 25, path.name)
