"""What screening by a video model saves and loses, on simulated projects and in the report of a real run."""

import numpy as np
import pytest
from django.urls import reverse

from evaluation.analyses.screening import ScreenedFoils, compute, rates_of
from evaluation.board.latex import latex, markdown
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.facts.screening import screened_foils
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from evaluation.scoring.involvement import overlaps, uses_of
from evaluation.scoring.models import Run
from foilworks.core.corpus.export_formats.parts.documents import datasheet
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.models import Foil, Subtest
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.projects.models import Role
from foilworks.site.exports.collect import collect_release
from generation.models import Measure, Scorer
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_score,
    make_subtest,
    make_video,
)
from tests.pages import read_page


def simulated(seed, *, n=600, validity=0.7, quality=1.5, share=0.2, threshold=0.0):
    """n foils on n / 2 videos; scores differ by `quality` standard deviations between valid and invalid ones."""
    draw = np.random.default_rng(seed)
    valid = (draw.random(n) < validity).astype(float)
    scores = draw.standard_normal(n) + quality * (valid - 0.5)
    above, sampled = scores >= threshold, draw.random(n) < share
    told = np.where(above | sampled, valid, np.nan)
    videos = [str(k // 2) for k in range(n)]
    facts = ScreenedFoils("judge", scores, above, sampled, np.full(n, share), told, ["1"] * n, videos, threshold)
    return facts, float(valid[above].sum() / valid.sum())


def row_of(facts, **params):
    return compute([facts], **params)["judges"][0]


def test_a_perfect_judge_saves_the_invalid_foils_less_the_sample() -> None:
    valid = np.array([1.0, 1.0, 1.0, 0.0] * 200)
    sampled = np.arange(800) % 8 == 3
    told = np.where((valid > 0) | sampled, valid, np.nan)
    videos = [str(k) for k in range(800)]
    facts = ScreenedFoils("j", valid, valid > 0.5, sampled, np.full(800, 0.5), told, ["1"] * 800, videos, 0.5)
    row = row_of(facts)
    # A quarter is invalid, and half of it goes to people all the same: one eighth is saved.
    assert (row["recall"], row["precision"], row["lost"]) == (1.0, 1.0, 0.0)
    assert row["saved"] == pytest.approx(0.25 * 0.5)
    assert row["saved_ci"][0] < row["saved"] <= row["saved_ci"][1]
    assert (row["n_rejected"], row["n_sampled"], row["n_rejected_judged"]) == (200, 100, 100)
    assert row["best"]["saved"] == pytest.approx(0.125)


def test_a_useless_judge_saves_nothing() -> None:
    rows = [row_of(simulated(seed, quality=0.0)[0], max_loss=0.3) for seed in range(100)]
    assert np.mean([row["saved"] for row in rows]) == pytest.approx(0.0, abs=0.01)
    assert np.mean([row["saved_ci"][0] <= 0 <= row["saved_ci"][1] for row in rows]) >= 0.93
    # It drops half of all foils, and loses half of the valid ones.
    assert np.mean([row["recall"] for row in rows]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([row["best"] is not None for row in rows]) <= 0.05


def test_recall_covers_the_truth_in_simulated_projects_where_the_unweighted_share_does_not() -> None:
    covered, naive = 0, 0
    for seed in range(1000):
        facts, truth = simulated(seed, n=400)
        row = rates_of(facts)
        covered += row["recall_ci"][0] <= truth <= row["recall_ci"][1]
        told = ~np.isnan(facts.valid)
        share = (facts.valid[told & facts.above].sum()) / facts.valid[told].sum()
        naive += row["recall_ci"][0] <= share <= row["recall_ci"][1]
    assert 0.93 <= covered / 1000 <= 0.99
    assert naive / 1000 < 0.5


def test_the_chosen_threshold_keeps_the_stated_loss() -> None:
    facts, _truth = simulated(1, n=4000, quality=3.0)
    strict, loose = row_of(facts, max_loss=0.01)["best"], row_of(facts, max_loss=0.2)["best"]
    assert strict["lost"] <= 0.01 < loose["lost"] <= 0.2
    assert 0 < strict["saved"] < loose["saved"]
    assert strict["threshold"] < loose["threshold"]


def test_runs_with_other_thresholds_are_weighted_apart() -> None:
    one, first = simulated(1, n=900, share=0.2, threshold=-0.5)
    two, second = simulated(2, n=900, share=0.9, threshold=0.5)
    both = ScreenedFoils(
        "judge",
        *(np.concatenate([getattr(each, name) for each in (one, two)]) for name in ("scores", "above", "sampled")),
        *(np.concatenate([getattr(each, name) for each in (one, two)]) for name in ("shares", "valid")),
        ["1"] * 900 + ["2"] * 900,
        [f"{run}/{video}" for run, each in ((1, one), (2, two)) for video in each.videos],
        0.5,
    )
    row = row_of(both)
    assert row["n_rejected"] == int((~one.above).sum() + (~two.above).sum())
    assert first > second + 0.2
    assert row["recall_ci"][0] < (first + second) / 2 < row["recall_ci"][1]


def test_without_judged_rejected_foils_only_the_precision_is_known() -> None:
    facts, _truth = simulated(3, share=0.0)
    row = row_of(facts)
    assert row["reason"] == "unjudged_rejected"
    assert row["recall"] is None
    assert row["precision_ci"][0] < row["precision"]
    with pytest.raises(EvaluationError, match="max_loss: 2 is out of range"):
        compute([facts], max_loss=2)
    with pytest.raises(EvaluationError, match="no video model has screened foils yet"):
        compute([])


FILTER = {"slug": "video_judge", "version": "1", "params": {"model": "clip:x", "min": 0.0, "share": 0.5}}


@pytest.fixture
def run(db):
    """Forty screened foils on twenty clips: ten rejected, half of them in the sample, two of those valid."""
    project = make_project(slug="shapes")
    made = make_run(make_subtest(project), filters=[FILTER, {"slug": "duplicate", "version": "1", "params": {}}])
    scorer = Scorer.objects.create(sha256="a", filter="video_judge", params={"model": "openai/clip@1"})
    for number in range(20):
        caption = make_caption(make_video(project))
        group = make_group(made, caption)
        for place in range(2):
            at = 2 * number + place
            rejected, sampled = at % 4 == 0, at % 8 == 0
            score = -0.1 - at / 1000 if rejected else 0.1 + at / 1000
            foil = None
            if not rejected or sampled:
                verdict = FoilVerdict.VALID if (at % 16 == 0 if rejected else at % 5) else FoilVerdict.INVALID
                foil = Foil.objects.get(item=make_item(made.subtest, caption, (f"foil {at}",)))
                Foil.objects.filter(pk=foil.pk).update(verdict=verdict)
            out = rejected and not sampled
            state = CandidateState.FILTERED_OUT if out else CandidateState.ACCEPTED
            slugs = ["video_judge"] if out else []
            one = make_candidate(group, f"foil {at}", foil=foil, state=state, rejected_by=slugs)
            measure = Measure.objects.create(scorer=scorer, pair_sha256=str(at), values={})
            passed = not out
            make_score(one, "video_judge", passed=passed, score=score, sampled=sampled, measure=measure)
    return made


def test_the_report_reads_the_foils_of_a_run(run) -> None:
    other = make_candidate(make_group(run), state=CandidateState.FILTERED_OUT, rejected_by=["duplicate", "video_judge"])
    measure = Measure.objects.create(scorer=Scorer.objects.get(), pair_sha256="x", values={})
    make_score(other, "video_judge", passed=False, score=-1.0, measure=measure)
    (row,) = project_report(run.project, "screening")["judges"]
    assert row["model"] == "openai/clip@1"
    counts = [row[name] for name in ("n", "n_rejected", "n_sampled", "n_accepted_judged", "n_rejected_judged")]
    assert counts == [40, 10, 5, 30, 5]
    valid = sum(at % 5 > 0 for at in range(40) if at % 4)
    assert row["precision"] == pytest.approx(valid / 30)
    # Three of five in the sample are valid, so six of the ten rejected ones.
    assert row["recall"] == pytest.approx(valid / (valid + 6))
    assert row["sent"] == pytest.approx(35 / 40)
    run.thresholds = {"video_judge": 0.12}
    run.save()
    (moved,) = screened_foils(run.project)
    assert (moved.threshold, int((~moved.above).sum())) == (0.12, 25)


def test_the_pages_show_what_is_saved(run, client) -> None:
    client.force_login(make_member(run.project, Role.RESEARCHER))
    page = client.get(reverse("reports:report", args=["shapes", "screening"])).content.decode()
    assert "openai/clip@1" in page
    assert "5 in the sample, 5 of them judged" in " ".join(page.split())
    assert "No threshold saves work beyond chance" in " ".join(page.split())
    table = client.get(reverse("reports:report_file", args=["shapes", "screening", "csv"])).content.decode()
    assert table.startswith("model,threshold,n,n_rejected")
    drawn = client.get(reverse("reports:report_chart", args=["shapes", "screening", "saved"]))
    assert b"work saved" in drawn.content
    read_page(client.get(reverse("generation:thresholds", args=["shapes", run.pk]))).check(
        "Video model: work saved by threshold", "Valid foils lost"
    )
    Foil.objects.update(verdict=FoilVerdict.DISPUTED)
    page = client.get(reverse("reports:report", args=["shapes", "screening"])).content.decode()
    assert "People have not judged any accepted foil yet." in page


def test_models_that_screened_the_foils_and_their_families_are_marked(run, client) -> None:
    owner = make_member(run.project, Role.RESEARCHER, name="owner")
    client.force_login(owner)
    for foil in Foil.objects.filter(verdict=FoilVerdict.VALID).select_related("item"):
        foil.item.state = ItemState.VALID
        foil.item.save()
    Subtest.objects.update(votes_needed=1)
    release = freeze_release(owner, run.project, name="v1", override="too few captions for the text check")
    record = release.members.first().record
    assert [made["screened_by"] for made in record["provenance"]] == [["openai/clip@1"]]
    keys = {"the judge": "openai/clip@2 frames=8", "its cousin": "laion/CLIP-B@1", "another": "qwen@1"}
    runs = {
        label: Run.objects.create(release=release, label=label, spec="clip:x", model_key=key)
        for label, key in keys.items()
    }
    parts = overlaps(uses_of(release), runs.values())
    assert [(one.run.label, one.involvement) for one in parts] == [("the judge", "screened"), ("its cousin", "family")]
    page = client.get(reverse("board:leaderboard", args=["shapes", release.pk])).content.decode()
    assert page.count("not independent</span>") == 2
    for label, said in (("the judge", "Screened these foils."), ("its cousin", "A model of its family screened")):
        assert said in client.get(reverse("scoring:run", args=["shapes", runs[label].pk])).content.decode()
    assert "Screened" not in client.get(reverse("scoring:run", args=["shapes", runs["another"].pk])).content.decode()
    shown = board(release)
    assert "the judge (screened the foils)" in markdown(shown)
    assert "not independent of the benchmark" in latex(shown)
    content = collect_release(release)
    for text in ("".join(facts_of(content)["card_notes"]), datasheet(facts_of(content))):
        assert "**Screened by models:**" in text
        assert "`openai/clip@1`" in text
