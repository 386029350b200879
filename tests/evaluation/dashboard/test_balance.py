"""The overview says which drawn subtests have lost their balance, and how many held-back foils would restore it."""

import pytest

from foilworks.core.corpus.rules.states import CandidateState
from foilworks.site.dashboard.alarms import alarms_of
from foilworks.site.dashboard.balance import unbalanced_subtests
from foilworks.site.dashboard.counting import count
from generation.models import Candidate, GenerationRun
from tests.factories import make_candidate, make_caption, make_group, make_item, make_run, make_subtest, make_video

pytestmark = pytest.mark.django_db


def items(subtest, word: str, other: str, n: int) -> None:
    for k in range(n):
        caption = make_caption(make_video(subtest.project), f"bird {k} flies {word}.")
        make_item(subtest, caption, (f"bird {k} flies {other}.",))


def test_missing_foils_are_counted_with_those_that_a_draw_held_back(project):
    subtest = make_subtest(project, name="direction")
    items(subtest, "up", "down", 20)
    items(subtest, "down", "up", 4)
    # Without a draw, nothing was promised.
    assert unbalanced_subtests(project) == []
    run = make_run(subtest)
    GenerationRun.objects.filter(pk=run.pk).update(filters=[{"slug": "draw", "params": {}, "version": "1"}])
    for k, (word, other) in enumerate([("down", "up"), ("down", "up"), ("up", "down")]):
        group = make_group(run, make_caption(make_video(project), f"kite {k} rises {word}."))
        candidate = make_candidate(group, f"kite {k} rises {other}.")
        Candidate.objects.filter(pk=candidate.pk).update(state=CandidateState.FILTERED_OUT, held_back_by="draw")
    # Sixteen too many, of which a coin has about five (the square root of 24).
    expected = {"name": "direction", "n": 11, "foils": 24, "removed": "up", "inserted": "down", "held_back": 2}
    assert unbalanced_subtests(project) == [expected]
    alarms = count(project)["alarms"]
    assert {"code": "balance", **expected} in alarms
    items(subtest, "down", "up", 12)
    assert unbalanced_subtests(project) == []
    assert not [alarm for alarm in alarms_of(count(project)) if alarm["code"] == "balance"]
