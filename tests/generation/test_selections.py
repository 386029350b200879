"""Selections over stored candidates: worked out by a job, looked at, applied without touching anybody's work."""

import pytest
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Stage, Task, TaskState
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.invariants.candidates import a_rejection_has_its_reason
from generation.actions.selections import apply_selection, move_thresholds, start_selection
from generation.errors import GenerationError
from generation.models import Candidate, FilterScore, GenerationRun, Selection
from generation.selections.open_candidates import pool_of
from generation.thresholds.arithmetic import failing
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

pytestmark = pytest.mark.django_db
C = CandidateState


@pytest.fixture
def run(project):
    return make_run(make_subtest(project, name="relations"), method="preposition")


def foil(run, source, target, *, group=None, **fields):
    """A candidate that puts `target` in the place of `source`, in a caption of its own."""
    group = group or make_group(run, make_caption(make_video(run.project), f"it is {source} a box"))
    return make_candidate(group, f"it is {target} a box", **fields)


@pytest.fixture
def lopsided(run):
    """on -> in twice, in -> on once: one of the first two must go."""
    return [foil(run, "on", "in"), foil(run, "on", "in"), foil(run, "in", "on")]


def worked_out(person, subtest, kind="balance", **asked):
    chosen = start_selection(person, subtest, kind, **asked)
    run_now(chosen.job)
    return Selection.objects.select_related("project", "subtest").get(pk=chosen.pk)


def states():
    return list(Candidate.objects.order_by("pk").values_list("state", flat=True))


def test_a_job_computes_the_selection_and_moves_nothing(run, owner, lopsided):
    chosen = worked_out(owner, run.subtest)
    assert (chosen.result["n"], chosen.result["n_kept"], chosen.result["n_lost"]) == (3, 2, 1)
    assert chosen.lost == [lopsided[1].pk] or chosen.lost == [lopsided[0].pk]
    assert chosen.result["after"]["fitted"] == 0.5
    assert len(chosen.result["examples"]) == 1
    assert states() == [C.QUEUED] * 3


def test_the_page_says_that_balanced_pairs_are_still_answered(client, run, owner):
    for source, target in [("on", "in"), ("in", "on")] * 30:
        group = make_group(run, make_caption(make_video(run.project), f"it is {source} a box."))
        make_candidate(group, f"it is {target} a box")
    chosen = worked_out(owner, run.subtest)
    assert (chosen.result["is_balanced"], chosen.result["after"]["verdict"]) == (True, "fail")
    client.force_login(owner)
    address = reverse("generation:selection", args=[run.project.slug, chosen.pk])
    page = " ".join(client.get(address).content.decode().split())
    assert "Balanced in words. 100.0 % of the pairs are still answered without the video." in page
    assert page.count("%] fail</small>") == 2


def test_a_selection_of_an_earlier_version_has_a_page_without_the_solver(client, run, owner, lopsided):
    chosen = worked_out(owner, run.subtest)
    chosen.result["before"] = chosen.result["after"] = {"held_out": 0.6, "fitted": 0.5}
    del chosen.result["is_balanced"], chosen.result["is_still_solved"]
    chosen.save()
    client.force_login(owner)
    page = client.get(reverse("generation:selection", args=[run.project.slug, chosen.pk])).content.decode()
    assert "words, fitted on all" in page
    assert ">solver<" not in page


def test_clips_of_one_source_do_not_teach_each_other(run, owner):
    for n in range(30):
        video = make_video(run.project, source_dataset="ucf", source_id="one", key=f"clip {n}")
        make_candidate(make_group(run, make_caption(video, f"it is on a box {n}")), f"it is in a box {n}")
    chosen = worked_out(owner, run.subtest)
    assert {pair.video for pair in pool_of(chosen).open} == {"ucf/one"}
    assert chosen.result["before"]["reason"] == "too few videos to learn from"


def test_applying_holds_back_candidates_and_a_later_selection_restores_them(run, owner, lopsided):
    chosen = apply_selection(owner, worked_out(owner, run.subtest))
    assert sorted(states()) == [C.FILTERED_OUT, C.QUEUED, C.QUEUED]
    left = Candidate.objects.get(pk=chosen.lost[0])
    assert (left.held_back_by, left.rejected_by) == ("balance", ["balance"])
    assert chosen.moved == {"held_back": 1, "came_back": 0, "begun": 0, "rejected": 0}
    event = AuditEvent.objects.get(action="generation.apply_selection")
    assert (event.actor, event.details["held_back"]) == (owner, 1)
    assert AuditEvent.objects.get(action="hold_back").reason == "balance"
    # With one more of the other kind all four fit.
    foil(run, "in", "on")
    again = apply_selection(owner, worked_out(owner, run.subtest))
    assert again.moved == {"held_back": 0, "came_back": 1, "begun": 0, "rejected": 0}
    assert states() == [C.QUEUED] * 4
    assert Candidate.objects.get(pk=left.pk).held_back_by == ""


def test_work_in_progress_stays_and_the_selection_takes_it_as_given(run, owner):
    begun = foil(run, "on", "in")
    editor = make_member(run.project, Role.ANNOTATOR)
    make_tasks(run.project)
    claim(editor, run.project, Stage.EDIT)
    open_ones = [foil(run, "on", "in"), foil(run, "in", "on")]
    chosen = worked_out(owner, run.subtest)
    assert [pair.id for pair in pool_of(chosen).fixed] == [f"c{begun.pk}"]
    # The one in hand is made up for by in -> on, and nothing is left to make up for on -> in.
    assert chosen.lost == [open_ones[0].pk]
    assert chosen.result["n_fixed"] == 1
    apply_selection(owner, chosen)
    assert states() == [C.EDITING, C.FILTERED_OUT, C.QUEUED]


def test_work_started_before_applying_stays(run, owner, lopsided):
    chosen = worked_out(owner, run.subtest)
    editors = [make_member(run.project, Role.ANNOTATOR) for _ in range(3)]
    make_tasks(run.project)
    for editor in editors:
        claim(editor, run.project, Stage.EDIT)
    assert apply_selection(owner, chosen).moved == {"held_back": 0, "came_back": 0, "begun": 1, "rejected": 0}
    assert states() == [C.EDITING] * 3


def scored(run, candidates, odd):
    """Each is entailed a little, `odd` more than that."""
    run.filters = [{"slug": "nli", "params": {"max_entailment": 0.5}, "version": "1"}]
    run.save()
    for candidate in candidates:
        make_score(candidate, "nli", score=0.4 if candidate == odd else 0.1)


def test_a_selection_does_not_restore_what_fails_a_changed_threshold(client, run, owner, lopsided):
    left = Candidate.objects.get(pk=apply_selection(owner, worked_out(owner, run.subtest)).lost[0])
    scored(run, [*lopsided, other := foil(run, "in", "on")], left)
    early = worked_out(owner, run.subtest)
    move_thresholds(owner, run, {"nli": 0.3})
    # With one more of the other kind all four would fit, so that the earlier look keeps it.
    assert early.lost == []
    late = worked_out(owner, run.subtest)
    assert (late.result["n"], late.lost) == (3, [other.pk])
    for chosen in (early, late):
        moved = apply_selection(owner, chosen).moved
        assert (moved["came_back"], moved["rejected"]) == (0, 1)
    assert Candidate.objects.get(pk=left.pk).held_back_by == "balance"
    client.force_login(owner)
    page = client.get(reverse("generation:selection", args=[run.project.slug, early.pk])).content.decode()
    assert "1 fails a changed threshold and stays held back." in page
    run.refresh_from_db()
    move_thresholds(owner, run, {})
    assert apply_selection(owner, worked_out(owner, run.subtest)).moved["came_back"] == 2
    assert states() == [C.QUEUED] * 4


def test_a_threshold_changed_in_an_older_version_still_applies(run, owner, lopsided):
    left = Candidate.objects.get(pk=apply_selection(owner, worked_out(owner, run.subtest)).lost[0])
    scored(run, lopsided, left)
    GenerationRun.objects.filter(pk=run.pk).update(
        thresholds={"nli": 0.3}, filters=[{**row, "params": {"max_entailment": 0}} for row in run.filters]
    )
    run.refresh_from_db()
    assert failing(run) == {left.pk}
    assert apply_selection(owner, worked_out(owner, run.subtest)).moved["came_back"] == 0


def test_candidates_rejected_by_thresholds_before_applying_are_not_counted_as_begun(run, owner, lopsided):
    chosen = worked_out(owner, run.subtest)
    left = Candidate.objects.get(pk=chosen.lost[0])
    scored(run, lopsided, left)
    move_thresholds(owner, run, {"nli": 0.3})
    assert apply_selection(owner, chosen).moved == {"held_back": 0, "came_back": 0, "begun": 0, "rejected": 1}
    assert Candidate.objects.get(pk=left.pk).rejected_by == ["nli"]


def test_editors_get_only_kept_candidates(run, owner, lopsided):
    make_tasks(run.project)
    chosen = apply_selection(owner, worked_out(owner, run.subtest))
    make_tasks(run.project)
    open_groups = set(Task.objects.filter(state=TaskState.OPEN).values_list("group", flat=True))
    assert open_groups == {c.group_id for c in lopsided if c.pk not in chosen.lost}


def test_items_and_the_number_of_foils_per_item_count(project, owner):
    """Two foils an item: both of a caption may stay. An item that is there already is balanced against."""
    subtest = make_subtest(project, foils_per_item=2)
    run = make_run(subtest)
    caption = make_caption(make_video(project), "it is on a box")
    make_item(subtest, caption, ("it is in a box",), state=ItemState.VALID)
    make_item(subtest, caption, ("it is at a box",), state=ItemState.RETRACTED)
    group = make_group(run, make_caption(make_video(project), "it is in a box"))
    both = [foil(run, "in", "on", group=group), foil(run, "in", "at", group=group)]
    chosen = worked_out(owner, subtest)
    assert chosen.lost == [both[1].pk]
    assert chosen.result["n_fixed"] == 1


def test_a_selection_can_use_a_single_run(run, owner, lopsided):
    other = make_run(run.subtest)
    foil(other, "in", "on")
    assert worked_out(owner, run.subtest, run=other).result["n"] == 1
    assert worked_out(owner, run.subtest).result["n_kept"] == 4


def test_frequency_matching_keeps_the_best_ranked(run, owner):
    foil(run, "on", "in", rank=0)
    late = foil(run, "on", "in", rank=3)
    foil(run, "in", "on", rank=1)
    assert worked_out(owner, run.subtest, "frequency").lost == [late.pk]


class TestAdversarial:
    def scored(self, run, *gaps):
        rows = [foil(run, "on", "in") for _ in gaps]
        for candidate, pair in zip(rows, gaps, strict=True):
            for slug, gap in zip(("plausibility_gap", "grammar_gap"), pair, strict=True):
                FilterScore.objects.create(
                    run=run, candidate=candidate, filter=slug, filter_version="1", score=gap, passed=True
                )
        return rows

    def test_mirrored_gaps_stay_and_the_others_are_held_back(self, run, owner):
        rows = self.scored(run, (0.5, 0.3), (-0.5, -0.3), (0.9, 0.9))
        gaps = ["plausibility_gap", "grammar_gap"]
        chosen = worked_out(owner, run.subtest, "adversarial", gaps=gaps)
        assert chosen.lost == [rows[2].pk]

    def test_two_scored_gaps_are_required(self, run, owner, lopsided):
        with pytest.raises(GenerationError, match="two different gaps"):
            start_selection(owner, run.subtest, "adversarial", gaps=["nli", "grammar_gap"])
        with pytest.raises(GenerationError, match="3 foils have no score from the filter plausibility_gap"):
            worked_out(owner, run.subtest, "adversarial", gaps=["plausibility_gap", "grammar_gap"])


def test_without_an_edit_stage_review_tasks_do_not_change():
    project = make_project(edit_stage=False)
    owner, run = make_member(project, Role.RESEARCHER), make_run(make_subtest(project))
    waits = [foil(run, "on", "in", state=C.IN_REVIEW), foil(run, "in", "on", state=C.IN_REVIEW)]
    tasked = foil(run, "on", "in", state=C.IN_REVIEW)
    type(tasked.group).objects.filter(pk=tasked.group_id).update(tasked=True)
    chosen = worked_out(owner, run.subtest)
    assert chosen.lost == [waits[0].pk]
    apply_selection(owner, chosen)
    assert states() == [C.FILTERED_OUT, C.IN_REVIEW, C.IN_REVIEW]


def test_invalid_input_is_refused_with_the_reason(run, owner, lopsided):
    chosen = start_selection(owner, run.subtest, "balance")
    with pytest.raises(GenerationError, match="not computed yet"):
        apply_selection(owner, chosen)
    with pytest.raises(GenerationError, match="no selection 'magic'"):
        start_selection(owner, run.subtest, "magic")
    with pytest.raises(AccessDenied):
        start_selection(make_member(run.project, Role.REVIEWER), run.subtest, "balance")
    done = apply_selection(owner, worked_out(owner, run.subtest))
    with pytest.raises(GenerationError, match="already applied"):
        apply_selection(owner, done)
    with pytest.raises(GenerationError, match="No waiting candidates to choose from"):
        worked_out(owner, make_subtest(run.project))


def test_the_pages_create_show_and_apply_a_selection(client, run, owner, lopsided):
    client.force_login(owner)
    slug = run.project.slug
    answer = client.post(
        reverse("generation:selections", args=[slug]), {"kind": "balance", "subtest": run.subtest_id, "seed": "0"}
    )
    chosen = Selection.objects.get()
    page = reverse("generation:selection", args=[slug, chosen.pk])
    assert answer["Location"] == page
    assert "hx-get" in client.get(page).content.decode()
    run_now(chosen.job)
    read_page(" ".join(client.get(page).content.decode().split())).check(
        "of 3 (upper bound: 2)",
        "Apply: leave out 1",
        "can restore them, unless they fail a threshold changed since then.",
    )
    assert client.get(reverse("generation:selection_progress", args=[slug, chosen.pk])).headers["HX-Refresh"] == "true"
    done = client.post(page, follow=True).content.decode()
    assert "1 held back" in " ".join(done.split())
    assert "2 / 3" in client.get(reverse("generation:selections", args=[slug])).content.decode()
    wrong = client.post(
        reverse("generation:selections", args=[slug]), {"kind": "adversarial", "subtest": run.subtest_id, "seed": "0"}
    )
    assert wrong.status_code == 422


def test_the_invariants_check_held_back_candidates(run, owner, lopsided):
    apply_selection(owner, worked_out(owner, run.subtest))
    assert list(a_rejection_has_its_reason()) == []
    Candidate.objects.filter(state=C.FILTERED_OUT).update(state=C.QUEUED)
    (found,) = a_rejection_has_its_reason()
    assert "left out by a selection" in str(found)
