"""One verdict: the gate of a release, and an audit of its export, on releases drawn at random."""

import random
from functools import partial

import pytest

from evaluation.analyses import sampling
from evaluation.audit.audit import Options, audit, sources_of
from evaluation.errors import EvaluationError
from evaluation.releases import gate
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


def audited(release, folder, options=None):
    foilworks.write(collect_release(release), folder, params={})
    return audit(sources_of(Source(folder)), options or Options())["without_video"]


def check(seed, folder, balance):
    draw = random.Random(seed)
    try:
        release = drawn_release(draw, balance)
    except EvaluationError:
        assert balance
        return None
    stored = ReleaseGate.objects.get(release=release).data
    solved = audited(release, folder / str(seed))
    assert stored["verdict"] == solved["verdict"]
    assert stored["stopped"] or solved["verdict"] != "fail"
    assert bool(stored.get("selection")) == bool(solved["probes"])
    return solved["verdict"]


def test_the_gate_has_the_verdict_of_the_audit(tmp_path):
    assert check(1, tmp_path, balance=False)


def test_a_large_release_is_read_as_its_audit_reads_it_and_a_small_subtest_is_not_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "FEW", 25)
    monkeypatch.setattr(gate, "Sample", partial(sampling.Sample, items=60))
    project = make_project(blind_bar=0.6)
    for name, n, verbs in (("large", 200, ("opens", "shuts")), ("small", 40, ("holds", "drops"))):
        subtest = make_subtest(project, name=name)
        for number in range(n):
            right, wrong = verbs[:: -1 if name == "large" and number % 2 else 1]
            caption = make_caption(make_video(project), f"someone {right} a box {number % 29}.")
            make_item(subtest, caption, (f"someone {wrong} a box {number % 29}.",), state=ItemState.VALID)
    release = freeze_release(make_member(project, Role.RESEARCHER), project, override=REASON)
    stored = ReleaseGate.objects.get(release=release).data
    solved = audited(release, tmp_path / "large", Options(items=60))
    assert stored["verdict"] == solved["verdict"]
    rows = {row["name"]: row for row in stored["rows"]}
    assert {name: (row["n_items"], row["n_captions"]) for name, row in rows.items()} == {
        "large": (200, 58),
        "small": (40, 29),
    }
    assert rows["small"]["solved"]
    kinds = {kind["kind"]: kind for kind in solved["kinds"]}
    assert kinds["small"]["n"] == 30
    for name, row in rows.items():
        assert row["probes"][0]["value"] == kinds[name]["value"]


@pytest.mark.full
def test_twenty_releases_have_one_verdict_each(tmp_path):
    verdicts = [check(seed, tmp_path, balance=False) for seed in range(20)]
    assert {"fail", "cannot_tell"} <= set(verdicts)


@pytest.mark.full
def test_ten_balanced_releases_have_one_verdict_each(tmp_path):
    verdicts = [check(seed, tmp_path, balance=True) for seed in range(100, 110)]
    assert sum(verdict is not None for verdict in verdicts) >= 5
    assert "fail" not in verdicts
