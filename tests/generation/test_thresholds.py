"""Thresholds that move without a rerun: what would pass, what is moved, whose work is left alone."""

import random

import pytest
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Stage, Task, TaskState
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from generation import jobs
from generation.actions.runs import resume_run, start_run
from generation.actions.selections import move_thresholds
from generation.errors import GenerationError
from generation.filters import perplexity
from generation.models import Candidate, FilterScore
from generation.run_request import FoilRequest
from generation.thresholds.arithmetic import preview
from generation.thresholds.cached_scores import run_scores
from generation.thresholds.registry import movable
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)
from tests.pages import read_page

pytestmark = pytest.mark.django_db
C = CandidateState
FILTERS = [
    {"slug": "nli", "params": {"max_entailment": 0.5}, "version": "1"},
    {"slug": "grammaticality", "params": {"min": 0.8}, "version": "1"},
    {"slug": "duplicate", "params": {}, "version": "1"},
]


@pytest.fixture
def run(project):
    return make_run(make_subtest(project), method="mask_fill", filters=FILTERS)


def judged(run, nli=None, grammar=None, *, group=None, duplicate=False, state=None, **fields):
    """A candidate with the run's verdicts: entailed from .5 on, grammatical from .8 on; None = never asked."""
    verdicts = {"nli": (nli, nli is None or nli < 0.5), "grammaticality": (grammar, grammar is None or grammar >= 0.8)}
    verdicts["duplicate"] = (None, not duplicate)
    passes = all(passed for _score, passed in verdicts.values())
    state = state or (C.QUEUED if passes else C.FILTERED_OUT)
    candidate = make_candidate(group or make_group(run), state=state, **fields)
    asked = {slug: pair for slug, pair in verdicts.items() if slug == "duplicate" or pair[0] is not None}
    FilterScore.objects.bulk_create(
        FilterScore(run=run, candidate=candidate, filter=slug, filter_version="1", score=score, passed=passed)
        for slug, (score, passed) in asked.items()
    )
    return candidate


def state_of(*candidates):
    states = dict(Candidate.objects.values_list("pk", "state"))
    return [states[candidate.pk] for candidate in candidates]


def test_the_preview_equals_the_verdicts_of_a_new_run(run):
    """Held to the rule itself, candidate by candidate."""
    generator = random.Random(1)
    values = [(generator.random(), generator.random(), generator.random() < 0.2) for _ in range(40)]
    for nli, grammar, duplicate in values:
        judged(run, nli, grammar, duplicate=duplicate)
    for at in ({}, {"nli": 0.9}, {"nli": 0.2, "grammaticality": 0.1}, {"grammaticality": 0.0}):
        bar = {"nli": 0.5, "grammaticality": 0.8} | at
        expected = [n < bar["nli"] and g >= bar["grammaticality"] and not d for n, g, d in values]
        found = preview(run, at)
        assert found.passes.tolist() == expected
        before = [n < 0.5 and g >= 0.8 and not d for n, g, d in values]
        assert found.n_back == sum(new and not old for new, old in zip(expected, before, strict=True))
        assert found.n_leave == sum(old and not new for new, old in zip(expected, before, strict=True))


def test_foils_that_a_costly_filter_did_not_judge_stay_out_and_are_counted(run):
    unseen = judged(run, nli=0.7)
    seen = judged(run, nli=0.7, grammar=0.9)
    found = preview(run, {"nli": 0.9})
    assert (found.n_back, found.n_unjudged) == (1, 1)
    move_thresholds(make_member(run.project, Role.RESEARCHER), run, {"nli": 0.9})
    assert state_of(unseen, seen) == [C.FILTERED_OUT, C.QUEUED]


def test_changed_thresholds_are_audited_as_a_whole_and_per_candidate(run, owner):
    back, stays, leaves = judged(run, 0.6, 0.9), judged(run, 0.1, 0.95), judged(run, 0.1, 0.82)
    done = move_thresholds(owner, run, {"nli": 0.7, "grammaticality": 0.9})
    assert (done.n_back, done.n_leave) == (1, 1)
    assert state_of(back, stays, leaves) == [C.QUEUED, C.QUEUED, C.FILTERED_OUT]
    run.refresh_from_db()
    assert run.thresholds == {"nli": 0.7, "grammaticality": 0.9}
    rows = {(e.action, e.target_id): e for e in AuditEvent.objects.all()}
    assert rows["readmit", str(back.pk)].to_state == C.QUEUED
    assert rows["hold_back", str(leaves.pk)].reason == "grammaticality"
    whole = rows["generation.move_thresholds", str(run.pk)]
    assert whole.actor == owner
    assert whole.details == {"before": {}, "thresholds": {"nli": 0.7, "grammaticality": 0.9}, "came_back": 1, "left": 1}
    assert len(rows) == 3
    assert Candidate.objects.get(pk=leaves.pk).rejected_by == ["grammaticality"]
    # What the filters said in the run is provenance and stays; moving back brings everything back.
    assert FilterScore.objects.filter(candidate=back, filter="nli", passed=False).exists()
    move_thresholds(owner, run, {})
    assert state_of(back, stays, leaves) == [C.FILTERED_OUT, C.QUEUED, C.QUEUED]


@pytest.mark.parametrize(
    ("began", "moved", "clip", "states"),
    [
        (5, 1.0, False, {C.QUEUED, C.FILTERED_OUT}),
        (1, 5.0, False, {C.QUEUED}),
        # What the last filter was never asked about stays out.
        (1, 5.0, True, {C.QUEUED, C.FILTERED_OUT}),
    ],
)
def test_a_resumed_run_applies_the_changed_thresholds_to_new_candidates(
    project, owner, monkeypatch, began, moved, clip, states
):
    monkeypatch.setattr("generation.jobs.BATCH", 4)
    counts = ("once", "three times", "five times", "two times") * 4
    for n, count in enumerate(counts):
        make_caption(make_video(project), f"man number {n} claps exactly {count}.")
    filters = {"minimal_edit": {"max_words": began, "entities": "free"}} | ({"frequency_clipping": {}} if clip else {})
    run = start_run(owner, project, FoilRequest(subtest=make_subtest(project), method="number", filters=filters))
    real, calls = jobs.store_batch, []

    def failing_once(*args):
        if len(calls) == 1:
            raise GenerationError("the disk is full")
        calls.append(args)
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "store_batch", failing_once)
        with pytest.raises(GenerationError, match="the disk is full"):
            run_now(run.job)
    run.refresh_from_db()
    assert run.job.state == JobState.FAILED
    old = set(Candidate.objects.filter(group__run=run).values_list("pk", flat=True))
    move_thresholds(owner, run, {"minimal_edit": moved})
    assert run_now(resume_run(owner, run).job).state == JobState.DONE
    run.refresh_from_db()
    new = Candidate.objects.filter(group__run=run).exclude(pk__in=old)
    assert {candidate.state for candidate in new} == states
    found = preview(run, run.thresholds)
    assert (found.n_leave, found.n_back) == (0, 0)
    for score in FilterScore.objects.filter(candidate__in=new, filter="minimal_edit").select_related("candidate"):
        assert score.passed == (score.score <= began)
        if score.score > moved:
            assert score.candidate.rejected_by == ["minimal_edit"]


def test_the_next_claim_gets_only_candidates_that_pass_the_thresholds(run, owner):
    editor = make_member(run.project, Role.ANNOTATOR)
    leaves, back = judged(run, 0.4, 0.9), judged(run, 0.6, 0.9)
    make_tasks(run.project)
    assert Task.objects.get(state=TaskState.OPEN).group == leaves.group
    move_thresholds(owner, run, {"nli": 0.3})
    make_tasks(run.project)
    assert not Task.objects.filter(state=TaskState.OPEN).exists()
    move_thresholds(owner, run, {"nli": 0.7})
    make_tasks(run.project)
    groups = set(Task.objects.filter(state=TaskState.OPEN).values_list("group", flat=True))
    assert groups == {leaves.group_id, back.group_id}
    assert claim(editor, run.project, Stage.EDIT) is not None


def test_work_that_people_have_started_on_does_not_change(run, owner):
    group = make_group(run)
    in_hand, rest = judged(run, 0.4, 0.9, group=group), judged(run, 0.6, 0.9, group=group)
    editor = make_member(run.project, Role.ANNOTATOR)
    make_tasks(run.project)
    claim(editor, run.project, Stage.EDIT)
    assert state_of(in_hand) == [C.EDITING]
    # Only now, or the shuffle would say which of the two groups is begun.
    other = judged(run, 0.4, 0.9)
    make_tasks(run.project)
    found = preview(run, {"nli": 0.3})
    assert (found.n_leave, preview(run, {"nli": 0.9}).n_begun) == (1, 1)
    move_thresholds(owner, run, {"nli": 0.3})
    assert state_of(in_hand, rest, other) == [C.EDITING, C.FILTERED_OUT, C.FILTERED_OUT]
    move_thresholds(owner, run, {"nli": 0.9})
    assert state_of(in_hand, rest, other) == [C.EDITING, C.FILTERED_OUT, C.QUEUED]


def test_without_an_edit_stage_restored_candidates_wait_for_review(db):
    project = make_project(edit_stage=False)
    run = make_run(make_subtest(project), method="mask_fill", filters=FILTERS)
    waits, back = judged(run, 0.4, 0.9, state=C.IN_REVIEW), judged(run, 0.6, 0.9)
    tasked = judged(run, 0.4, 0.9, state=C.IN_REVIEW)
    type(tasked.group).objects.filter(pk=tasked.group_id).update(tasked=True)
    owner = make_member(project, Role.RESEARCHER)
    move_thresholds(owner, run, {"nli": 0.3})
    assert state_of(waits, back, tasked) == [C.FILTERED_OUT, C.FILTERED_OUT, C.IN_REVIEW]
    move_thresholds(owner, run, {"nli": 0.7})
    assert state_of(waits, back, tasked) == [C.IN_REVIEW, C.IN_REVIEW, C.IN_REVIEW]
    make_tasks(project)
    assert Task.objects.filter(stage=Stage.REVIEW, candidate=back).exists()


def test_a_threshold_does_not_restore_what_a_selection_held_back(run):
    judged(run, 0.4, 0.9, state=C.FILTERED_OUT, held_back_by="balance")
    found = preview(run, {"nli": 0.9})
    assert (found.n_back, found.n_held_back) == (0, 1)


def test_invalid_thresholds_are_refused_with_the_reason(run, owner):
    judged(run, 0.4, 0.9)
    with pytest.raises(GenerationError, match="duplicate has no threshold"):
        preview(run, {"duplicate": 1.0})
    with pytest.raises(GenerationError, match="a number"):
        preview(run, {"nli": float("nan")})
    with pytest.raises(GenerationError, match="These thresholds change no verdict"):
        move_thresholds(owner, run, {})
    with pytest.raises(AccessDenied):
        move_thresholds(make_member(run.project, Role.REVIEWER), run, {"nli": 0.1})
    run.job = Job.objects.create(dotted="x", target_id=1, state=JobState.RUNNING)
    with pytest.raises(GenerationError, match="still generating"):
        preview(run, {})


@pytest.mark.parametrize(
    ("slug", "params", "moves"),
    [
        ("nli", {"max_entailment": 0.5}, True),
        ("nli", {"max_entailment": 0.0}, False),
        ("nli", {}, False),
        ("perplexity", {"max_change": 0.6, "wide_change": 1.4, "max_perplexity": 750.0}, False),
        ("perplexity", {"max_change": 0.6, "wide_change": 1.4, "max_perplexity": 0.0}, True),
        ("minimal_edit", {"max_words": 1, "entities": "free"}, True),
        ("minimal_edit", {"max_words": 1, "entities": "keep"}, False),
        ("grammaticality", {"min": 0.8}, True),
    ],
)
def test_a_threshold_moves_only_where_the_score_alone_decides(slug, params, moves):
    assert list(movable([{"slug": slug, "params": params}])) == [slug] * moves


def test_a_foil_that_passed_by_more_than_its_score_is_not_held_back(project, owner):
    """Perplexity 190 after 100: a change of .9, and low enough for the wide bar."""
    params = {"max_change": 0.6, "wide_change": 1.4, "max_perplexity": 750.0}
    verdict = perplexity.verdict({"caption": 100.0, "foil": 190.0}, params={**params, "formula": "corrected"})
    assert verdict.passed
    filters = [{"slug": "perplexity", "params": params, "version": "1"}]
    run = make_run(make_subtest(project), method="mask_fill", filters=filters)
    passed = make_candidate(make_group(run), state=C.QUEUED)
    FilterScore.objects.create(
        run=run, candidate=passed, filter="perplexity", filter_version="1", score=verdict.score, passed=True
    )
    with pytest.raises(GenerationError, match="perplexity has no threshold in this run"):
        move_thresholds(owner, run, {"perplexity": 0.7})
    assert state_of(passed) == [C.QUEUED]


def test_a_sheet_is_read_again_only_after_a_job_added_candidates(run, django_assert_num_queries):
    judged(run, 0.4, 0.9)
    run.job = Job.objects.create(dotted="x", target_id=1, state=JobState.DONE, finished_at="2026-01-01T00:00Z")
    run.job.refresh_from_db()
    assert len(run_scores(run).ids) == 1
    with django_assert_num_queries(0):
        run_scores(run)
    judged(run, 0.4, 0.9)
    assert len(run_scores(run).ids) == 1
    Job.objects.update(finished_at="2026-01-02T00:00Z")
    run.job.refresh_from_db()
    assert len(run_scores(run).ids) == 2


class TestPage:
    def url(self, run):
        return reverse("generation:thresholds", args=[run.project.slug, run.pk])

    def test_the_page_shows_sliders_drawings_counts_and_twenty_examples(self, client, run, owner):
        for at in range(30):
            judged(run, at / 30, 0.9)
        client.force_login(owner)
        answer = client.get(self.url(run), {"nli": "0.9"})
        page = read_page(answer)
        inputs = [field.attributes for field in page.all("input")]
        (slider,) = (field for field in inputs if field.get("id") == "range-nli")
        assert (slider["type"], slider["data-mirrors"], page.fields["nli"]) == ("range", "id_nli", "0.9")
        assert ("nli", "text") in [(field.get("name"), field.get("type")) for field in inputs]
        # 27 of 30 lie under .9, 15 of them did under .5: the 12 that come back stand first among the examples.
        assert answer.context["preview"].would_pass == 27
        assert len(answer.context["examples"]["pass"]) == 20
        assert sum(row.comes_back for row in answer.context["examples"]["pass"]) == 12
        assert "style=" not in answer.content.decode()

    def test_a_filter_that_depends_on_more_than_its_score_has_no_slider(self, client, run, owner):
        run.filters = [{"slug": "nli", "params": {"max_entailment": 0.0}, "version": "1"}, *FILTERS[1:]]
        run.save()
        judged(run, 0.4, 0.9)
        client.force_login(owner)
        answer = client.get(self.url(run), {"nli": "0"})
        html = answer.content.decode()
        assert 'id="range-nli"' not in html
        assert "This filter has no threshold that you can change." in html
        assert answer.context["preview"].would_pass == 1

    def test_htmx_gets_only_the_preview_and_the_drawings(self, client, run, owner):
        judged(run, 0.4, 0.9)
        client.force_login(owner)
        html = client.get(self.url(run), {"nli": "0.9"}, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in html
        assert 'id="drawing-nli" hx-swap-oob="true"' in html

    def test_the_preview_needs_the_same_few_queries_for_every_run(self, client, run, owner, django_assert_num_queries):
        client.force_login(owner)
        run.job = Job.objects.create(dotted="x", target_id=1, state=JobState.DONE, finished_at="2026-01-01T00:00Z")
        run.save()
        for n in (1, 30):
            for at in range(n):
                judged(run, at / 30, 0.9)
            Job.objects.update(finished_at=f"2026-01-0{n % 9 + 1}T00:00Z")
            client.get(self.url(run))
            # Session, person, project, roles, run, three for the states, examples.
            with django_assert_num_queries(9):
                client.get(self.url(run), {"nli": "0.9"}, headers={"HX-Request": "true"})

    def test_applying_thresholds_shows_how_many_candidates_moved(self, client, run, owner):
        back = judged(run, 0.6, 0.9)
        client.force_login(owner)
        answer = client.post(self.url(run), {"nli": "0.7", "apply": "1"}, follow=True)
        assert "1 restored, 0 held back." in answer.content.decode()
        assert state_of(back) == [C.QUEUED]
        assert answer.context["preview"].at == {"nli": 0.7}
        again = client.post(self.url(run), {"nli": "0.7", "apply": "1"})
        assert again.status_code == 422
        assert "These thresholds change no verdict" in again.content.decode()

    def test_a_run_in_progress_asks_to_wait(self, client, run, owner):
        run.job = Job.objects.create(dotted="x", target_id=1, state=JobState.RUNNING)
        run.save()
        client.force_login(owner)
        assert "still generating" in client.get(self.url(run)).content.decode()
