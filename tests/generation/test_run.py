"""A run from the researcher's click to stored candidates, on the real database."""

import json

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import Caption, MediaState, Video
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.lease import claim
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.core.text.diff import Edit, apply_edits
from foilworks.core.text.registry import RegistryError
from generation.actions.runs import start_run
from generation.batch_storage import store_batch
from generation.errors import GenerationError
from generation.jobs import run_generation
from generation.methods.number import VERSION
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun
from generation.run_captions import RunCaptions, captions_to_learn_from
from generation.run_counts import candidates_of, filter_counts, state_counts
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

NO_NUMBER = "it has no number that counts a thing"

pytestmark = pytest.mark.django_db

TEXTS = (
    "a man claps exactly three times.",
    "a woman claps exactly five times.",
    "a dog jumps exactly once.",
    "a cat jumps exactly two times.",
    "nobody moves.",
)


@pytest.fixture
def subtest(project):
    return make_subtest(project, name="counting")


@pytest.fixture
def captions(project):
    """Which foil is drawn follows from the keys: the same in each run of the tests."""
    return [
        make_caption(make_video(project, key=f"video {n}"), text, key=f"caption {n}") for n, text in enumerate(TEXTS)
    ]


PLAIN = {"identical": {}, "duplicate": {}, "minimal_edit": {}}


def start(person, subtest, method="number", filters=PLAIN, **options):
    """A run without the draw, unless `filters` is None."""
    options["filters"] = filters
    return start_run(person, subtest.project, FoilRequest(subtest=subtest, method=method, **options))


class Killed(BaseException):
    """What no code of a job expects, as a killed process does not."""


def killed_after_a_batch(run: GenerationRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's worker stores one batch and dies."""
    calls = []

    def killed(*args):
        if calls:
            raise Killed
        calls.append(args)
        store_batch(*args)

    with monkeypatch.context() as patched:
        patched.setattr("generation.jobs.store_batch", killed)
        with pytest.raises(Killed):
            run_now(run.job)


def finish(run: GenerationRun) -> GenerationRun:
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def test_a_run_stores_a_group_per_caption_and_why_one_has_no_foil(owner, subtest, captions):
    run = finish(start(owner, subtest))
    groups = {group.caption_id: group for group in CandidateGroup.objects.filter(run=run)}
    assert set(groups) == {caption.pk for caption in captions}
    assert groups[captions[4].pk].skipped_why == NO_NUMBER
    assert run.skipped == {NO_NUMBER: 1}
    assert Candidate.objects.filter(group__run=run).count() == 4
    assert (run.job.done, run.job.total) == (5, 5)


def test_every_candidate_carries_its_provenance(owner, subtest, captions):
    run = finish(start(owner, subtest, seed=7))
    assert run.method_version == VERSION
    assert [row["version"] for row in run.filters] == ["1", "1", "1"]
    for candidate in Candidate.objects.filter(group__run=run).select_related("group__caption"):
        caption = candidate.group.caption.text
        assert (candidate.method, candidate.method_version, candidate.mode, candidate.seed) == (
            "number",
            VERSION,
            "corrected",
            7,
        )
        edits = [Edit(*edit) for edit in candidate.edits]
        assert apply_edits(caption, edits) == candidate.text
        assert (candidate.span_start, candidate.span_end) == (edits[0].start, edits[-1].end)
        assert caption[candidate.span_start : candidate.span_end] == candidate.source
        assert candidate.facts["count"] != candidate.facts["foil_count"]
        assert {score.filter for score in candidate.filter_scores.all()} == {"identical", "duplicate", "minimal_edit"}


def test_survivors_are_queued_rejected_ones_keep_reasons_and_moves_are_audited(owner, subtest, captions):
    run = finish(start(owner, subtest, filters={"minimal_edit": {"max_words": "1"}}))
    rejected = Candidate.objects.filter(group__run=run, state=CandidateState.FILTERED_OUT)
    # "exactly once" becomes two words, and the caption that got 1 in trade changes "times" too.
    assert {candidate.rejected_by[0] for candidate in rejected} == {"minimal_edit"}
    assert dict(state_counts(run)) == {"filtered_out": rejected.count(), "queued": 4 - rejected.count()}
    assert rejected.count() >= 1
    assert [(row.slug, row.judged, row.rejected) for row in filter_counts(run)] == [
        ("minimal_edit", 4, rejected.count())
    ]
    for candidate in Candidate.objects.filter(group__run=run):
        (event,) = AuditEvent.objects.filter(target_type="generation.candidate", target_id=str(candidate.pk))
        assert (event.from_state, event.to_state, event.actor) == ("generated", candidate.state, None)
        assert event.action == ("reject" if candidate.rejected_by else "queue")
        assert event.reason == ", ".join(candidate.rejected_by)


def test_without_an_edit_stage_candidates_go_directly_to_review(owner, project, subtest, captions):
    project.edit_stage = False
    project.save()
    run = finish(start(owner, subtest))
    assert dict(state_counts(run)) == {"in_review": 4}


def test_a_run_for_people_makes_blank_groups_with_the_subtests_foil_count(owner, project, captions):
    feint = make_subtest(project, foils_per_item=5)
    run = finish(start(owner, feint, "person"))
    assert run.params == {"foils": 5}
    assert CandidateGroup.objects.filter(run=run, skipped_why="").count() == 5
    assert not Candidate.objects.filter(group__run=run).exists()
    with pytest.raises(GenerationError, match="needs 5 foils per item"):
        start(owner, feint, "person", params={"foils": 3})


def test_the_same_seed_in_another_database_order_makes_the_same_foils(owner, subtest):
    other = make_project()
    other_owner, other_subtest = make_member(other, Role.RESEARCHER), make_subtest(other)
    for number, text in enumerate(TEXTS):
        make_caption(make_video(subtest.project, key=f"clip {number}"), text)
    for number, text in reversed(list(enumerate(TEXTS))):
        make_caption(make_video(other, key=f"clip {number}"), text)
    made = []
    for person, target in ((owner, subtest), (other_owner, other_subtest)):
        run = finish(start(person, target, seed=3))
        made.append(sorted(Candidate.objects.filter(group__run=run).values_list("text", flat=True)))
    assert made[0] == made[1]


def test_rerunning_the_job_changes_nothing(owner, subtest, captions):
    run = finish(start(owner, subtest))
    before = list(Candidate.objects.order_by("pk").values_list("pk", "text", "state"))
    audited = AuditEvent.objects.count()
    Job.objects.filter(pk=run.job.pk).update(state=JobState.WAITING)
    run_generation(run.pk, claim(str(run.job.pk)))
    assert list(Candidate.objects.order_by("pk").values_list("pk", "text", "state")) == before
    assert AuditEvent.objects.count() == audited


def test_a_killed_run_resumes_and_ends_like_an_uninterrupted_one(owner, subtest, captions, monkeypatch):
    monkeypatch.setattr("generation.jobs.BATCH", 2)
    whole = finish(start(owner, subtest, seed=1))
    expected = sorted(Candidate.objects.filter(group__run=whole).values_list("text", flat=True))
    FilterScore.objects.all().delete()
    Candidate.objects.all().delete()
    CandidateGroup.objects.all().delete()

    run = start(owner, subtest, seed=1)
    killed_after_a_batch(run, monkeypatch)
    assert CandidateGroup.objects.filter(run=run).count() == 2
    finish(run)
    assert sorted(Candidate.objects.filter(group__run=run).values_list("text", flat=True)) == expected


COUNTS = ("three", "five", "two", "four", "six", "seven", "three", "five", "two", "two", "eight", "nine")


@pytest.mark.parametrize("change", [{"doubt_settled": "dropped"}, {"video__media_state": MediaState.TAKEN_DOWN}])
def test_a_killed_counting_run_resumes_with_its_original_plan(owner, project, subtest, monkeypatch, change):
    monkeypatch.setattr("generation.jobs.BATCH", 4)
    texts = [f"man number {n} claps exactly {count} times." for n, count in enumerate(COUNTS)]
    captions = [make_caption(make_video(project), text) for text in texts]
    Video.objects.filter(captions=captions[2]).update(media_state=MediaState.BROKEN)
    other = make_subtest(project)
    whole = dict(Candidate.objects.filter(group__run=finish(start(owner, other))).values_list("group__caption", "text"))
    assert len(whole) > 8

    run = start(owner, subtest)
    killed_after_a_batch(run, monkeypatch)
    dropped = captions[7]
    for field, value in change.items():
        target = Video.objects.filter(captions=dropped) if "__" in field else Caption.objects.filter(pk=dropped.pk)
        target.update(**{field.removeprefix("video__"): value})
    # Whole again meanwhile: it was out when the run began.
    Video.objects.filter(captions=captions[2]).update(media_state=MediaState.READY)
    made = dict(Candidate.objects.filter(group__run=finish(run)).values_list("group__caption", "text"))
    assert made == {caption: text for caption, text in whole.items() if caption != dropped.pk}


def test_captions_imported_after_the_start_are_not_part_of_the_run(owner, project, subtest, captions):
    run = start(owner, subtest)
    make_caption(make_video(project), "a bird sings exactly four times.")
    finish(run)
    assert CandidateGroup.objects.filter(run=run).count() == 5


def test_a_second_run_rejects_what_the_first_one_already_proposed(owner, subtest, captions):
    finish(start(owner, subtest, seed=1))
    again = finish(start(owner, subtest, seed=1))
    assert dict(state_counts(again)) == {"filtered_out": 4}
    assert {tuple(c.rejected_by) for c in Candidate.objects.filter(group__run=again)} == {("duplicate",)}


def test_a_foil_of_an_item_is_not_proposed_again(owner, subtest, project):
    caption = make_caption(make_video(project), "a red circle moves.")
    make_item(subtest, caption, ("A red square moves",))
    run = finish(start(owner, subtest, "fake", params={"lexicon": "circle:square"}))
    assert Candidate.objects.get(group__run=run).rejected_by == ["duplicate"]


def test_the_selection_filters_captions_and_excludes_broken_media(owner, project, subtest):
    kept = make_caption(make_video(project, split="test"), TEXTS[0], key="direction-1")
    make_caption(make_video(project, split="train"), TEXTS[1], key="direction-2")
    make_caption(make_video(project, split="test"), TEXTS[2], key="object-1")
    make_caption(make_video(project, split="test", media_state=MediaState.BROKEN), TEXTS[3], key="direction-3")
    by_prefix = finish(start(owner, subtest, "fake", selection={"split": "test", "key_prefix": "direction-"}))
    by_keys = finish(start(owner, subtest, "fake", selection={"caption_keys": ["direction-1", "direction-3"]}))
    for run in (by_prefix, by_keys):
        assert [group.caption_id for group in CandidateGroup.objects.filter(run=run)] == [kept.pk]


def test_a_caption_of_a_video_that_was_taken_down_is_never_a_foil(owner, subtest, project):
    captions = [make_caption(make_video(project), text) for text in TEXTS[:3]]
    Video.objects.filter(captions=captions[0]).update(media_state=MediaState.TAKEN_DOWN)
    run = finish(start(owner, subtest, "random_caption", params={"foils": 1}, filters={}))
    made = Candidate.objects.filter(group__run=run).values_list("group__caption__text", "text")
    assert set(made) == {(TEXTS[1], TEXTS[2]), (TEXTS[2], TEXTS[1])}


# What was dropped with a caption that was found false is true all the same.
@pytest.mark.parametrize(
    ("settled", "flagged", "rejected_by"),
    [
        ("corrected", True, []),
        ("corrected", False, []),
        ("dropped", True, []),
        ("dropped", False, ["other_captions"]),
        ("confirmed", True, ["other_captions"]),
        ("", True, ["other_captions"]),
    ],
)
def test_a_retracted_caption_does_not_make_a_foil_true(owner, subtest, project, settled, flagged, rejected_by):
    caption = make_caption(make_video(project), "a red circle moves.")
    make_caption(caption.video, "a red square moves.", doubt_settled=settled, flagged_false=flagged)
    run = finish(
        start(
            owner,
            subtest,
            "fake",
            params={"lexicon": "circle:square"},
            filters={"other_captions": {}},
            selection={"caption_keys": [caption.key]},
        )
    )
    assert Candidate.objects.get(group__run=run).rejected_by == rejected_by


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "nmber"}, RegistryError, "unknown method 'nmber'; choose one of: .*, fake, .*, number"),
        ({"params": {"foil": 1}}, RegistryError, "has no parameter 'foil'; it takes: foils"),
        ({"params": {"split": "hard"}}, RegistryError, "give one of: any, easy, difficult"),
        ({"filters": {"nil": {}}}, RegistryError, "unknown filter 'nil'"),
        ({"filters": {"minimal_edit": {"max_words": "few"}}}, RegistryError, "give a whole number"),
        ({"mode": "published"}, GenerationError, "choose one of: corrected, paper"),
        ({"seed": -1}, GenerationError, "give a whole number from 0"),
        ({"selection": {"split": "dev"}}, GenerationError, "choose one of: train, val, test"),
        ({"selection": {"colour": "red"}}, GenerationError, "cannot be selected by colour"),
        ({"selection": {"key_prefix": "a\x00"}}, GenerationError, "NUL character or invalid text"),
        ({"selection": {"caption_keys": ["\ud800"]}}, GenerationError, "NUL character or invalid text"),
        ({"selection": {"caption_keys": [{}]}}, GenerationError, "NUL character or invalid text"),
        ({"params": {"foils": "a\x00"}}, RegistryError, "parameter 'foils'"),
        ({"selection": {"split": "val"}}, None, ""),
        ({"selection": {"key_prefix": "none"}}, GenerationError, "the run has no captions"),
    ],
)
def test_invalid_parameters_are_refused_with_the_remedy(owner, project, subtest, options, error, message):
    make_caption(make_video(project, split="val"), TEXTS[0])
    if error is None:
        assert start(owner, subtest, **options).pk
        return
    with pytest.raises(error, match=message):
        start(owner, subtest, **options)
    assert not GenerationRun.objects.exists()
    assert not Job.objects.exists()


def test_a_parameter_out_of_range_is_refused_before_there_is_a_job(owner, subtest, captions):
    with pytest.raises(GenerationError, match="parameter 'max' is 50; give a whole number from 2 to 20"):
        start(owner, subtest, params={"max": 50})
    assert not GenerationRun.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("selection", "n"), [({"limit": 2}, 2), ({"limit": 9}, 6), ({"limit": 1, "split": "train"}, 1)]
)
def test_a_limit_ends_the_run_after_so_many_captions(owner, project, subtest, captions, selection, n):
    make_caption(make_video(project, split="train"), "a dog barks exactly three times.")
    run = start(owner, subtest, selection=selection)
    assert len(RunCaptions(run)) == n
    assert [caption.text for caption in captions_to_learn_from(run)] == ["a dog barks exactly three times."]


def test_a_run_can_leave_out_the_captions_that_have_a_foil(owner, project, subtest, captions):
    run_now(start(owner, subtest).job)
    made = {row.caption_id for row in CandidateGroup.objects.filter(candidates__isnull=False)}
    item = make_item(subtest)
    rest = start(owner, subtest, method="person", selection={"without_foil": True})
    run_now(rest.job)
    assert made
    assert set(rest.groups.values_list("caption", flat=True)) == {one.pk for one in captions} - made - {item.caption_id}
    with pytest.raises(GenerationError, match="no captions"):
        start(owner, subtest, method="person", selection={"without_foil": True})
    elsewhere = start(owner, make_subtest(project), selection={"without_foil": True, "limit": 2})
    assert len(RunCaptions(elsewhere)) == 2


@pytest.mark.parametrize("limit", [0, "5", 2.5])
def test_an_invalid_limit_of_captions_is_refused(owner, subtest, captions, limit):
    with pytest.raises(GenerationError, match="limit"):
        start(owner, subtest, selection={"limit": limit})


def test_only_researchers_of_the_project_start_runs(project, subtest, captions):
    for role in (Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR):
        with pytest.raises(AccessDenied):
            start(make_member(project, role), subtest)
    with pytest.raises(AccessDenied):
        start(make_member(make_project(), Role.RESEARCHER), subtest)


def test_a_subtest_of_another_project_is_refused(owner, project, captions):
    with pytest.raises(GenerationError, match="belongs to another project"):
        start_run(owner, project, FoilRequest(subtest=make_subtest(make_project()), method="fake"))


def test_a_run_page_needs_the_same_queries_for_any_number_of_candidates(
    owner, project, subtest, django_assert_max_num_queries
):
    for number in range(30):
        make_caption(make_video(project), f"a red circle moves {number}.")
    run = finish(start(owner, subtest, "fake", params={"lexicon": "circle:square"}))
    with django_assert_max_num_queries(4):
        state_counts(run)
        filter_counts(run)
        shown = list(candidates_of(run).order_by("group", "rank", "pk")[:25])
        assert all(candidate.group.caption.text and candidate.filter_scores.all() for candidate in shown)


def test_a_batch_needs_the_same_queries_for_any_captions(owner, project, subtest, django_assert_max_num_queries):
    for number in range(60):
        make_caption(make_video(project), f"a red circle moves {number}.")
    run = start(owner, subtest, "fake", params={"lexicon": "circle:square"})
    with django_assert_max_num_queries(34):
        finish(run)
    assert Candidate.objects.filter(group__run=run).count() == 60


def test_the_command_runs_and_counts(project, subtest, captions, capsys):
    call_command(
        "generate",
        project=project.slug,
        method="number",
        set=["foils=1", "minimal_edit.max_words=9"],
        filters=",".join(PLAIN),
        sync=True,
        as_json=True,
    )
    result = json.loads(capsys.readouterr().out)
    assert result["state"] == "done"
    assert result["captions"] == 5
    assert result["states"] == {"queued": 4}
    assert result["skipped"] == {NO_NUMBER: 1}
    run = GenerationRun.objects.get(pk=result["run"])
    assert run.filters[2] == {
        "slug": "minimal_edit",
        "params": {"max_words": 9, "entities": "keep"},
        "version": "1",
    }


def test_the_command_takes_only_captions_without_a_foil_and_only_so_many(project, subtest, captions, capsys):
    options = {"project": project.slug, "method": "number", "sync": True, "as_json": True, "filters": ",".join(PLAIN)}
    call_command("generate", **options, limit=2)
    assert json.loads(capsys.readouterr().out)["captions"] == 2
    call_command("generate", **options, without_foil=True)
    result = json.loads(capsys.readouterr().out)
    assert result["captions"] == 3
    selection = GenerationRun.objects.get(pk=result["run"]).selection
    assert (selection["without_foil"], len(selection["with_foil"])) == (True, 2)


def test_the_command_explains_a_project_without_subtests(capsys):
    make_project(slug="fresh")
    with pytest.raises(SystemExit):
        call_command("generate", project="fresh", method="number", subtest="seasons")
    said = capsys.readouterr().err
    assert "the project 'fresh' has no subtest yet" in said
    assert "Content → Subtests, or by POST /api/v1/projects/fresh/subtests" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"project": "nowhere"}, "project 'nowhere' not found"),
        ({"subtest": "other"}, "subtest 'other' not found; give --subtest, one of: counting"),
        ({"set": ["foils"]}, "--set 'foils' is not valid; write it as --set name=value"),
        ({"set": ["nli.x=1"]}, "the filter 'nli' is not in --filters"),
    ],
)
def test_the_command_names_the_error_in_one_line(project, subtest, captions, capsys, options, message):
    with pytest.raises(SystemExit) as exit_:
        call_command("generate", **{"project": project.slug, "method": "number", **options})
    assert exit_.value.code == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line


def test_a_drawn_run_holds_candidates_until_all_are_stored(owner, subtest, captions, monkeypatch):
    run = start(owner, subtest, filters=None)
    monkeypatch.setattr("generation.jobs.BATCH", 2)
    killed_after_a_batch(run, monkeypatch)
    candidates = Candidate.objects.filter(group__run=run)
    assert set(candidates.values_list("state", flat=True)) == {CandidateState.GENERATED}
    finish(run)
    drawn = candidates.filter(state=CandidateState.QUEUED)
    # Four captions with different counts: the coin takes one of a pair of opposites, or both.
    assert 1 <= drawn.count() <= 4
    assert drawn.values("group").distinct().count() == drawn.count()
    held_back = candidates.exclude(pk__in=drawn)
    assert set(held_back.values_list("state", "held_back_by")) == {(CandidateState.FILTERED_OUT, "draw")}
    scores = FilterScore.objects.filter(run=run, filter="draw")
    assert scores.count() == candidates.count()
    assert scores.filter(passed=True).count() == drawn.count()
    moves = AuditEvent.objects.filter(action__in=("queue", "reject")).values_list("action", flat=True)
    assert sorted(moves) == ["queue"] * drawn.count() + ["reject"] * held_back.count()


def test_a_drawn_run_is_the_same_after_a_kill(owner, project, captions, monkeypatch):
    drawn = []
    for name in ("whole", "killed"):
        # Each in a subtest of its own: stored foils of a subtest count.
        run = start(owner, make_subtest(project, name=name), filters=None, seed=2)
        if name == "killed":
            monkeypatch.setattr("generation.jobs.BATCH", 2)
            killed_after_a_batch(run, monkeypatch)
        finish(run)
        passed = Candidate.objects.filter(group__run=run, state=CandidateState.QUEUED)
        drawn.append(sorted(passed.values_list("text", flat=True)))
    assert drawn[0] == drawn[1]


def test_a_draw_makes_up_for_foils_of_the_subtest(owner, project, subtest):
    """Sixteen items have "up" in the caption: the run draws captions with "down" first."""
    for n in range(16):
        make_item(subtest, make_caption(make_video(project), f"bird {n} flies up."), (f"bird {n} flies down.",))
    for n in range(6):
        for word in ("up", "down"):
            make_caption(make_video(project, split="test"), f"kite {n} flies {word}.")
    filters = {"draw": {"context": "none"}}
    run = start(
        owner, subtest, "preposition", filters=filters, params={"pairs": "up:down"}, selection={"split": "test"}
    )
    finish(run)
    drawn = Candidate.objects.filter(group__run=run, state=CandidateState.QUEUED)
    assert sorted(drawn.values_list("source", flat=True)) == ["down"] * 6


def test_the_page_of_a_drawn_run_says_why_captions_are_left_out(owner, client, subtest, captions):
    run = finish(start(owner, subtest, filters=None))
    client.force_login(owner)
    answer = client.get(f"/projects/{subtest.project.slug}/runs/{run.pk}/")
    drawn = Candidate.objects.filter(group__run=run, state=CandidateState.QUEUED).count()
    assert sum(n for _, n in answer.context["left_out"]) == 4 - drawn
    assert f"/projects/{subtest.project.slug}/pairs/" in answer.content.decode()
