"""Formats that `foilworks export` writes: slug -> row. A format is one file here and one row."""

from text.registry import Entry

EXPORTERS: dict[str, Entry] = {
    "foilworks": Entry(
        "Foilworks folder",
        "corpus.exporters.foilworks",
        summary="Items, votes, scores, report tables and a manifest: everything, in plain JSON.",
    ),
    "jsonl": Entry(
        "JSON lines",
        "corpus.exporters.jsonl",
        summary="The released items, one record a line, in the columns that the importer reads.",
    ),
    "vilma": Entry(
        "ViLMA JSON",
        "corpus.exporters.vilma",
        summary="The released items as ViLMA files, one a subtest, imported fields given back.",
    ),
    "csv": Entry(
        "CSV table",
        "corpus.exporters.csv_rows",
        summary="The released items as one table, in the columns of JSON lines; safe to open in a spreadsheet.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.exporters.contrast",
        summary="Multiple choice: clip, ending0 and so on, label; one file a subtest.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.exporters.feint6k",
        summary="video_id, sentence: six rows a video, for items with five foils.",
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "corpus.exporters.hf",
        summary="A folder that `datasets` loads: Parquet, a dataset card, Croissant metadata.",
    ),
}
