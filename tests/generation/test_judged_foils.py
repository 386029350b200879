"""Judged foils and captions as data: accepted ones are made, and faults are not. A change shows as a difference here.

`judged_foils.tsv`: method, source or caption, text, verdict, reason; judged from text alone.
"""

import csv
from pathlib import Path

import pytest

from generation.captioning import cos_caption
from generation.records import CaptionInput, MadeCaption
from tests.generation.making import drafts

with (Path(__file__).parent / "judged_foils.tsv").open(encoding="utf-8") as table:
    JUDGED = list(csv.DictReader(table, delimiter="\t"))


def made(method: str, caption: str) -> set[str]:
    if method != "cos_caption":
        given = {"tagger": "offline"} if method == "state_change" else {"top": 100}
        return {draft.foil for draft in drafts(method, caption, **given)}
    params = {"template": "action", "tagger": "offline"}
    found = cos_caption.make([CaptionInput("only", caption)], params=params, mode="corrected", seed=0)
    return {one.text for one in found if isinstance(one, MadeCaption)}


@pytest.mark.parametrize("row", JUDGED, ids=[f"{row['verdict']}: {row['text']}" for row in JUDGED])
def test_accepted_texts_are_made_and_faults_are_not(row):
    assert (row["text"] in made(row["method"], row["caption"])) == (row["verdict"] == "accept"), row["reason"]
