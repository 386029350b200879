"""Formats that `foilworks export` writes: slug -> row. A format is one file here and one row."""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param

# Of who ran an evaluation to who made the model: words of Every Eval Ever.
RELATIONSHIPS = ("other", "first_party", "third_party", "collaborative")

_EXPORTERS: dict[str, Entry] = {
    "foilworks": Entry(
        "Foilworks folder",
        "foilworks.core.corpus.export_formats.foilworks",
        summary="Everything in plain JSON: items, votes, scores, report tables and a manifest.",
    ),
    "jsonl": Entry(
        "JSON lines",
        "foilworks.core.corpus.export_formats.jsonl",
        summary="The released items, one record per line. Foilworks can import this file again.",
    ),
    "vilma": Entry(
        "ViLMA JSON",
        "foilworks.core.corpus.export_formats.vilma",
        summary="The released items as ViLMA files, one per subtest. Fields from an imported ViLMA file are kept.",
    ),
    "valse": Entry(
        "VALSE JSON (images)",
        "foilworks.core.corpus.export_formats.valse",
        summary=("The items as VALSE files, one per instrument (a VALSE test). For single images instead of clips."),
    ),
    "csv": Entry(
        "CSV table",
        "foilworks.core.corpus.export_formats.csv_rows",
        params=(Param("bom", False, "Start with a byte order mark, so that Excel recognizes UTF-8", "bool"),),
        summary="The released items as one table, with a column for each field. Safe to open in a spreadsheet.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "foilworks.core.corpus.export_formats.contrast",
        summary="Multiple choice, one file per subtest. Columns: clip, ending0, ending1 …, label.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "foilworks.core.corpus.export_formats.feint6k",
        summary="video_id, sentence: six rows per video, for items with five foils.",
    ),
    "hf": Entry(
        "Data set folder (Parquet)",
        "foilworks.core.corpus.export_formats.hf",
        summary="A folder that the Hugging Face library “datasets” loads: Parquet, a dataset card, Croissant metadata.",
    ),
    "hub": Entry(
        "Hub data set with documents",
        "foilworks.core.corpus.export_formats.hub",
        params=(Param("anonymous", False, "Anonymised copy for double-blind review", "bool"),),
        summary="Parquet, card, eval.yaml, Croissant with responsible-AI fields, Inspect task, DOI metadata.",
    ),
    "vitatecs": Entry(
        "VITATECS, JSON lines",
        "foilworks.core.corpus.export_formats.vitatecs",
        summary="A caption and one counterfactual per line, one file per aspect; for items with one foil.",
    ),
    "sugarcrepe": Entry(
        "SugarCrepe JSON (images)",
        "foilworks.core.corpus.export_formats.sugarcrepe",
        summary="filename, caption, negative_caption, one file per kind of edit; for items with one foil.",
    ),
    "winoground": Entry(
        "Winoground, JSON lines",
        "foilworks.core.corpus.export_formats.winoground",
        summary="Two captions and two clips or images per record; for pairs of two clips.",
    ),
    "foil-coco": Entry(
        "FOIL-COCO JSON (images)",
        "foilworks.core.corpus.export_formats.foil_coco",
        summary="images and annotations: each caption with its foils.",
    ),
    "msrvtt": Entry(
        "MSR-VTT captions",
        "foilworks.core.corpus.export_formats.msrvtt",
        summary="video_id, sentence: only the captions.",
    ),
    "vatex": Entry(
        "VATEX captions",
        "foilworks.core.corpus.export_formats.vatex",
        summary="videoID, enCap: only the captions.",
    ),
    "lmms-eval": Entry(
        "lmms-eval tasks",
        "foilworks.core.corpus.export_formats.lmms_eval",
        summary="A folder that lmms-eval loads: a choice by letter and likelihoods, with the clip and without it.",
    ),
    "inspect": Entry(
        "Inspect task",
        "foilworks.core.corpus.export_formats.inspect_task",
        summary="A folder with an Inspect task: a choice by letter, with the clip and without it.",
    ),
    "vlmeval": Entry(
        "VLMEvalKit data set",
        "foilworks.core.corpus.export_formats.vlmeval",
        summary="A TSV file and a data set class for VLMEvalKit: a choice by letter.",
    ),
    "every-eval-ever": Entry(
        "Every Eval Ever",
        "foilworks.core.corpus.export_formats.every_eval_ever",
        params=(
            Param("organization", "", "Organization that ran the evaluation; the project if left out"),
            Param("relationship", "other", "Relationship to the developers of the models", "choice", RELATIONSHIPS),
        ),
        summary="Results of all scored models, with the answer to each item, in the shared form of results.",
    ),
    "votes": Entry(
        "Votes, one per row",
        "foilworks.core.corpus.export_formats.votes",
        summary="Raw judgements under pseudonyms: item, annotator, choice, position, foil.",
    ),
}
EXPORTERS = Registry("exporters", _EXPORTERS, Contract({"write": Call(("release", "out"), ("params",))}))
