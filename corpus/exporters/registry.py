"""Formats that `foilworks export` writes: slug -> row. A format is one file here and one row."""

from text.plugins import Registry
from text.registry import Entry, Param

_EXPORTERS: dict[str, Entry] = {
    "foilworks": Entry(
        "Foilworks folder",
        "corpus.exporters.foilworks",
        summary="Everything in plain JSON: items, votes, scores, report tables and a manifest.",
    ),
    "jsonl": Entry(
        "JSON lines",
        "corpus.exporters.jsonl",
        summary="The released items, one record per line. Foilworks can import this file again.",
    ),
    "vilma": Entry(
        "ViLMA JSON",
        "corpus.exporters.vilma",
        summary="The released items as ViLMA files, one per subtest. Fields from an imported ViLMA file are kept.",
    ),
    "valse": Entry(
        "VALSE JSON (images)",
        "corpus.exporters.valse",
        summary=("The items as VALSE files, one per instrument (a VALSE test). For single images instead of clips."),
    ),
    "csv": Entry(
        "CSV table",
        "corpus.exporters.csv_rows",
        params=(Param("bom", False, "Start with a byte order mark, so that Excel recognizes UTF-8", "bool"),),
        summary="The released items as one table, with a column for each field. Safe to open in a spreadsheet.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.exporters.contrast",
        summary="Multiple choice, one file per subtest. Columns: clip, ending0, ending1 …, label.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.exporters.feint6k",
        summary="video_id, sentence: six rows per video, for items with five foils.",
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "corpus.exporters.hf",
        summary="A folder that the Hugging Face library “datasets” loads: Parquet, a dataset card, Croissant metadata.",
    ),
    "hub": Entry(
        "Hub data set with documents",
        "corpus.exporters.hub",
        params=(Param("anonymous", False, "Anonymised copy for double-blind review", "bool"),),
        summary="Parquet, card, eval.yaml, Croissant with responsible-AI fields, Inspect task, DOI metadata.",
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "corpus.exporters.vitatecs",
        summary="A caption and one counterfactual per line, one file per aspect; for items with one foil.",
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (images)",
        "corpus.exporters.sugarcrepe",
        summary="filename, caption, negative_caption, one file per kind of edit; for items with one foil.",
    ),
    "winoground": Entry(
        "Winoground, JSON lines",
        "corpus.exporters.winoground",
        summary="Two captions and two clips or images per record; for pairs of two clips.",
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (images)",
        "corpus.exporters.foil_coco",
        summary="images and annotations: each caption with its foils.",
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "corpus.exporters.msrvtt",
        summary="video_id, sentence: only the captions.",
    ),
    "vatex": Entry(
        "VATEX captions",
        "corpus.exporters.vatex",
        summary="videoID, enCap: only the captions.",
    ),
    "lmms-eval": Entry(
        "lmms-eval tasks",
        "corpus.exporters.lmms_eval",
        summary="A folder that lmms-eval loads: a choice by letter and likelihoods, with the clip and without it.",
    ),
    "inspect": Entry(
        "Inspect task",
        "corpus.exporters.inspect_task",
        summary="A folder with an Inspect task: a choice by letter, with the clip and without it.",
    ),
    "vlmeval": Entry(
        "VLMEvalKit data set",
        "corpus.exporters.vlmeval",
        summary="A TSV file and a data set class for VLMEvalKit: a choice by letter.",
    ),
    "votes": Entry(
        "Votes, one per row",
        "corpus.exporters.votes",
        summary="Raw judgements under pseudonyms: item, annotator, choice, position, foil.",
    ),
}
EXPORTERS = Registry("exporters", _EXPORTERS)
