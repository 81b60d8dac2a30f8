"""Small files in the formats of cancer genomics, written from the formats' descriptions."""

import gzip
import itertools

import h5py
import numpy as np

# the classes of the leukaemia MAF that comes with maftools
LAML_CLASSES = {
    "Missense_Mutation": 1342,
    "Silent": 449,
    "Nonsense_Mutation": 103,
    "Splice_Site": 92,
    "Frame_Shift_Ins": 91,
    "Frame_Shift_Del": 52,
    "In_Frame_Ins": 42,
    "RNA": 10,
    "In_Frame_Del": 10,
    "Intron": 8,
    "IGR": 5,
    "5'Flank": 3,
}
MAF_HEADER = "Hugo_Symbol\tEntrez_Gene_Id\tVariant_Classification\tTumor_Sample_Barcode\tFILTER"


def maf_text(rows, header=MAF_HEADER, comment="#version 2.4\n"):
    """Rows of gene, class, barcode and if you like FILTER."""
    lines = [
        "\t".join([gene, "0", effect, barcode, *(rest or ["PASS"])])
        for gene, effect, barcode, *rest in rows
    ]
    return comment + "\n".join([header, *lines]) + "\n"


def laml_like_maf():
    """As many mutations of each class and as many patients as the leukaemia MAF has."""
    places = "Entrez_Gene_Id\tStart_Position\tEnd_position"
    header = f"Hugo_Symbol\t{places}\tVariant_Classification\tTumor_Sample_Barcode"
    effects = [effect for effect, count in LAML_CLASSES.items() for _ in range(count)]
    patients = itertools.cycle(f"TCGA-AB-{number}" for number in range(2802, 2802 + 193))
    rows = [
        f"GENE{number % 700}\t{number}\t1\t1\t{effect}\t{patient}"
        for number, (effect, patient) in enumerate(zip(effects, patients, strict=False))
    ]
    return "\n".join([header, *rows]) + "\n"


def write(path, text, *, pack=False):
    content = text.encode() if isinstance(text, str) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if pack else content)
    return path


def matrix_text(corner, samples, rows):
    header = "\t".join([*corner, *samples])
    return "\n".join([header, *("\t".join(map(str, row)) for row in rows)]) + "\n"


GISTIC = matrix_text(
    ("Gene Symbol", "Locus ID", "Cytoband"),
    ("TCGA-02-0001-01C-01D-0182-01", "TCGA-02-0003-01A-01D-0182-01"),
    [
        ("EGFR", 1956, "7p11.2", 2, 0),
        ("MIR3115|chr1", 100422929, "1p36.12", -1, 1),
        ("CDKN2A", 1029, "9p21.3", -2, -2),
    ],
)
GCT_2 = "#1.2\n2\t3\nNAME\tDescription\ts1\ts2\ts3\nTP53\tna\t1.5\t2\t-3\nEGFR\tna\t0\t\t7e-1\n"
GCT_3 = (
    "#1.3\n2\t2\t1\t2\n"
    "id\tpr_gene_symbol\tp1\tp2\n"
    "cell_id\tna\tA549\tMCF7\n"
    "dose\tna\t10\t-666\n"
    "200814_at\tPSME1\t0.5\t1\n"
    "201453_x_at\tRHEB\t-0.5\t-1\n"
)
XENA = matrix_text(
    ("sample",),
    ("TCGA-02-0001-01", "TCGA-02-0003-01", "TCGA-02-0003-11"),
    [("TP53", 9.5, 8.25, "NA"), ("EGFR", 12.0, 0.0, 3.5)],
)
XENA_LONG = (
    "sample\tchr\tstart\tend\treference\talt\tgene\teffect\tDNA_VAF\n"
    "TCGA-02-0001-01\tchr17\t1\t1\tC\tT\tTP53\tMissense_Mutation\t0.3\n"
    "TCGA-02-0003-01\tchr17\t1\t1\tC\tT\tTP53\tSilent\t0.3\n"
    "TCGA-02-0003-01\tchr7\t1\t1\tC\tT\tEGFR\tIn_Frame_Del\t0.3\n"
)
META = (
    "cancer_study_identifier: tiny\ngenetic_alteration_type: {}\ndatatype: {}\nstable_id: {}\n"
    "show_profile_in_analysis_tab: true\ndata_filename: {}\n"
)


def write_study(folder):
    """A study with each kind of profile, a case list and a clinical table."""
    profiles = (
        ("MUTATION_EXTENDED", "MAF", "mutations", "data_mutations.txt"),
        ("COPY_NUMBER_ALTERATION", "DISCRETE", "gistic", "data_cna.txt"),
        ("COPY_NUMBER_ALTERATION", "LOG2-VALUE", "log2CNA", "data_log2_cna.txt"),
        ("MRNA_EXPRESSION", "CONTINUOUS", "rna_seq_v2_mrna", "data_mrna_seq_v2_rsem.txt"),
        ("MRNA_EXPRESSION", "Z-SCORE", "rna_seq_v2_mrna_Zscores", "data_mrna_zscores.txt"),
    )
    for fields in profiles:
        write(folder / f"meta_{fields[2]}.txt", META.format(*fields))
    samples = ("TCGA-A1-A0SB-01", "TCGA-A1-A0SD-01", "TCGA-A1-A0SE-06")
    lead = ("Hugo_Symbol", "Entrez_Gene_Id")
    write(
        folder / "data_mutations.txt",
        maf_text(
            [
                ("TP53", "Missense_Mutation", samples[0]),
                ("TP53", "Silent", samples[2]),
                ("EGFR", "In_Frame_Del", samples[2], "PoN"),
            ]
        ),
    )
    write(
        folder / "data_cna.txt",
        matrix_text(lead, samples, [("EGFR", 1956, 2, 0, "NA"), ("", 1029, -2, -1.5, 1)]),
    )
    write(
        folder / "data_log2_cna.txt",
        matrix_text(lead[1:], samples, [(1956, 1.25, 0.1, -0.2), (1029, -3.5, 0, 0)]),
    )
    write(
        folder / "data_mrna_seq_v2_rsem.txt",
        matrix_text(
            lead,
            samples[::-1],
            [
                ("TP53", 7157, 1023, 0, 3),
                ("SLC35E2", 728661, 1, 3, 7),
                ("SLC35E2", 9906, 7, 15, 31),
            ],
        ),
    )
    write(
        folder / "data_mrna_zscores.txt",
        matrix_text(lead[:1], samples, [("TP53", -1.5, 60.5, "NA"), ("EGFR", 0, 1, 2)]),
    )
    write(
        folder / "case_lists" / "cases_sequenced.txt",
        "cancer_study_identifier: tiny\nstable_id: tiny_sequenced\n"
        f"case_list_name: Sequenced\ncase_list_ids: {chr(9).join(samples)}\n",
    )
    write(
        folder / "data_clinical_sample.txt",
        "#Patient\tSample\tSubtype\n#p\ts\tt\n#STRING\tSTRING\tSTRING\n#1\t1\t1\n"
        "PATIENT_ID\tSAMPLE_ID\tSUBTYPE\n"
        f"TCGA-A1-A0SB\t{samples[0]}\tbasal\nTCGA-A1-A0SD\t{samples[1]}\tluminal\n",
    )
    return folder


CELLS = np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 0.0]], dtype=np.float32)


def write_h5ad(path, *, kind="dense"):
    """Two cells, three genes; values dense or sparse, obs with text, categories and numbers."""
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        if kind == "dense":
            file["X"] = CELLS
        else:
            major = CELLS if kind == "csr" else CELLS.T
            group = file.create_group("X")
            group.attrs.update({"encoding-type": f"{kind}_matrix", "shape": CELLS.shape})
            rows, columns = np.nonzero(major)
            group["data"], group["indices"] = major[rows, columns], columns
            group["indptr"] = np.searchsorted(rows, np.arange(len(major) + 1))
        file["layers/counts"] = (CELLS * 2).astype(np.int64)
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "cell", "gene_id"
        obs.create_dataset("cell", data=["AAC-1", "GGT-1"], dtype=text)
        obs["depth"] = [10, 20]
        group = obs.create_group("perturbation")
        group.attrs["encoding-type"] = "categorical"
        group.create_dataset("categories", data=["KLF1+ctrl", "ctrl"], dtype=text)
        group["codes"] = np.array([0, -1], dtype=np.int8)
        masked = obs.create_group("age")
        masked["values"], masked["mask"] = [1, 2], [False, True]
        var.create_dataset("gene_id", data=["ENSG00000141510.17", "g2", "g3"], dtype=text)
        var.create_dataset("symbol", data=["TP53", "EGFR", "KLF1"], dtype=text)
    return path


# Guide and replicate of eight cells; the last has no guide.
GUIDES = ["KLF1_1", "KLF1_1", "KLF1_2+BAK1_1", "non-targeting_7", "NT", "KLF1_1", "NT", ""]
BATCH = ["r1", "r1", "r1", "r1", "r1", "r2", "r2", "r2"]
COUNTS = np.array(
    [[2, 8, 0], [4, 6, 0], [1, 9, 0], [5, 5, 0], [6, 14, 0], [0, 10, 0], [5, 5, 0], [9, 9, 9]]
)


def write_cells(path, *, sparse=False, counts=COUNTS, guides=GUIDES, **more):
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        if sparse:
            rows, columns = np.nonzero(counts)
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": counts.shape})
            group["data"], group["indices"] = counts[rows, columns], columns
            group["indptr"] = np.searchsorted(rows, np.arange(len(counts) + 1))
        else:
            file["X"] = counts
        obs = file.create_group("obs")
        for name, cells in {"guide": guides, "batch": BATCH, **more}.items():
            obs.create_dataset(name, data=cells, dtype=text)
        obs.create_dataset("_index", data=[f"c{n}" for n in range(len(counts))], dtype=text)
        names = [f"G{n}" for n in range(counts.shape[1])]
        file.create_group("var").create_dataset("_index", data=names, dtype=text)
    return path
