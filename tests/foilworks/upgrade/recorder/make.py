"""Makes the installation: runs in the checkout of 4fafc4b, with that version's code and the helpers of its tests.

`python make.py OUT` fills FOILWORKS_HOME and the database, and writes OUT/world.json: the people, secrets and row ids
that the other scripts ask with. It names what 4fafc4b has: never edit it when a name of today changes.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django

django.setup()

import pyotp
import torch
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from lent import ANNOTATOR_TEXT, CSV, NOWHERE, queued_jobs, run_quietly

from annotation.actions.claim import claim
from annotation.actions.import_objects import ask_for_nouns, import_objects
from annotation.actions.open_object_check import open_object_check
from annotation.actions.save_draft import save_draft
from annotation.actions.submit_vote import submit_vote
from annotation.models import Slot
from corpus.models import Caption, Release, Video
from evaluation.actions.answer_samples import answer_samples
from evaluation.actions.ask_report import ask_report
from evaluation.actions.check_shortcuts import check_shortcuts
from evaluation.actions.describe_videos import describe_videos
from evaluation.actions.import_descriptions import import_descriptions
from evaluation.actions.measure_bias import measure_bias
from evaluation.actions.measure_proximity import measure_proximity
from evaluation.actions.receive_import import receive_import
from evaluation.actions.score_blind import score_blind
from evaluation.actions.set_public_page import set_public_page
from evaluation.actions.start_run import start_run as start_scoring
from evaluation.actions.start_teacher import read_release, start_teacher
from evaluation.dashboard.kept import _ask as ask_count
from foilworks.demo.build import build
from foilworks.demo.captions import object_caption
from foilworks.demo.plan import Sizes
from foilworks.demo.run import numbers
from foilworks.demo.world import evaluation_scenes, training_scenes
from generation.actions.ask_hint import ask_hint
from generation.actions.make_captions import make_captions, preview_captions
from generation.actions.set_hint_model import set_hint_model
from generation.actions.start_run import start_run as start_generation
from generation.actions.start_selection import start_selection
from generation.actions.start_tuning import start_tuning
from jobs.lease import claim as claim_job
from jobs.lease import write
from jobs.models import Job, JobState
from jobs.queue import enqueue
from jobs.runner import _end_of, execute, run_now
from projects.actions.make_invitation import make_invitation
from projects.actions.make_token import make_token
from projects.actions.set_up_second_factor import begin_second_factor, confirm_second_factor
from projects.actions.webhooks import add_webhook, ping_webhook
from projects.invitations import token_of
from projects.models import ApiToken, CrowdPlace, Delivery, IdempotentAnswer, Invitation, Project, Role, User
from tests.evaluation.bias import texts
from tests.evaluation.teacher.shapes import Shapes
from tests.factories import PASSWORD, make_caption, make_item, make_member
from tests.hub import folders
from tests.test_access_matrix import make_world

# Leases, links, tokens and sessions stay open, however old the record is when a test opens it.
FAR = datetime(2100, 1, 1, tzinfo=UTC)
STATES = ("waiting", "running", "failed")
SIZES = Sizes(training=4, pairs=4, counting=6, free=2)


def main(out: Path) -> None:
    torch.set_num_threads(1)
    call_command("migrate", verbosity=0)
    world: dict[str, Any] = {"password": PASSWORD, "sample": sample_project(), "rows": every_row()}
    world["jobs"] = {state: project_of_jobs(state) for state in STATES}
    world["people"] = {name: entrances(person) for name, person in entering(world)}
    world["once"] = answered_once(world["people"]["researcher"]["token"], world["rows"]["slug"])
    leave_open()
    out.mkdir(parents=True, exist_ok=True)
    (out / "world.json").write_text(json.dumps(world, indent=1, sort_keys=True, default=str), encoding="utf-8")


# --- the sample project: work in every stage, a public release with its archive


def sample_project() -> dict[str, Any]:
    def silent(things: Any, total: int, label: str) -> Any:
        return iter(things)

    project, release, runs = build(1, SIZES, silent, lambda job, _seconds: run_now(job))
    found = numbers(project, release, runs)
    owner = User.objects.get(username="sim-olga")
    page = set_public_page(owner, release, is_open=True, offers_export=True, takes_scores=True)
    run_now(page.job)
    held = {}
    for stage, role in (("edit", "annotator"), ("review", "reviewer"), ("validation", "validator")):
        person = User.objects.get(username=f"demo-{role}")
        work = claim(person, project, stage)
        held[stage] = {"person": person.username, "token": work.token}
    draft = json.dumps({"base": "", "values": {"text": [ANNOTATOR_TEXT]}})
    save_draft(User.objects.get(username="demo-annotator"), held["edit"]["token"], draft)
    page.refresh_from_db()
    return {"numbers": found, "held": held, "public_key": page.key, "archive": page.archive.name, "slug": project.slug}


# --- a project with one row of everything, as the access matrix has it


def every_row() -> dict[str, Any]:
    made = make_world()
    owner = made.people["researcher"]
    project = owner.memberships.get().project
    made.values["webhook"] = add_webhook(owner, project, NOWHERE, ["release.frozen"]).pk
    invitation = make_invitation(owner, project, ["reviewer"], days=90, most_uses=None)
    made.values["invitation_by_action"] = token_of(invitation)
    people = {name: person.username for name, person in made.people.items() if person is not None}
    return {"slug": made.slug, "people": people, "values": made.values}


def entering(world: dict[str, Any]) -> list[tuple[str, User]]:
    return [(name, User.objects.get(username=username)) for name, username in world["rows"]["people"].items()]


def entrances(person: User) -> dict[str, Any]:
    """How the person comes in: an open session, a token of each scope, the stranger a second factor."""
    client = Client()
    client.force_login(person)
    tokens = {scope: make_token(person, name=f"kept {scope}", scope=scope, days=300).secret
              for scope in (ApiToken.Scope.READ, ApiToken.Scope.WORK, ApiToken.Scope.MANAGE)}  # fmt: skip
    found = {"username": person.username, "session": client.session.session_key, "tokens": tokens}
    return {**found, "token": tokens[ApiToken.Scope.MANAGE], **second_factor(person)}


def second_factor(person: User) -> dict[str, Any]:
    """Set up for the stranger, whom no other address needs signed in by a password."""
    if person.is_superuser or person.memberships.exists():
        return {}
    secret = begin_second_factor(person).secret
    codes = confirm_second_factor(person, pyotp.TOTP(secret).now())
    return {"second_factor": secret, "recovery_codes": codes}


def answered_once(token: str, slug: str) -> dict[str, Any]:
    """A write with an Idempotency-Key, its answer, and the cursor of a list with a further page."""
    headers = {"Authorization": f"Bearer {token}"}
    path, body = f"/api/projects/{slug}/subtests", {"name": "asked once"}
    sent = {"path": path, "body": body, "key": "kept-key-1"}
    client = Client()
    keyed = {**headers, "Idempotency-Key": sent["key"]}
    answer = client.post(path, json.dumps(body), "application/json", headers=keyed)
    assert answer.status_code == 201, answer.content
    page = client.get(f"/api/projects/{slug}/items?limit=1", headers=headers).json()
    following = client.get(f"/api/projects/{slug}/items", {"limit": 1, "cursor": page["next"]}, headers=headers)
    return {**sent, "answer": answer.json(), "cursor": page["next"], "following": following.json()}


# --- every kind of job, queued by the actions that queue it


def project_of_jobs(state: str) -> dict[str, Any]:
    """A project with every job of this version, all waiting, running or failed."""
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    project, owner = shapes.project, shapes.owner
    annotator = make_member(project, Role.ANNOTATOR)
    _for_training(project)
    _judged(shapes)
    told = _described(project)
    base = folders.text_to_text(Path(settings.MODEL_ROOT) / "base", steps=0)
    trained = start_teacher(owner, project, params=_teaching(shapes), label="trained")
    run_quietly(trained.job)
    assert trained.job.error == "", trained.job.error
    trained.refresh_from_db()
    measured = measure_bias(owner, told, encoder="fake-words:", name="measured")
    run_quietly(measured.job)
    measured.refresh_from_db()
    looked = preview_captions(owner, project, maker="hard_positive")
    run_quietly(looked.job)
    looked.refresh_from_db()
    done = set(Job.objects.filter(project_id=project.pk).values_list("pk", flat=True))

    _generation_jobs(shapes, annotator, base, looked)
    _annotation_jobs(shapes)
    _evaluation_jobs(shapes, told, measured, trained)
    _webhook_jobs(project, owner)
    for architecture in ("average", "temporal"):
        dotted = f"foilworks.jobs.train_{architecture}"
        enqueue(dotted, project.pk, title=f"training: {architecture}", project_id=project.pk)
    _spread(owner, shapes.release)

    mine = Job.objects.filter(project_id=project.pk).exclude(pk__in=done).order_by("created_at", "number")
    missing = queued_jobs() - set(mine.values_list("dotted", flat=True))
    assert not missing, f"no {missing} is recorded"
    for job in mine.exclude(state=JobState.SPREAD):
        _brought_to(state, job)
    return {"slug": project.slug, "owner": owner.username, "jobs": [str(job.pk) for job in mine]}


def _brought_to(state: str, job: Job) -> None:
    """As a worker that is killed leaves it, or one whose job raises."""
    if state == "waiting":
        return
    held = claim_job(str(job.pk))
    if state == "failed":
        write(held, **_end_of(held, RuntimeError("the record wants a failed job")))


def _for_training(project: Project) -> None:
    """What the demo's trainings read: two captions of each clip of the train split."""
    for video, facts in _filmed(project):
        if video.split == "train":
            # The one that the helper has made says which way things go.
            video.captions.update(key=f"direction-{video.key}")
            make_caption(video, object_caption(facts), key=f"object-{video.key}")


def _judged(shapes: Shapes) -> None:
    """Votes of two people on an item, for the report of skill."""
    caption = Caption.objects.filter(video__project=shapes.project, video__split="test").order_by("pk")[0]
    make_item(shapes.objects, caption, ("a ring moves.", "a star moves."), key="judged")
    for _number in range(2):
        person = make_member(shapes.project, Role.VALIDATOR)
        work = claim(person, shapes.project, "validation")
        submit_vote(person, work.token, f"{person.username}-1", "first")


def _filmed(project: Project) -> list[tuple[Video, Any]]:
    """The helper's clips, with the facts of their scenes."""
    scenes = {scene.key: scene.facts for scene in (*training_scenes(8, 0), *evaluation_scenes(2, 0))}
    return [(video, scenes[video.key]) for video in Video.objects.filter(project=project).order_by("pk")]


def _described(project: Project) -> Any:
    """Classes, and descriptions out of a file, so that UTD's other jobs have texts to read."""
    told = {}
    for number, (video, _facts) in enumerate(_filmed(project)):
        way, thing = texts.WAYS[number % 2], texts.THINGS[number // 2 % 3]
        video.class_label = f"moves {way}"
        video.save(update_fields=["class_label"])
        told[video.key] = texts._frames(thing, way, texts.TIED[way])
    path = Path(settings.FOILWORKS_HOME) / "descriptions.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    made = import_descriptions(None, project, [path], name="from a file")
    path.unlink()
    return made


def _teaching(shapes: Shapes, **fields: Any) -> dict[str, Any]:
    small = {"contrastive": 1.0, "lgt": 0.0, "actions": 0, "steps": 2}
    return {**shapes.settings(), **small, **fields}


def _generation_jobs(shapes: Shapes, annotator: User, base: Path, looked: Any) -> None:
    owner, project = shapes.owner, shapes.project
    start_generation(owner, project, subtest=shapes.objects, method="fake", selection={"split": "test"})
    caption = Caption.objects.filter(video__project=project).order_by("pk")[0]
    set_hint_model(owner, project, "fake:text")
    ask_hint(annotator, project, caption, ANNOTATOR_TEXT)
    preview_captions(owner, project, maker="cos_caption")
    make_captions(owner, looked)
    tuning = {"model": str(base), "device": "cpu", "epochs": 1, "batch": 8}
    start_tuning(owner, project, params=tuning)
    start_selection(owner, shapes.objects, "balance")


def _annotation_jobs(shapes: Shapes) -> None:
    keys = shapes.project.videos.exclude(file="").order_by("pk").values_list("key", flat=True)[:2]
    lines = [json.dumps({"video": key, "time": 0.1, "objects": ["table", "lamp"]}) for key in keys]
    import_objects(shapes.owner, shapes.project, lines, name="objects.jsonl")
    open_object_check(shapes.owner, shapes.project, "import")
    ask_for_nouns(shapes.owner, shapes.project)


def _evaluation_jobs(shapes: Shapes, told: Any, measured: Any, trained: Any) -> None:
    owner, project, release = shapes.owner, shapes.project, shapes.release
    start_scoring(owner, release, "fake:")
    for at_once in (False, True):
        records = SimpleUploadedFile(f"records-{at_once}.csv", CSV)
        receive_import(owner, project, format_slug="csv", records=records, videos=[], params={}, at_once=at_once)
    ask_report(owner, project, "skill", subtest="", params={})
    ask_count(project)
    measure_proximity(owner, release, "fake-words:")
    score_blind(owner, project, "fake:text")
    describe_videos(owner, project, describer="fake-generator:", extractor="fake-reader:", frames=2)
    measure_bias(owner, told, encoder="fake-words:", name="asked")
    check_shortcuts(owner, told, encoder="fake-words:")
    answer_samples(owner, measured, "fake:", zero_shot=True, label="looks")
    start_teacher(owner, project, params=_teaching(shapes, steps=1), label="asked", release=release)
    read_release(owner, trained, release)
    set_public_page(owner, release, is_open=True, offers_export=True, takes_scores=False)


def _webhook_jobs(project: Project, owner: User) -> None:
    """A delivery that nobody has tried."""
    hook = add_webhook(owner, project, NOWHERE, ["release.frozen"])
    ping_webhook(owner, project, hook.pk)
    assert Delivery.objects.filter(webhook=hook, attempts=0).count() == 1


def _spread(owner: User, release: Release) -> None:
    """A scoring run whose shards do the work."""
    settings.SHARD_ITEMS = 2
    run = start_scoring(owner, release, "fake:7")
    execute(str(run.job.pk))
    run.job.refresh_from_db()
    assert run.job.state == JobState.SPREAD
    settings.SHARD_ITEMS = 0


def leave_open() -> None:
    """Nothing that is open now may run out before a test looks."""
    from django.contrib.sessions.models import Session

    Session.objects.update(expire_date=FAR)
    ApiToken.objects.update(expires_at=FAR)
    Invitation.objects.update(expires_at=FAR)
    CrowdPlace.objects.update(deadline=FAR)
    Slot.objects.filter(state="leased").update(expires_at=FAR)
    IdempotentAnswer.objects.update(created_at=FAR - timedelta(days=1))
    assert timezone.now() < FAR


if __name__ == "__main__":
    main(Path(sys.argv[1]))
