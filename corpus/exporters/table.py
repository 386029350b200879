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
}
