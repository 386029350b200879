"""Judged foils: a swap that changes is shown here, to be judged again."""

from pathlib import Path

import pytest

from generation.records import CaptionInput
from tests.generation.making import outcomes

JUDGED = Path(__file__).with_name("judged") / "actor_swap.tsv"
ROWS = [line.split("\t") for line in JUDGED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("caption", "foil", "verdict"), ROWS)
def test_a_caption_becomes_the_foil_that_was_judged(caption, foil, verdict):
    (outcome,) = outcomes("actor_swap", [CaptionInput("1", caption)], tagger="offline")
    assert [judged.draft.foil for judged in outcome.foils] == ([foil] if foil else [])
    assert bool(outcome.skipped) == (verdict == "skipped")


def test_nine_of_ten_foils_were_accepted():
    verdicts = [verdict for _, foil, verdict in ROWS if foil]
    assert len(verdicts) >= 40
    assert verdicts.count("accept") >= 0.9 * len(verdicts)


# Caption, foil: whom pronouns refer to.
PRONOUNS = [
    ("A woman looks to her right at a boy.", "A boy looks to his right at a woman."),
    ("A girl walks towards a boy with her head down.", None),
    ("A guy hides himself behind a woman.", "A woman hides herself behind a guy."),
    ("A man in a hat kicks the person in front of him.", None),
    ("A man watches the women laughing at him.", None),
    ("A man points at a woman as he laughs.", "A woman points at a man as she laughs."),
    ("A man points at two women as he laughs.", None),
    ("Two men raise their hands towards a woman.", "A woman raises her hands towards two men."),
    ("A dog chases a boy with its tail up.", None),
    ("A soldier lowers his gun towards a woman.", "A woman lowers her gun towards a soldier."),
]


@pytest.mark.parametrize(("caption", "foil"), PRONOUNS)
def test_pronouns_refer_to_the_new_participant(caption, foil):
    (outcome,) = outcomes("actor_swap", [CaptionInput("1", caption)], tagger="offline")
    assert [judged.draft.foil for judged in outcome.foils] == ([foil] if foil else [])
