"""One verdict: the gate of a release, and an audit of its export, on releases drawn at random."""

import random

import pytest

from evaluation.audit.audit import Options, audit, sources_of
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.releases.models import ReleaseGate
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Role
from foilworks.site.exports.collect import collect_release
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
VERBS = ("folds", "tears", "lifts", "drops", "opens", "closes", "washes", "cuts")
THINGS = ("shirt", "box", "door", "cup", "book", "rope", "bag", "plate")
REASON = "the texts of this collection are tested, whatever they tell"


def drawn_release(draw, balance):
    """A release of one or two subtests. A share of the captions has a verb that foils never have."""
    project = make_project(blind_bar=0.6)
    names = ["first", "second"][: draw.choice((1, 2))]
    for name in names:
        subtest, leak = make_subtest(project, name=name), draw.uniform(0.0, 0.9)
        for number in range(draw.randint(*((220, 300) if balance else (20, 90)))):
            right, *wrongs = draw.sample(VERBS, draw.choice((2, 2, 3)))
            right = "holds" if draw.random() < leak * (0.4 if balance else 1.0) else right
            thing = f"a {draw.choice(THINGS)} {number % 17}"
            caption = make_caption(make_video(project), f"someone {right} {thing}.")
            foils = tuple(f"someone {wrong} {thing}." for wrong in wrongs)
            make_item(subtest, caption, foils, state=ItemState.VALID)
    researcher = make_member(project, Role.RESEARCHER)
    selection = ItemSelection(balance=names if balance else ())
    return freeze_release(researcher, project, override=REASON, selection=selection)


def audited(release, folder):
    foilworks.write(collect_release(release), folder, params={})
    return audit(sources_of(Source(folder)), Options())["without_video"]


def check(seed, folder, balance):
    draw = random.Random(seed)
    try:
        release = drawn_release(draw, balance)
    except EvaluationError:
        assert balance
        return None
    gate = ReleaseGate.objects.get(release=release).data
    solved = audited(release, folder / str(seed))
    assert gate["verdict"] == solved["verdict"]
    assert gate["stopped"] or solved["verdict"] != "fail"
    assert bool(gate.get("selection")) == bool(solved["probes"])
    return solved["verdict"]


def test_the_gate_has_the_verdict_of_the_audit(tmp_path):
    assert check(1, tmp_path, balance=False)


@pytest.mark.full
def test_twenty_releases_have_one_verdict_each(tmp_path):
    verdicts = [check(seed, tmp_path, balance=False) for seed in range(20)]
    assert {"fail", "cannot_tell"} <= set(verdicts)


@pytest.mark.full
def test_ten_balanced_releases_have_one_verdict_each(tmp_path):
    verdicts = [check(seed, tmp_path, balance=True) for seed in range(100, 110)]
    assert sum(verdict is not None for verdict in verdicts) >= 5
    assert "fail" not in verdicts
