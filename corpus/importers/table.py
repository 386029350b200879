"""Formats that `foilworks import` reads: slug -> row. A format is one file here and one row."""

from text.registry import Entry, Param

_SUBTEST = Param("subtest", "", "name of the subtest for records that carry none (default: the name of the file)")

IMPORTERS: dict[str, Entry] = {
    "jsonl": Entry(
        "JSON lines",
        "corpus.importers.jsonl",
        params=(_SUBTEST,),
        summary="One record a line: videos, captions, foils, proficiency pairs, vote counts. The general format.",
    ),
    "vilma": Entry(
        "ViLMA / VALSE JSON",
        "corpus.importers.vilma",
        params=(_SUBTEST,),
        deviations=("Ids get the name of the file before them, since the published files number records alike.",),
        summary="The files of ViLMA and VALSE with their validation counts and proficiency pairs.",
    ),
}
