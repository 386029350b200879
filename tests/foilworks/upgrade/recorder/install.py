"""Create the installation: runs in the checkout of cc592f35, with that version's code and the helpers of its tests.

`python install.py OUT` fills FOILWORKS_HOME and the database, and writes OUT/installation.json: the people, secrets and
row ids that the other scripts use. It contains names of cc592f35: never edit it when a name of today changes.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
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
from shared import ANNOTATOR_TEXT, CSV, NOWHERE, queued_jobs, run_quietly

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import take_down_video
from annotation.actions.leases.leasing import decline_video, save_draft
from annotation.actions.quality.add_practice_caption import add_practice_caption
from annotation.actions.quality.label_pair import label_pair
from annotation.actions.quality.skilled import refresh_skill
from annotation.actions.settings.set_pay import set_pay
from annotation.actions.settings.set_review_sampling import set_review_sampling
from annotation.actions.studies import ask_for_nouns, import_objects, open_object_check
from annotation.actions.submissions.judgements import submit_vote
from annotation.choices.actions.ask_for_choices import ask_for_choices
from annotation.choices.actions.compose_choices import Request
from annotation.models import QualityPolicy, Slot, SlotState
from annotation.pairs.actions.ask_for_pairs import JOBS as PAIR_JOBS
from annotation.rules.pay import Rate, Unit
from corpus.actions.prepare_videos import prepare_later
from corpus.models import Caption, Item, MediaState, Release, Video
from corpus.rules.states import FoilVerdict, ItemState
from evaluation.blind.actions.blind import score_blind
from evaluation.dashboard.stored_count import _ask as request_count
from evaluation.dashboard.actions.target import set_target
from evaluation.documents.actions.answer_datasheet import answer_datasheet
from evaluation.documents.actions.describe_publication import FACTS, describe_publication
from evaluation.imports.actions.receive_import import receive_import
from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.publishing.actions.publish_release import request_folder
from evaluation.publishing.actions.report_item import report_item
from evaluation.publishing.actions.set_public_page import set_public_page
from evaluation.publishing.hub_folder import checklist_of
from evaluation.publishing.models import PublicPage
from evaluation.releases.background import request_freeze, request_preview
from evaluation.reports.actions.request_report import request_report
from evaluation.scoring.actions.models import trust_model
from evaluation.scoring.actions.start_run import start_run as start_scoring
from evaluation.scoring.figures import _ask as request_figures
from evaluation.teacher import asking
from evaluation.teacher.actions.trainings import read_release, start_teacher
from evaluation.utd.actions.biases import check_shortcuts, measure_bias, predict_samples, set_shortcut_bar
from evaluation.utd.actions.descriptions import describe_videos, import_descriptions
from evaluation.utd.models import BiasRun, Descriptions
from foilworks.demo.captions import object_caption
from foilworks.demo.plan import Sizes
from foilworks.demo.run import build, numbers
from foilworks.demo.world import evaluation_scenes, training_scenes
from generation.actions.hints import ask_hint, set_hint_model
from generation.actions.runs import make_captions, preview_captions, start_tuning
from generation.actions.runs import start_run as start_generation
from generation.actions.selections import start_selection
from generation.actions.write_prompt import write_prompt
from generation.models.side_work import CaptionRun
from jobs.lease import claim as claim_job
from jobs.lease import write
from jobs.models import Job, JobState
from jobs.queue import enqueue
from jobs.runner import _end_of, execute, run_now
from projects.actions.accounts import begin_second_factor, confirm_second_factor
from projects.actions.consent import give_consent, publish_consent_text
from projects.actions.invitations import make_invitation
from projects.actions.tokens import make_token
from projects.actions.webhooks import add_webhook, ping_webhook
from projects.invitations import token_of
from projects.models import ApiToken, CrowdPlace, Delivery, IdempotentAnswer, Invitation, Project, Role, User
from projects.notifications.actions import save_settings
from projects.notifications.mail import JOB as MAIL_JOB
from tests import factories, test_access_matrix, test_api_access_matrix
from tests.evaluation.utd import texts
from tests.evaluation.teacher import shapes as shapes_module
from tests.evaluation.teacher.shapes import Shapes
from tests.hub import folders

# Leases, links, tokens and sessions stay open, however old the record is when a test opens it.
FAR = datetime(2100, 1, 1, tzinfo=UTC)
STATES = ("waiting", "running", "failed")
SIZES = Sizes(training=4, pairs=4, counting=6, free=2)
PROMPT = {
    "system": "Write falsehoods.",
    "question": "Caption: {caption}\nNumber: {k}",
    "examples": [["a man sits.", ["a man stands."]]],
}
BLANK_CLIP = "blank/clip.mp4"
VERDICTS = {
    ItemState.IN_VALIDATION: FoilVerdict.PENDING,
    ItemState.VALID: FoilVerdict.VALID,
    ItemState.DISPUTED: FoilVerdict.DISPUTED,
}
create_video, create_item = factories.make_video, factories.make_item


def main(out: Path) -> None:
    torch.set_num_threads(1)
    call_command("migrate", verbosity=0)
    make_rows_whole()
    installation: dict[str, Any] = {"password": factories.PASSWORD, "sample": sample_project(), "rows": every_row()}
    set_every_rule()
    installation["jobs"] = {state: project_of_jobs(state) for state in STATES}
    usernames = installation["rows"]["people"]
    installation["people"] = {
        name: credentials_of(User.objects.get(username=username)) for name, username in usernames.items()
    }
    token, slug = installation["people"]["researcher"]["token"], installation["rows"]["slug"]
    installation["repeated_write"] = repeated_write(token, slug)
    leave_open()
    Job.objects.exclude(worker="").update(worker="worker:1")
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(installation, indent=1, sort_keys=True, default=str)
    (out / "installation.json").write_text(text, encoding="utf-8")


# --- helpers of tests create single rows; an installation has the rows that belong to them


def make_rows_whole() -> None:
    """Let the helpers of tests create rows without a violation: a clip has a file, a pair its item's verdict."""
    path = Path(settings.MEDIA_ROOT, BLANK_CLIP)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    for module in (factories, shapes_module, test_access_matrix, test_api_access_matrix):
        module.make_video, module.make_item = whole_video, whole_item


def whole_video(project: Project, **fields: Any) -> Video:
    is_ready = fields.get("media_state", MediaState.READY) == MediaState.READY
    return create_video(project, **{**({"file": BLANK_CLIP} if is_ready else {}), **fields})


def whole_item(*args: Any, **fields: Any) -> Item:
    """Nobody has voted on it, so it is not unanimous."""
    item = create_item(*args, **{**fields, "unanimous": None})
    item.foils.update(verdict=VERDICTS[ItemState(item.state)])
    return item


# --- the sample project: work in every stage, a public release with its archive


def sample_project() -> dict[str, Any]:
    project, release, runs = build(1, SIZES, lambda steps, _total, _label: iter(steps), lambda job, _s: run_now(job))
    results = numbers(project, release, runs)
    owner = User.objects.get(username="sim-olga")
    page = set_public_page(owner, release, is_open=True, offers_export=True, takes_scores=True)
    run_now(page.job)
    leases = {}
    for stage, role in (("edit", "annotator"), ("review", "reviewer"), ("validation", "validator")):
        person = User.objects.get(username=f"demo-{role}")
        work = claim(person, project, stage)
        leases[stage] = {"person": person.username, "token": work.token}
    draft = json.dumps({"base": "", "values": {"text": [ANNOTATOR_TEXT]}})
    save_draft(User.objects.get(username="demo-annotator"), leases["edit"]["token"], draft)
    page.refresh_from_db()
    return {
        "numbers": results,
        "leases": leases,
        "public_key": page.key,
        "archive": page.archive.name,
        "slug": project.slug,
    }


# --- a project with one row of everything, as the access matrix has it


def every_row() -> dict[str, Any]:
    world = test_api_access_matrix.make_api_world()
    owner = world.people["researcher"]
    project = owner.memberships.get().project
    world.values["webhook"] = add_webhook(owner, project, NOWHERE, ["release.frozen"]).pk
    invitation = make_invitation(owner, project, ["reviewer"], days=90, most_uses=None)
    world.values["invitation_by_action"] = token_of(invitation)
    people = {name: person.username for name, person in world.people.items() if person is not None}
    return {"slug": world.slug, "people": people, "values": world.values}


def credentials_of(person: User) -> dict[str, Any]:
    """Return how the person signs in: an open session, a token per scope; the stranger has a second factor."""
    client = Client()
    client.force_login(person)
    tokens = {
        scope: make_token(person, name=f"recorded {scope}", scope=scope, days=300).secret
        for scope in (ApiToken.Scope.READ, ApiToken.Scope.WORK, ApiToken.Scope.MANAGE)
    }
    credentials = {"username": person.username, "session": client.session.session_key, "tokens": tokens}
    return {**credentials, "token": tokens[ApiToken.Scope.MANAGE], **second_factor(person)}


def second_factor(person: User) -> dict[str, Any]:
    """Set it up for the stranger, whom no other request signs in by password."""
    if person.is_superuser or person.memberships.exists():
        return {}
    secret = begin_second_factor(person).secret
    codes = confirm_second_factor(person, pyotp.TOTP(secret).now())
    return {"second_factor": secret, "recovery_codes": codes}


def repeated_write(token: str, slug: str) -> dict[str, Any]:
    """Return a write with an Idempotency-Key, its reply, and the cursor of a list with a next page."""
    headers = {"Authorization": f"Bearer {token}"}
    request = {"path": f"/api/projects/{slug}/subtests", "body": {"name": "sent once"}, "key": "recorded-key-1"}
    client = Client()
    keyed = {**headers, "Idempotency-Key": request["key"]}
    reply = client.post(request["path"], json.dumps(request["body"]), "application/json", headers=keyed)
    assert reply.status_code == 201, reply.content
    first_page = client.get(f"/api/projects/{slug}/items?limit=1", headers=headers).json()
    next_page = client.get(
        f"/api/projects/{slug}/items", {"limit": 1, "cursor": first_page["next"]}, headers=headers
    ).json()
    return {**request, "reply": reply.json(), "cursor": first_page["next"], "next_page": next_page}


# --- settings, decisions and notes of people that the sample project lacks


def set_every_rule() -> None:
    """Create a project in which people use every setting once, by actions."""
    project = factories.make_project()
    owner, annotator, validator = (
        factories.make_member(project, role) for role in (Role.RESEARCHER, Role.ANNOTATOR, Role.VALIDATOR)
    )
    subtest = factories.make_subtest(project)
    item = factories.make_item(subtest, state=ItemState.VALID)
    factories.make_item(subtest)
    skipped = claim(validator, project, "validation")
    decline_video(validator, skipped.token)
    clip = factories.make_video(project, file="", media_state=MediaState.ELSEWHERE, url="https://example.org/clip.mp4")
    take_down_video(owner, project.slug, clip.pk, "the owner asked for it")
    gold = test_access_matrix.make_gold(subtest, item)
    label_pair(owner, project, gold.pk, "first")
    add_practice_caption(owner, project, item.caption, ["a man unfolds a shirt."])
    set_pay(owner, project, currency="EUR", floor=Decimal(12), rates={"edit": Rate(Unit.PIECE, Decimal("0.5"))})
    set_review_sampling(owner, project, rate=0.5, second_share=0.1, own_rates={annotator.pk: 1.0})
    text = publish_consent_text(owner, project, "You agree to take part.", "keep")
    for person in (owner, annotator, validator):
        give_consent(person, project, text.version)
    set_shortcut_bar(owner, project, 0.5)
    set_target(owner, project, 10, 100)
    answer_datasheet(owner, project, {"collection.ethics": "A board approved the study."})
    facts = {**dict.fromkeys(FACTS, ""), "title": "Shapes", "year": "2026", "licence": "CC-BY-4.0"}
    terms = {"source_dataset": "", "licence": "CC-BY-4.0", "url": "", "notes": "", "may_show": True}
    describe_publication(owner, project, facts, [terms])
    write_prompt(owner, project, slug="own", **PROMPT)
    trust_model(owner, project, "vlm:a/b", remote_code=True)
    save_settings(annotator, "daily", {})
    page = PublicPage.objects.get(release__project__slug="demo")
    report_item(page, page.release.members.order_by("position")[0], why="caption", text="It turns left.", contact="")


# --- every kind of job, queued by the actions that queue it


def project_of_jobs(state: str) -> dict[str, Any]:
    """Create a project with every job of this version, all waiting, running or failed."""
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    project, owner = shapes.project, shapes.owner
    annotator = factories.make_member(project, Role.ANNOTATOR)
    add_training_captions(project)
    add_votes(shapes)
    descriptions = described_clips(project)
    base = folders.text_to_text(Path(settings.MODEL_ROOT) / "base", steps=0)
    trained = start_teacher(owner, project, params=teacher_params(shapes), label="trained")
    measured = measure_bias(owner, descriptions, encoder="fake-words:", name="measured")
    previewed = preview_captions(owner, project, maker="hard_positive")
    for row in (trained, measured, previewed):
        run_quietly(row.job)
        assert row.job.state == JobState.DONE, row.job.error
        row.refresh_from_db()
    done = set(Job.objects.values_list("pk", flat=True))

    queue_generation_jobs(shapes, annotator, base, previewed)
    queue_annotation_jobs(shapes)
    queue_scoring_jobs(shapes, trained)
    queue_utd_jobs(shapes, descriptions, measured)
    queue_release_jobs(shapes)
    queue_delivery_and_mail(project, owner, annotator)
    for architecture in ("average", "temporal"):
        dotted = f"foilworks.jobs.train_{architecture}"
        enqueue(dotted, project.pk, title=f"training: {architecture}", project_id=project.pk)
    spread_jobs(shapes, descriptions, measured)

    recorded = Job.objects.exclude(pk__in=done).order_by("created_at", "number")
    missing = queued_jobs() - set(recorded.values_list("dotted", flat=True))
    assert not missing, f"no row: {missing}"
    for job in recorded.exclude(state=JobState.SPREAD):
        bring_to(state, job)
    return {"slug": project.slug, "owner": owner.username, "jobs": [str(job.pk) for job in recorded]}


def bring_to(state: str, job: Job) -> None:
    """Leave the job as a killed worker leaves it, or as a worker whose job raises."""
    if state == "waiting":
        return
    leased = claim_job(str(job.pk))
    if state == "failed":
        write(leased, **_end_of(leased, RuntimeError("the record needs a failed job")))


def add_training_captions(project: Project) -> None:
    """Give each clip of the train split the two captions that trainings of the sample project read."""
    for video, facts in clips_with_facts(project):
        if video.split == "train":
            # The caption of the helper is about the direction.
            video.captions.update(key=f"direction-{video.key}")
            factories.make_caption(video, object_caption(facts), key=f"object-{video.key}")


def add_votes(shapes: Shapes) -> None:
    """Add an item with votes of two people, for the report of skill."""
    caption = Caption.objects.filter(video__project=shapes.project, video__split="test").order_by("pk")[0]
    factories.make_item(shapes.objects, caption, ("a ring moves.", "a star moves."), key="judged")
    for _number in range(2):
        person = factories.make_member(shapes.project, Role.VALIDATOR)
        work = claim(person, shapes.project, "validation")
        submit_vote(person, work.token, f"{person.username}-1", "first")


def clips_with_facts(project: Project) -> list[tuple[Video, Any]]:
    """Return the helper's clips with the facts of their scenes."""
    scenes = {scene.key: scene.facts for scene in (*training_scenes(8, 0), *evaluation_scenes(2, 0))}
    return [(video, scenes[video.key]) for video in Video.objects.filter(project=project).order_by("pk")]


def described_clips(project: Project) -> Descriptions:
    """Add classes, and descriptions from a file, so that other jobs of UTD have texts to read."""
    frames = {}
    for number, (video, _facts) in enumerate(clips_with_facts(project)):
        way, thing = texts.WAYS[number % 2], texts.THINGS[number // 2 % 3]
        video.class_label = f"moves {way}"
        video.save(update_fields=["class_label"])
        frames[video.key] = texts._frames(thing, way, texts.TIED[way])
    path = Path(settings.FOILWORKS_HOME) / "descriptions.json"
    path.write_text(json.dumps(frames), encoding="utf-8")
    descriptions = import_descriptions(None, project, [path], name="from a file")
    path.unlink()
    return descriptions


def teacher_params(shapes: Shapes, **fields: Any) -> dict[str, Any]:
    small = {"contrastive": 1.0, "lgt": 0.0, "actions": 0, "steps": 2}
    return {**shapes.settings(), **small, **fields}


def queue_generation_jobs(shapes: Shapes, annotator: User, base: Path, previewed: CaptionRun) -> None:
    owner, project = shapes.owner, shapes.project
    start_generation(owner, project, subtest=shapes.objects, method="fake", selection={"split": "test"})
    caption = Caption.objects.filter(video__project=project).order_by("pk")[0]
    set_hint_model(owner, project, "fake:text")
    ask_hint(annotator, project, caption, ANNOTATOR_TEXT)
    preview_captions(owner, project, maker="cos_caption")
    make_captions(owner, previewed)
    start_tuning(owner, project, params={"model": str(base), "device": "cpu", "epochs": 1, "batch": 8})
    start_selection(owner, shapes.objects, "balance")


def queue_annotation_jobs(shapes: Shapes) -> None:
    owner, project = shapes.owner, shapes.project
    keys = project.videos.exclude(file="").order_by("pk").values_list("key", flat=True)[:2]
    lines = [json.dumps({"video": key, "time": 0.1, "objects": ["table", "lamp"]}) for key in keys]
    import_objects(owner, project, lines, name="objects.jsonl")
    open_object_check(owner, project, "import")
    ask_for_nouns(owner, project)
    prepare_later(project.pk)
    QualityPolicy.objects.get_or_create(project=project)
    refresh_skill(project, timezone.now())
    pairs = factories.make_subtest(project, name="pairs")
    # A project proposes one kind of pairs at a time; the record has all kinds.
    for dotted in PAIR_JOBS.values():
        enqueue(dotted, pairs.pk, title="Proposing pairs", project_id=project.pk)
    factories.make_item(factories.make_subtest(project, name="random items"), shapes.captions[0], ("a dog barks.",))
    ask_for_choices(owner, factories.make_subtest(project, name="choices"), Request(random="random items"))


def queue_scoring_jobs(shapes: Shapes, trained: Any) -> None:
    owner, project, release = shapes.owner, shapes.project, shapes.release
    start_scoring(owner, release, "fake:")
    for at_once in (False, True):
        records = SimpleUploadedFile(f"records-{at_once}.csv", CSV)
        receive_import(owner, project, format_slug="csv", records=records, videos=[], params={}, at_once=at_once)
    request_report(owner, project, "skill", subtest="", params={})
    request_count(project)
    measure_proximity(owner, release, "fake-words:")
    score_blind(owner, project, "fake:text")
    start_teacher(owner, project, params=teacher_params(shapes, steps=1), label="queued", release=release)
    read_release(owner, trained, release)


def queue_utd_jobs(shapes: Shapes, descriptions: Descriptions, measured: BiasRun) -> None:
    owner, project = shapes.owner, shapes.project
    describe_videos(owner, project, describer="fake-generator:", extractor="fake-reader:", frames=2)
    measure_bias(owner, descriptions, encoder="fake-words:", name="queued")
    check_shortcuts(owner, descriptions, encoder="fake-words:")
    predict_samples(owner, measured, "fake:", zero_shot=True, label="predicted")


def queue_release_jobs(shapes: Shapes) -> None:
    owner, project, release = shapes.owner, shapes.project, shapes.release
    request_preview(project, [])
    request_freeze(owner, project, {"name": "by a job"})
    request_figures(release)
    set_public_page(owner, release, is_open=True, offers_export=True, takes_scores=False)
    rows = checklist_of(release)
    request_folder(owner, release, rows, anonymous=False, videos=False, reason="the record needs a folder")


def queue_delivery_and_mail(project: Project, owner: User, person: User) -> None:
    """Queue a delivery that was never attempted, and a mail."""
    hook = add_webhook(owner, project, NOWHERE, ["release.frozen"])
    ping_webhook(owner, project, hook.pk)
    assert Delivery.objects.filter(webhook=hook, attempts=0).count() == 1
    enqueue(MAIL_JOB, person.pk, title="Email of notifications", asked=False)


def spread_jobs(shapes: Shapes, descriptions: Descriptions, measured: BiasRun) -> None:
    """Leave one job of each kind whose shards do the work."""
    owner, project, captions_per_batch = shapes.owner, shapes.project, asking.CAPTIONS_PER_BATCH
    settings.SHARD_ITEMS, asking.CAPTIONS_PER_BATCH = 2, 2
    shape_params = shapes.settings(steps=1)
    rows = [
        start_scoring(owner, shapes.release, "fake:7"),
        describe_videos(owner, project, describer="fake-generator:", extractor="fake-reader:", frames=1, name="spread"),
        measure_bias(owner, descriptions, encoder="fake-words:", name="spread"),
        predict_samples(owner, measured, "fake:", zero_shot=True, label="spread"),
        start_teacher(owner, project, params=shape_params, action_runs=(shapes.action_run.pk,), label="spread"),
    ]
    for row in rows:
        execute(str(row.job.pk))
        row.job.refresh_from_db()
        assert row.job.state == JobState.SPREAD, row.job.title
    settings.SHARD_ITEMS, asking.CAPTIONS_PER_BATCH = 0, captions_per_batch


def leave_open() -> None:
    """Nothing that is open now may expire before a test runs."""
    from django.contrib.sessions.models import Session

    Session.objects.update(expire_date=FAR)
    ApiToken.objects.update(expires_at=FAR)
    Invitation.objects.update(expires_at=FAR)
    CrowdPlace.objects.update(deadline=FAR)
    Slot.objects.filter(state=SlotState.LEASED).update(expires_at=FAR)
    IdempotentAnswer.objects.update(created_at=FAR - timedelta(days=1))
    assert timezone.now() < FAR


if __name__ == "__main__":
    main(Path(sys.argv[1]))
