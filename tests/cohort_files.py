"""A small cohort in the files of a cancer study: 60 patients, brain and lung, 12 brain normals."""

import numpy as np

from gene_files import maf_text, matrix_text, write

PATIENTS = [f"TCGA-02-{number:04d}" for number in range(1, 61)]
TUMOURS = [f"{patient}-01" for patient in PATIENTS]
NORMALS = [f"{patient}-11" for patient in PATIENTS[:12]]
GENES = ("MYC", "EGFR", "JUN", "FOS")
ALIQUOT = "A-01D-0182-01"


def write_cohort(folder, *, gene="FOS", seed=0):
    """MAF, list of sequenced, GISTIC, Xena expression and clinical table; one gene has a name.

    TP53 is mutated in patients 1 to 12, KRAS in 1 to 6, silent in 13; 59 and 60 are not sequenced.
    EGFR is amplified in 10 to 19, CDKN2A deleted in 20 to 29. The first 40 are of the brain.
    MYC is 6 higher where TP53 is mutated.
    """
    rows = [("TP53", "Missense_Mutation", f"{TUMOURS[i]}{ALIQUOT}") for i in range(12)]
    rows += [("KRAS", "Nonsense_Mutation", f"{TUMOURS[i]}{ALIQUOT}") for i in range(6)]
    rows += [("KRAS", "Silent", f"{TUMOURS[12]}{ALIQUOT}")]
    levels = {name: [0] * 60 for name in ("EGFR", "CDKN2A", "TP53")}
    levels["EGFR"][9:19], levels["CDKN2A"][19:29] = [2] * 10, [-2] * 10
    levels["TP53"][30] = -1
    rng = np.random.default_rng(seed)
    names = [*TUMOURS, *NORMALS]
    values = {name: 8 + rng.normal(size=len(names)) for name in (*GENES[:3], gene)}
    values["MYC"][:12] += 6
    values["EGFR"][9:19] += 9
    tissues = ["brain"] * 40 + ["lung"] * 20
    clinical = "".join(
        f"{patient}\t{tissue}\t{'NA' if place == 3 else 40 + place}\tmale\n"
        for place, (patient, tissue) in enumerate(zip(PATIENTS, tissues, strict=True))
    )
    lead = ("Gene Symbol", "Locus ID", "Cytoband")
    return {
        "maf": write(folder / "cohort.maf.gz", maf_text(rows), pack=True),
        "sequenced": write(folder / "sequenced.txt", "\n".join(TUMOURS[:58]) + "\n"),
        "copy_number": write(
            folder / "all_thresholded.by_genes.txt",
            matrix_text(
                lead,
                [f"{name}{ALIQUOT}" for name in TUMOURS],
                [(name, 1, "1p1", *row) for name, row in levels.items()],
            ),
        ),
        "expression": write(
            folder / "HiSeqV2",
            matrix_text(
                ("sample",), names, [(name, *row.round(4)) for name, row in values.items()]
            ),
        ),
        "clinical": write(folder / "clinical.tsv", f"patient\tSite\tage\tsex\n{clinical}"),
    }
