"""Captions made for a project from its page: a look first, stored when somebody says so, once and for good."""

import hashlib

import pytest
from django.core.management import call_command
from django.urls import reverse

from foilworks.core.corpus.models import Caption, MediaState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.core.text.registry import RegistryError
from generation import jobs
from generation.actions.runs import make_captions, preview_captions
from generation.errors import GenerationError
from generation.models import CaptionRun
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    make_caption(make_video(project, split="train"), "a man folds a red shirt")
    make_caption(make_video(project), "a man opens the door")
    make_caption(make_video(project), "nobody moves")
    return project


def looked_at(person, project, **options):
    run = preview_captions(person, project, **{"maker": "cos_caption", "params": {"template": "action"}, **options})
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def stored(person, run):
    run_now(make_captions(person, run).job)
    run.refresh_from_db()
    return run


def texts(project):
    return set(Caption.objects.filter(video__project=project).values_list("text", flat=True))


MADE = {"Someone folds the red shirt.", "Someone opens the door."}


def test_a_preview_shows_the_first_captions_and_stores_none(owner, project):
    before = texts(project)
    run = looked_at(owner, project)
    assert run.preview["made"] == [
        ["a man folds a red shirt", "Someone folds the red shirt."],
        ["a man opens the door", "Someone opens the door."],
    ]
    assert (run.preview["sources"], run.preview["n_made"]) == (3, 2)
    assert sum(run.preview["skipped"].values()) == 1
    assert texts(project) == before


def test_generated_captions_are_stored_with_their_facts_for_the_same_video(owner, project):
    run = stored(owner, looked_at(owner, project))
    assert (run.stored, run.known, sum(run.skipped.values())) == (2, 0, 1)
    assert texts(project) >= MADE
    made = Caption.objects.get(text="Someone folds the red shirt.")
    assert made.video.captions.filter(text="a man folds a red shirt").exists()
    assert made.facts["cos"]["verb"] == "fold"
    assert made.facts["maker"] == "cos_caption"
    actions = list(AuditEvent.objects.order_by("id").values_list("action", "actor"))
    assert actions == [("generation.preview_captions", owner.pk), ("generation.make_captions", owner.pk)]


def test_a_second_run_stores_no_caption_again(owner, project):
    stored(owner, looked_at(owner, project))
    # The made sentences are sources too: their own action caption is themselves.
    run = stored(owner, looked_at(owner, project))
    assert run.stored == 0
    assert run.known == 2
    with pytest.raises(GenerationError, match="already requested"):
        make_captions(owner, run)


class Killed(BaseException):
    """What no code of a job expects, as a killed process does not."""


def test_a_killed_job_resumes_after_the_stored_captions(owner, project, monkeypatch):
    monkeypatch.setattr("generation.jobs.CAPTIONS_PER_BATCH", 1)
    run = make_captions(owner, looked_at(owner, project))
    real, calls = jobs._store, []

    def stops(*args):
        calls.append(args)
        if len(calls) == 2:
            raise Killed
        real(*args)

    monkeypatch.setattr(jobs, "_store", stops)
    with pytest.raises(Killed):
        run_now(run.job)
    run.refresh_from_db()
    assert run.stored == 1
    run.job.refresh_from_db()
    run_now(run.job)
    run.refresh_from_db()
    # The second batch is asked for again, the first is not.
    assert len(calls) == 4
    assert (run.stored, run.known, sum(run.skipped.values())) == (2, 0, 1)


def test_videos_without_a_caption_give_their_class_label(owner, project):
    make_video(project, class_label="cut-keyboard")
    make_video(project, class_label="sleeping")
    run = looked_at(owner, project, maker="verb_noun_caption", params={}, sources="videos")
    assert run.preview["made"] == [["cut-keyboard", "cutting a keyboard"]]
    assert run.preview["sources"] == 2
    stored(owner, run)
    assert "cutting a keyboard" in texts(project)


def test_only_one_split_is_used(owner, project):
    assert looked_at(owner, project, split="train").preview["sources"] == 1


def test_the_reasons_shown_add_up_over_batches(monkeypatch):
    """Each names its own label, and a page shows no more than 30."""
    monkeypatch.setattr("generation.jobs.CAPTIONS_PER_BATCH", 20)
    project = make_project()
    owner = make_member(project, Role.RESEARCHER)
    for label in ["cut-keyboard", *(f"{a}q{b}ing-thing" for a in "bcdfghj" for b in "abcdefghij")]:
        make_video(project, class_label=label)
    run = stored(owner, looked_at(owner, project, maker="verb_noun_caption", params={}, sources="videos"))
    assert run.stored == 1
    for skipped in (run.preview["skipped"], run.skipped):
        assert (len(skipped), sum(skipped.values()), skipped["other reasons"]) == (31, 70, 40)


@pytest.mark.parametrize("settled", ["corrected", "dropped"])
def test_a_retracted_caption_is_not_a_source(owner, project, settled):
    Caption.objects.filter(text="a man opens the door").update(doubt_settled=settled)
    stored(owner, looked_at(owner, project))
    assert texts(project) & MADE == {"Someone folds the red shirt."}


@pytest.mark.parametrize("sources", ["captions", "videos"])
def test_a_video_that_was_taken_down_is_not_a_source(owner, project, sources):
    gone = make_video(project, class_label="opening", media_state=MediaState.TAKEN_DOWN)
    if sources == "captions":
        make_caption(gone, "a man shuts the window")
    else:
        make_video(project, class_label="cut-keyboard")
    run = looked_at(
        owner,
        project,
        maker={"captions": "cos_caption", "videos": "verb_noun_caption"}[sources],
        params={},
        sources=sources,
    )
    assert run.preview["sources"] == {"captions": 3, "videos": 1}[sources]
    stored(owner, run)
    assert not gone.captions.filter(facts__made_by_run=run.pk).exists()


def test_other_roles_and_invalid_parameters_are_refused(owner, project):
    with pytest.raises(AccessDenied):
        preview_captions(make_member(project, Role.REVIEWER), project, maker="cos_caption")
    with pytest.raises(RegistryError, match="unknown caption maker"):
        preview_captions(owner, project, maker="nothing")
    with pytest.raises(RegistryError, match="has no parameter"):
        preview_captions(owner, project, maker="cos_caption", params={"x": 1})
    empty = make_project()
    with pytest.raises(GenerationError, match="Import videos or captions first"):
        preview_captions(make_member(empty, Role.RESEARCHER), empty, maker="cos_caption")
    run = preview_captions(owner, project, maker="verb_noun_caption")
    with pytest.raises(GenerationError, match="Wait until it is done"):
        make_captions(owner, run)
    run_now(run.job)
    run.refresh_from_db()
    with pytest.raises(GenerationError, match="made no captions"):
        make_captions(owner, run)


class TestPages:
    def url(self, name, project, *args):
        return reverse(f"generation:{name}", args=[project.slug, *args])

    def test_from_the_form_to_stored_captions(self, client, owner, project):
        client.force_login(owner)
        page = client.get(self.url("captions", project), {"maker": "cos_caption"})
        assert b'name="maker-template"' in page.content
        data = {
            "maker": "cos_caption",
            "sources": "captions",
            "mode": "corrected",
            "seed": "0",
            "maker-template": "action",
        }
        answer = client.post(self.url("captions", project), data)
        run = CaptionRun.objects.get()
        assert answer["Location"] == self.url("caption_run", project, run.pk)
        assert b"hx-get" in client.get(answer["Location"]).content
        run_now(run.job)
        shown = client.get(answer["Location"]).content.decode()
        assert "Someone folds the red shirt." in shown
        assert client.get(answer["Location"], {"part": "1"})["HX-Refresh"] == "true"
        client.post(self.url("make_captions", project, run.pk))
        run.refresh_from_db()
        run_now(run.job)
        assert texts(project) >= MADE
        assert "Generate foils" in client.get(answer["Location"]).content.decode()
        assert "#1" in client.get(self.url("captions", project)).content.decode() or run.pk != 1

    def test_invalid_parameters_are_shown(self, client, owner, project):
        client.force_login(owner)
        data = {"maker": "count_template", "sources": "captions", "mode": "corrected", "seed": "0", "maker-max": "x"}
        answer = client.post(self.url("captions", project), data)
        assert answer.status_code == 422
        assert "Enter a whole number" in answer.content.decode()

    def test_the_pages_need_few_queries(self, client, owner, project, django_assert_max_num_queries):
        client.force_login(owner)
        for _ in range(5):
            looked_at(owner, project)
        for address in (self.url("captions", project), self.url("caption_run", project, CaptionRun.objects.first().pk)):
            client.get(address)
            with django_assert_max_num_queries(12):
                client.get(address)


def reworded(first_row):
    """What is made of one corpus whose captions begin at a row of their own."""
    project = make_project()
    owner = make_member(project, Role.RESEARCHER)
    text = "a child shuts the big box beside the couch"
    for n in range(8):
        video = make_video(project, key=f"reworded-{n}")
        make_caption(video, text, pk=first_row + n)
    stored(owner, looked_at(owner, project, maker="hard_positive", params={"tagger": "offline"}))
    rows = Caption.objects.filter(video__project=project, facts__maker="hard_positive").order_by("video__key")
    return [(row.video.key, row.text, row.facts["paraphrase_of"]) for row in rows]


def test_random_draws_depend_on_contents_and_not_on_row_numbers():
    first = reworded(10_000)
    assert first == reworded(20_000)
    key, _text, source = first[0]
    sha256 = hashlib.sha256(b"a child shuts the big box beside the couch").hexdigest()
    assert source == f"{key}/{sha256}"
    assert len({text for _, text, _ in first}) > 1


def test_a_command_stores_the_captions_of_a_project(project, capsys):
    call_command("caption", maker="cos_caption", project=project.slug, set=["template=action"])
    assert "2 new captions, 0 existing\n  skipped, 1: " in capsys.readouterr().out
    assert Caption.objects.filter(key__startswith="cos_caption-").count() == 2
    with pytest.raises(SystemExit):
        call_command("caption", maker="cos_caption", project=project.slug, out="x.jsonl")
    assert "--out: the captions of a project are stored in it; leave the option out" in capsys.readouterr().err


def test_a_run_can_be_limited_to_captions_by_the_start_of_their_id(project, capsys):
    call_command("caption", maker="cos_caption", project=project.slug, set=["template=action"])
    make_subtest(project, name="states")
    call_command("generate", project=project.slug, recipe="vilma-state-action", captions="cos_caption-", sync=True)
    assert "done; captions processed: 2\n" in capsys.readouterr().out
