"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.registry import Entry, Param

_SUBTEST = Param("subtest", "", "name of the subtest for records that carry none (default: the name of the file)")
_DATASET = Param("dataset", "", "data set that the videos are from, such as MSR-VTT (no such column is in the file)")

IMPORTERS: dict[str, Entry] = {
    "jsonl": Entry(
        "JSON lines",
        "corpus.importers.jsonl",
        params=(_SUBTEST,),
        summary="One record a line: videos, captions, foils, proficiency pairs, vote counts. The general format.",
    ),
    "csv": Entry(
        "CSV table",
        "corpus.importers.csv_rows",
        params=(_SUBTEST,),
        summary="The columns of JSON lines as a table with a header: what a spreadsheet saves.",
    ),
    "vilma": Entry(
        "ViLMA / VALSE JSON",
        "corpus.importers.vilma",
        params=(_SUBTEST,),
        deviations=("Ids get the name of the file before them, since the published files number records alike.",),
        summary="The files of ViLMA and VALSE with their validation counts and proficiency pairs.",
    ),
    "valse": Entry(
        "VALSE JSON (pictures)",
        "corpus.importers.valse",
        params=(_SUBTEST,),
        deviations=("A still picture is a clip without a video file: its items are scored and reported, not shown.",),
        summary="The files of VALSE: captions and foils of still pictures with their validation counts.",
    ),
    "contrast": Entry(
        "Contrast sets, TSV",
        "corpus.importers.contrast",
        params=(_SUBTEST, _DATASET),
        summary="Multiple choice of the contrast sets: clip, ending0 to ending4, label, perhaps c_label.",
    ),
    "feint6k": Entry(
        "Feint6K CSV",
        "corpus.importers.feint6k",
        params=(_SUBTEST, _DATASET),
        summary="video_id, sentence: six rows a video, the caption and its five counterfactuals.",
    ),
}
