"""The report on replacing votes: of files, of scored releases, on its page."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Stage, Vote
from evaluation.analyses.analysis_inputs import CHOICES, NOBODY
from evaluation.analyses.replace import ItemVerdicts, ReplacementFacts, compute
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.reports.replacement import P_YES, choices_of, replacement_facts, verdicts_of, verdicts_of_runs
from evaluation.reports.reports import project_report
from evaluation.score_files.items import read_votes
from evaluation.scoring.clip_keys import Keyed
from foilworks.core.corpus.records import ReleaseScore
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.interfaces import ScoreKind
from foilworks.core.projects.models import Role
from tests.evaluation.builders import votes_of
from tests.evaluation.ladders import make_laddered
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

PEOPLE = ("ann", "bob", "cy")


def votes_on(choices):
    """Three people's votes: `choices` are (unit, choices of ann, bob and cy)."""
    return votes_of(*((unit, who, said, 0) for unit, three in choices for who, said in zip(PEOPLE, three, strict=True)))


def varied(n: int = 80):
    """Half of the units are captions and half foils; each person is wrong on every fifth unit of their own."""
    rows = []
    for k in range(n):
        right, wrong = ("caption", "foil") if k % 2 else ("foil", "caption")
        rows.append((f"s:{k}/0", [wrong if k % 15 == 5 * place else right for place in range(3)]))
    return rows


def facts(rows, **models):
    votes = votes_on(rows)
    codes = {name: np.array([CHOICES.index(c) if c else NOBODY for c in said]) for name, said in models.items()}
    return ReplacementFacts(votes, ["s"] * len(rows), codes)


def test_a_right_model_passes_a_wrong_one_fails_and_a_constant_one_shows_uniform_votes() -> None:
    rows = varied()
    right = ["caption" if k % 2 else "foil" for k in range(len(rows))]
    wrong = ["foil" if k % 2 else "caption" for k in range(len(rows))]
    found = compute(facts(rows, right=right, wrong=wrong))
    assert [(row["model"], row["conclusion"]) for row in found["tests"]] == [("right", "passes"), ("wrong", "fails")]
    assert found["tests"][0]["winning_rate_of_constant"] == 0.0
    assert {row["annotator"] for row in found["annotators"]} == set(PEOPLE)
    uniform = compute(facts([(f"s:{k}/0", ["caption"] * 3) for k in range(80)], right=["caption"] * 80))
    assert uniform["tests"][0]["conclusion"] == "uniform"
    few = compute(facts(rows[:20], right=right[:20]))
    assert few["tests"][0]["conclusion"] == "too_few"


def test_without_votes_models_or_a_share_for_epsilon_it_says_what_to_do() -> None:
    rows = varied(4)
    with pytest.raises(EvaluationError, match="epsilon: 1 is out of range"):
        compute(facts(rows, m=["caption"] * 4), epsilon=1.0)
    with pytest.raises(EvaluationError, match="--verdicts"):
        compute(facts(rows))
    nobody = votes_of(("s:1/0", "ann", "caption", 0))
    nobody.annotator[:] = NOBODY
    with pytest.raises(EvaluationError, match="name no model"):
        verdicts_of(nobody)


def test_estimates_need_verdicts_on_every_judged_item_and_on_others() -> None:
    valid = np.array([1.0] * 24 + [0.0] * 6 + [np.nan] * 60)
    said = np.where(np.isnan(valid), np.tile([1.0, 1.0, 0.0], 30), valid)
    gaps = np.where(np.arange(90) == 3, np.nan, said)
    only_judged = np.where(np.isnan(valid), np.nan, said)
    groups = {"overall": np.ones(90, dtype=bool), "method swap": np.arange(90) < 20}
    models = {"whole": said, "with gaps": gaps, "of a release": only_judged}
    items = ItemVerdicts(valid, [f"v{k}" for k in range(90)], groups, models)
    rows = varied(4)
    found = compute(ReplacementFacts(votes_on(rows), ["s"] * 4, {"m": np.zeros(4, dtype=np.int64)}, items))
    assert [(row["model"], row["group"]) for row in found["estimates"]] == [("whole", "overall")]
    row = found["estimates"][0]
    # Judged alone: 24 of 30; the weight of a model that is always right is 60 / 90, so the value is the mean of all.
    assert row["judged"] == pytest.approx(0.8)
    assert row["value"] == pytest.approx((24 + said[30:].sum()) / 90)
    assert row["worth"] > 60


def test_choices_of_a_score() -> None:
    def row(caption, *foils, kind="cosine", higher=True):
        return ReleaseScore(
            id="i",
            model="m",
            model_key="k",
            protocol="p",
            subtest="s",
            test="t",
            cluster="c",
            caption=caption,
            foils=foils,
            proficiency_caption=None,
            proficiency_foils=(),
            kind=kind,
            higher_is_better=higher,
            pair="",
        )

    assert ScoreKind.P_YES == P_YES
    assert choices_of(row(0.5, 0.4, 0.6, 0.5)) == [0, 1, 4]
    assert choices_of(row(0.5, 0.4, higher=False)) == [1]
    assert choices_of(row(0.9, 0.1, 0.8, kind=P_YES)) == [0, 3]
    assert choices_of(row(0.2, 0.1, 0.8, kind=P_YES)) == [2, 1]
    assert choices_of(row(0.4, 0.3, kind=P_YES), Keyed.TEXTS) == [0]


@pytest.fixture
def project(db):
    return make_project(slug="shapes")


@pytest.fixture
def judged(project):
    """36 judged items, a third of them invalid, and 40 without votes."""
    subtest = make_subtest(project, name="Left")
    people = [make_member(project, Role.VALIDATOR, name=name) for name in PEOPLE]
    for k in range(76):
        caption = make_caption(make_video(project), f"a dog runs past number {k}.")
        state = ItemState.IN_VALIDATION if k >= 36 else ItemState.INVALID if k % 3 == 0 else ItemState.VALID
        item = make_item(subtest, caption, (f"a dog walks past number {k}.",), key=f"k{k}", state=state)
        said = "both" if state == ItemState.INVALID else "caption"
        votes = [
            Vote(
                item=item,
                foil=item.foils.get(),
                person=person,
                choice=said,
                stage=Stage.VALIDATION,
                idempotency_key=f"{k} {person.pk}",
                caption_first=True,
            )
            for person in people
        ]
        Vote.objects.bulk_create(votes if k < 36 else [])
    return subtest


def verdict_file(path, keys=range(76)):
    lines = [
        {"item": f"Left:k{k}", "foil": "0", "annotator": "judge", "choice": "both" if k % 3 == 0 else "caption"}
        for k in keys
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_file_of_verdicts_on_a_project(project, judged, tmp_path, capsys) -> None:
    path = verdict_file(tmp_path / "judge.jsonl")
    call_command("report", "replace", project="shapes", verdicts=path, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [(row["subtest"], row["conclusion"]) for row in found["tests"]] == [("overall", "passes")]
    [row] = found["estimates"]
    assert (row["n"], row["n_others"], row["judged"]) == (36, 40, pytest.approx(24 / 36))
    call_command("report", "replace", project="shapes", subtest="Left", verdicts=path)
    assert "winning_rate" in capsys.readouterr().out


def test_verdicts_that_name_no_pair_are_refused(project, judged, tmp_path) -> None:
    path = verdict_file(tmp_path / "judge.jsonl", [500])
    with pytest.raises(EvaluationError, match="names a pair of the project, such as 'Left:k500/0'"):
        replacement_facts(project, verdicts=verdicts_of(read_votes(path)))


def test_files_of_votes_and_verdicts_without_a_project(tmp_path, capsys) -> None:
    lines = ["item,annotator,choice"]
    lines += [f"{unit},{who},{said}" for unit, three in varied() for who, said in zip(PEOPLE, three, strict=True)]
    (tmp_path / "votes.csv").write_text("\n".join(lines), encoding="utf-8")
    said = [f"s:{k}/0,judge,{'caption' if k % 2 else 'foil'}" for k in range(80)]
    (tmp_path / "judge.csv").write_text("\n".join(["item,annotator,choice", *said]), encoding="utf-8")
    call_command("report", "replace", files=[tmp_path / "votes.csv"], verdicts=tmp_path / "judge.csv", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [row["conclusion"] for row in found["tests"]] == ["passes"]
    with pytest.raises(CommandError, match="needs the replace report"):
        call_command("report", "people", project="shapes", verdicts=tmp_path / "judge.csv")


def test_the_page_shows_the_models_of_the_newest_scored_release(project, judged, client) -> None:
    owner = make_member(project, Role.RESEARCHER, name="owner")
    client.force_login(owner)
    address = reverse("reports:report", args=["shapes", "replace"])
    assert "no model has given verdicts" in client.get(address).content.decode().lower()
    release = freeze_release(owner, project, name="v1", override="too few captions for the text check")
    make_laddered(owner, release, {"full": [f"Left:k{k}" for k in range(36)]}, label="scored model")
    assert set(verdicts_of_runs(project)["scored model"].values()) == {0}
    found = project_report(project, "replace")
    # Only valid items are released, and people gave all of them the same answer.
    assert [(row["conclusion"], row["n_units"]) for row in found["tests"]] == [("too_few", 24)]
    page = client.get(address).content.decode()
    assert "scored model" in page
    assert "too few votes" in page
    assert client.get(reverse("reports:report_file", args=["shapes", "replace", "csv"])).status_code == 200


def test_private_items_take_no_part(project, judged) -> None:
    owner = make_member(project, Role.RESEARCHER, name="owner")
    release = freeze_release(
        owner, project, selection=ItemSelection(holdback=0.3), name="v1", override="too few captions for the text check"
    )
    held = {f"Left:{key}/0" for key in release.members.filter(is_private=True).values_list("item__key", flat=True)}
    assert held
    make_laddered(owner, release, {"full": [f"Left:k{k}" for k in range(36)]}, label="scored model")
    assert not held & set(verdicts_of_runs(project)["scored model"])
    facts = replacement_facts(project)
    assert len(facts.items.valid) == project.items.count() - len(held)
