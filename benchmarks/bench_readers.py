"""Time and memory of reading a MAF of the size of MC3 and a matrix of the size of a pan-cancer one.

The files are made at random, read once in a process of their own, and deleted. The log of the
reading is checked against the counts that the files were made with.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import random
import resource
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.xena import load_xena

EFFECTS = {"Missense_Mutation": 55, "Silent": 25, "3'UTR": 10, "Nonsense_Mutation": 6, "RNA": 4}
FILTERS = {"PASS": 70, "wga": 15, "nonpreferredpair": 10, "oxog,common_variant": 5}
BEFORE, BETWEEN, AFTER = 7, 92, 5  # the columns of MC3 that are not read
BLOCK = 10_000


def main(arguments: list[str] | None = None) -> None:
    """Make, read, measure, delete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000, help="mutations of the MAF")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--matrix-genes", type=int, default=2_000, help="lines of the matrix")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args(arguments)
    figures: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    with tempfile.TemporaryDirectory() as folder:
        for name, blocks in (("maf", make_maf(options)), ("xena", make_matrix(options))):
            path = Path(folder) / f"{name}.gz"
            size = pack(path, blocks)
            found = measure(name, path)
            figures[name] = found | {"text_mb": size / 1e6, "gzip_mb": path.stat().st_size / 1e6}
            path.unlink()
    check(figures, options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


def make_maf(options: argparse.Namespace) -> Iterator[str]:
    """Yield the text of a MAF, some rows at a time."""
    chance = random.Random(0)
    others = [f"other{number}" for number in range(BEFORE + BETWEEN + AFTER)]
    between = [fill(chance, BETWEEN) for _ in range(1000)]
    named = ["Hugo_Symbol", *others[:BEFORE], "Variant_Classification", "Tumor_Sample_Barcode"]
    yield "\t".join([*named, *others[BEFORE:-AFTER], "FILTER", *others[-AFTER:]]) + "\n"
    before, after = fill(chance, BEFORE), fill(chance, AFTER)
    for begin in range(0, options.rows, BLOCK):
        lines = []
        for row in range(begin, min(begin + BLOCK, options.rows)):
            effect = chance.choices([*EFFECTS], [*EFFECTS.values()])[0]
            word = chance.choices([*FILTERS], [*FILTERS.values()])[0]
            gene = f"GENE{chance.randrange(options.genes)}"
            sample = f"TCGA-AB-{row % options.samples:04d}-01A-11D-A123-08"
            middle = chance.choice(between)
            lines.append(f"{gene}\t{before}\t{effect}\t{sample}\t{middle}\t{word}\t{after}\n")
        yield "".join(lines)


def make_matrix(options: argparse.Namespace) -> Iterator[str]:
    """Yield the text of a Xena matrix, one gene at a time; each tenth gene has missing cells."""
    chance = random.Random(0)
    samples = [f"TCGA-AB-{number:04d}-01" for number in range(options.samples)]
    yield "\t".join(["sample", *samples]) + "\n"
    for gene in range(options.matrix_genes):
        cells = [f"{20 * chance.random():.4f}" for _ in samples]
        if gene % 10 == 0:
            cells[::7] = ["NA"] * len(cells[::7])
        yield f"GENE{gene}\t" + "\t".join(cells) + "\n"


def fill(chance: random.Random, count: int) -> str:
    """Make cells of other columns: some empty, the rest of 1 to 22 letters."""
    letters = "ABCDEFGHabcdefgh0123456789.:/_"
    sizes = [0 if chance.random() < 0.3 else chance.randint(1, 22) for _ in range(count)]
    return "\t".join("".join(chance.choices(letters, k=size)) for size in sizes)


def pack(path: Path, blocks: Iterator[str]) -> int:
    """Write gzip; return how long the text is."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    size = 0
    with path.open("wb") as file:
        for block in blocks:
            content = block.encode()
            size += len(content)
            file.write(packer.compress(content))
        file.write(packer.flush())
    return size


def measure(name: str, path: Path) -> dict[str, Any]:
    """Read a file in a fresh process, so that its peak of memory is its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(read, (name, path))


def read(name: str, path: Path) -> dict[str, Any]:
    """Read a file once, and say what it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = time.perf_counter(), time.process_time()
    reading = (load_maf if name == "maf" else load_xena)(path)
    return {
        "wall_s": round(time.perf_counter() - wall, 2),
        "cpu_s": round(time.process_time() - processor, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "before_mib": before >> 10,
        "shape": list(reading.table.shape),
        "rows": reading.log.count("read", "rows"),
        "missing": int(reading.table.isna().to_numpy().sum()),
    }


def check(figures: dict[str, Any], options: argparse.Namespace) -> None:
    """Refuse figures of a reading that lost something."""
    few = -(-options.matrix_genes // 10) * -(-options.samples // 7)
    expected = [options.rows, min(options.rows, options.samples), options.matrix_genes, few]
    maf, matrix = figures["maf"], figures["xena"]
    found = [maf["rows"], maf["shape"][0], matrix["shape"][1], matrix["missing"]]
    if found != expected:
        raise SystemExit(f"the readers must find {expected}, but found {found}")


if __name__ == "__main__":
    main()
