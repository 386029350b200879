"""Withdrawal and erasure: after it no table, export, report or log line knows who the person was."""

import io
import json
import logging
import zipfile
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import take_down_video
from annotation.actions.leases.leasing import decline_video, save_draft
from annotation.actions.people import remove_member, withdraw
from annotation.actions.quality.validators import exclude_votes
from annotation.erasure.actions.erase_person import ERASED, erase_person, may_erase
from annotation.errors import AnnotationError
from annotation.models import DeclinedVideo, Draft, Edit, Lease, QualityPolicy, Review, ReviewRate, Slot, Standing, Vote
from annotation.queries.personal_data import own_data
from evaluation.cached_results.models import CachedResult
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.projects.actions.accounts import begin_second_factor
from foilworks.core.projects.actions.consent import give_consent, publish_consent_text
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import (
    AuditEvent,
    Consent,
    CrowdPlace,
    CrowdWorker,
    IdempotentAnswer,
    Invitation,
    Membership,
    Project,
    User,
)
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.site.exports.views import zipped
from tests.annotation.test_entry_attacks import arrive, open_study, prolific, work
from tests.annotation.world import World, make_world
from tests.factories import PASSWORD, make_member, make_project, make_user
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db

PID, SESSION = "60fdplantedworker01", "61aaplantedvisit01"
NAME, FIRST, LAST, MAIL = "zaphod.planted", "Jürgenia", "Beeblebroxson", "zaphod@planted.example"
PLANTED = (PID, SESSION, NAME, FIRST, LAST, MAIL)


@pytest.fixture
def world() -> World:
    world = make_world()
    for _ in range(3):
        world.item()
    return world


def everything_stored() -> Iterator[tuple[str, str]]:
    """(table, row as text) of every row of every table of the database, sessions and all."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            yield from ((table, repr(row)) for row in cursor.fetchall())


def where_named(*names: str) -> set[tuple[str, str]]:
    return {
        (table, name)
        for table, row in everything_stored()
        for name in names
        if name.lower() in row.lower() or _escaped(name) in row.lower()
    }


def _escaped(name: str) -> str:
    """As it stands in JSON, and in the text of a row."""
    return json.dumps(name)[1:-1].lower().replace("\\", "\\\\")


def exported(world: World) -> str:
    """All files of all formats of the project's release, as text."""
    release = freeze_release(world.owner, world.project, override="few")
    texts = []
    # Formats for items with five foils, or for scores, have nothing to say of these.
    for slug in set(EXPORTERS) - {"feint6k", "contrast", "winoground", "every-eval-ever"}:
        with zipped(release, slug, "out") as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
            texts += [archive.read(name).decode("utf-8", "replace") + name for name in archive.namelist()]
    return "\n".join(texts)


def everybody_agrees(world: World) -> None:
    for person in world.people.values():
        give_consent(person, world.project, 1)


@pytest.fixture
def zaphod(world: World) -> User:
    """A member whose name, address and notes stand wherever they can."""
    person = make_member(
        world.project, "annotator", "reviewer", "validator", name=NAME, email=MAIL, first_name=FIRST, last_name=LAST
    )
    world.people["zaphod"] = person
    return person


def plant(world: World, zaphod: User) -> None:
    """Work of every kind, and words of others about the person."""
    project = world.project
    QualityPolicy.objects.create(project=project)
    for _ in range(2):
        world.vote("zaphod")
    for other in ("vera", "vic"):
        for _ in range(3):
            world.vote(other)
    world.group()
    world.edit("zaphod")
    world.group()
    world.edit("ann")
    world.review("zaphod", comment=f"{FIRST.upper()} here: fine by me")
    world.group()
    lease = claim(zaphod, project, "edit")
    save_draft(zaphod, lease.token, json.dumps({"base": "", "values": {"text": [f"by {NAME}"]}}))
    exclude_votes(world.owner, project, zaphod.pk, f"{NAME.upper()} ({MAIL}) answers too fast")
    for _ in range(2):
        world.vote("val")
    Standing.objects.filter(person=zaphod).update(paused_note=f"ask {FIRST} {LAST}")
    Invitation.objects.create(project=project, roles=["annotator"], note=f"for {LAST}", expires_at=timezone.now())
    begin_second_factor(zaphod)
    make_token(world.owner, name=f"for {FIRST}")
    body = json.dumps({"username": NAME, "name": FIRST})
    IdempotentAnswer.objects.create(person=world.owner, key="k", request="0" * 64, status=201, body=body)
    take_down_video(world.owner, project.slug, world.item().video_id, f"{FIRST} is to be seen in it")
    ReviewRate.objects.create(project=project, person=zaphod, rate=0.5)
    mine, owners = Client(), Client()
    mine.login(username=NAME, password=PASSWORD)
    mine.post("/account/", {"first_name": FIRST, "last_name": LAST, "email": MAIL})
    owners.force_login(world.owner)
    # The answer's message names the person until the next page is shown.
    owners.post(f"/projects/{project.slug}/people/{zaphod.pk}/roles/", {"roles": ["annotator", "validator"]})
    for kind in ("people", "agreement", "validation"):
        project_report(project, kind)


@pytest.mark.parametrize("removed", [False, True])
def test_nothing_of_a_member_remains_in_tables_exports_and_logs(world, zaphod, caplog, removed):
    caplog.set_level(logging.DEBUG)
    plant(world, zaphod)
    tables = {table for table, _name in where_named(NAME, FIRST, LAST, MAIL)}
    # The plants are there, so that finding nothing below says something.
    assert {
        "projects_user",
        "projects_auditevent",
        "annotation_review",
        "annotation_draft",
        "annotation_standing",
        "projects_invitation",
        "projects_idempotentanswer",
        "projects_apitoken",
        "corpus_takedown",
        "evaluation_report",
    } <= tables
    pk = zaphod.pk
    if removed:
        remove_member(world.owner, world.project, pk)
    client = Client()
    client.force_login(zaphod)
    sent = {"work": "keep", "password": PASSWORD, "sure": "on"}
    assert client.post("/account/erase/", sent)["Location"] == "/sign-in/"
    assert where_named(NAME, FIRST, LAST, MAIL) == set()
    text = exported(world)
    assert not [name for name in PLANTED if name.lower() in text.lower()]
    assert not [line for line in caplog.messages if any(name.lower() in line.lower() for name in PLANTED)]
    erased = User.objects.get(pk=pk)
    assert (erased.is_active, erased.email, erased.has_usable_password()) == (False, "", False)
    assert erased.username.startswith("erased-")
    assert not Client().login(username=NAME, password=PASSWORD)
    assert client.get("/account/").status_code == 302
    assert AuditEvent.objects.filter(reason__contains=ERASED).exists()
    assert not Draft.objects.filter(person=pk).exists()
    assert not ReviewRate.objects.filter(person=pk).exists()
    assert broken_invariants() == []


def test_a_name_in_a_script_without_spaces_is_erased_wherever_it_is(world):
    person = make_member(world.project, "annotator", name="zhang", first_name="张伟")
    note = Invitation.objects.create(
        project=world.project, roles=["annotator"], note="请问张伟老师", expires_at=timezone.now()
    )
    erase_person(person, person)
    note.refresh_from_db()
    assert note.note == f"请问{ERASED}老师"


def test_messages_that_name_an_erased_person_are_not_shown(world):
    person = make_member(world.project, "annotator", name="jürgen.planted")
    owners = Client()
    owners.force_login(world.owner)
    session = owners.session
    # What does not fit into the cookie waits here, as JSON in a text.
    session["_messages"] = json.dumps([["__json_message", 0, 25, "jürgen.planted is a member."]])
    session.save()
    erase_person(person, person)
    assert "_messages" not in owners.session


def test_kept_work_has_a_pseudonym_and_reports_are_recomputed(world, zaphod):
    plant(world, zaphod)
    before = project_report(world.project, "validation")
    people = {row["person"] for row in project_report(world.project, "people")["people"]}
    assert NAME in people
    erase_person(zaphod, zaphod)
    assert not CachedResult.objects.filter(project=world.project).exists()
    assert project_report(world.project, "validation") == before
    after = {row["person"] for row in project_report(world.project, "people")["people"]}
    assert len(after) == len(people)
    assert NAME not in after
    assert Vote.objects.filter(person=zaphod).count() == 2
    assert Edit.objects.filter(person=zaphod).count() == 1


def test_removed_answers_disappear_from_tables_and_numbers(world, zaphod):
    publish_consent_text(world.owner, world.project, "You choose.", "choose")
    everybody_agrees(world)
    for name in ("zaphod", "vera"):
        for _ in range(3):
            world.vote(name)
    decided = project_report(world.project, "agreement")
    assert (decided["n_votes"], Vote.objects.filter(state="counted").count()) == (6, 6)
    pk = pseudonym(world.project, zaphod.pk)
    assert erase_person(zaphod, zaphod, "remove") == 3
    assert not Vote.objects.filter(person=zaphod).exists()
    assert project_report(world.project, "agreement")["n_votes"] == 3
    assert Slot.objects.filter(state="free", stage="validation").count() == 3 * (3 - 1)
    assert not Lease.objects.filter(person=zaphod, ending="submitted").exists()
    # The places are there for others, and what follows is as if the votes had never been.
    for name in ("vic", "val"):
        for _ in range(3):
            world.vote(name)
    assert project_report(world.project, "agreement")["n_votes"] == 9
    assert project_report(world.project, "validation")["overall"]["n_valid"] == 3
    assert pk not in exported(world)
    assert broken_invariants() == []


def test_a_crowd_worker_is_erased_completely_by_their_researcher(world, caplog):
    caplog.set_level(logging.DEBUG)
    study = open_study(world.project, platform="prolific", platform_study="5f", pieces=1)
    client, owner = Client(), Client()
    arrive(study, prolific(study, PID, SESSION), client)
    # A replay and a forgery leave rows, too.
    arrive(study, prolific(study, PID, "another"))
    arrive(study, prolific(study, "another", SESSION))
    person = CrowdPlace.objects.get().person
    work(world, person, 1)
    client.post(f"/projects/{world.project.slug}/place/", {"move": "complete"})
    assert {table for table, _name in where_named(PID, SESSION)} == {"projects_crowdworker", "projects_crowdplace"}
    owner.force_login(world.owner)
    url = f"/projects/{world.project.slug}/people/{person.pk}/erase/"
    assert owner.get(url).status_code == 200
    assert owner.post(url, {"work": "keep", "password": "wrong", "sure": "on"}).status_code == 422
    assert owner.post(url, {"work": "keep", "password": PASSWORD, "sure": "on"}).status_code == 302
    assert where_named(PID, SESSION, person.username) == set()
    assert not [line for line in caplog.messages if PID in line or SESSION in line]
    assert Vote.objects.filter(person=person, state="counted").count() == 1
    assert client.get("/account/").status_code == 302
    assert not CrowdWorker.objects.exists()
    assert broken_invariants() == []


def test_who_may_erase_whom(world):
    ann, admin = world.ann, make_user(is_superuser=True)
    stranger = make_member(make_project(), "researcher")
    assert may_erase(ann, ann)
    assert may_erase(admin, ann)
    assert not may_erase(world.owner, ann)
    study = open_study(world.project)
    worker = make_user()
    CrowdWorker.objects.create(project=world.project, platform="signed", worker="w", person=worker)
    CrowdPlace.objects.create(study=study, person=worker, entered_at=timezone.now(), deadline=timezone.now())
    assert may_erase(world.owner, worker)
    assert not may_erase(stranger, worker)
    Membership.objects.create(project=stranger.memberships.get().project, person=worker, role="annotator")
    assert not may_erase(world.owner, worker)
    with pytest.raises(AccessDenied):
        erase_person(world.owner, ann)


def test_a_site_administrator_erases_a_member_on_request(client, world):
    url = f"/projects/{world.project.slug}/people/{world.ann.pk}/erase/"
    client.force_login(world.owner)
    assert client.get(url).status_code == 403
    client.force_login(make_user(is_superuser=True))
    assert client.post(url, {"work": "keep", "password": PASSWORD, "sure": "on"}).status_code == 302
    assert User.objects.get(pk=world.ann.pk).erased_at is not None


def test_the_last_researcher_must_hand_over_the_project_first(world):
    with pytest.raises(ProjectError, match="last researcher"):
        erase_person(world.owner, world.owner)
    world.owner.refresh_from_db()
    assert world.owner.is_active


def test_erasing_a_short_name_leaves_other_words(world):
    make_world()
    person = make_member(world.project, "annotator", name="an")
    row = AuditEvent.objects.create(
        action="x", target_type="y", target_id="1", reason="an answer, an: planning", details={"by": ["An"]}
    )
    erase_person(person, person)
    row.refresh_from_db()
    assert row.reason == f"{ERASED} answer, {ERASED}: planning"
    assert row.details == {"by": [ERASED]}
    assert Project.objects.filter(pk=world.project.pk).exists()


# Withdrawal


@pytest.mark.parametrize(
    ("rule", "work_asked", "left"),
    [("keep", "keep", 2), ("remove", "remove", 0), ("choose", "keep", 2), ("choose", "remove", 0)],
)
def test_withdrawal_keeps_or_removes_work_as_the_consent_says(world, rule, work_asked, left):
    publish_consent_text(world.owner, world.project, "Text.", rule)
    everybody_agrees(world)
    for _ in range(2):
        world.vote("vera")
    held = world.claim("vera", "validation")
    withdraw(world.vera, world.project, work_asked)
    assert Vote.objects.filter(person=world.vera).count() == left
    assert not Membership.objects.filter(person=world.vera).exists()
    assert not Slot.objects.filter(token=held.token).exists()
    assert Consent.objects.get(person=world.vera).withdrawn_at is not None
    assert AuditEvent.objects.get(action="withdraw").to_state == work_asked
    assert broken_invariants() == []


@pytest.mark.parametrize(("rule", "asked"), [("keep", "remove"), ("remove", "keep"), ("choose", "burn")])
def test_a_choice_that_the_consent_does_not_offer_is_refused(world, rule, asked):
    publish_consent_text(world.owner, world.project, "Text.", rule)
    everybody_agrees(world)
    with pytest.raises(AnnotationError, match="does not offer this choice"):
        withdraw(world.vera, world.project, asked)
    assert Membership.objects.filter(person=world.vera).exists()


def test_removed_edits_and_reviews_remain_without_personal_data(world):
    publish_consent_text(world.owner, world.project, "Text.", "remove")
    everybody_agrees(world)
    group = world.group()
    world.edit("ann", watch={"seconds": 2.0, "loops": 1, "covered": 1.0}, seconds=9.0)
    world.review("rita", comment="well done", seconds=3.0)
    for name in ("ann", "rita"):
        withdraw(getattr(world, name), world.project, "remove")
    edit, review = Edit.objects.get(), Review.objects.get()
    assert (edit.watch, edit.seconds_spent, review.comment, review.seconds_spent) == ({}, None, "", None)
    group.refresh_from_db()
    assert group.item_id
    assert not Draft.objects.exists()
    assert broken_invariants() == []


def test_declined_videos_are_in_personal_data_and_erased_with_it(world, zaphod):
    decline_video(zaphod, world.claim("zaphod", "validation").token)
    (row,) = own_data(zaphod)["declined_videos"]
    assert row["video__project__slug"] == world.project.slug
    erase_person(zaphod, zaphod)
    assert not DeclinedVideo.objects.exists()


def test_people_export_their_data_and_leave_on_their_own_pages(client, world, zaphod):
    plant(world, zaphod)
    client.force_login(zaphod)
    data = json.loads(client.get("/account/data.json").content)
    assert (data["account"]["email"], len(data["judgements"]), len(data["edits"])) == (MAIL, 2, 1)
    url = f"/projects/{world.project.slug}/leave/"
    assert client.get(url).status_code == 200
    assert client.post(url, {"work": "keep"}).status_code == 422
    assert client.post(url, {"work": "remove", "sure": "on"}).status_code == 422
    assert client.post(url, {"work": "keep", "sure": "on"})["Location"] == "/"
    assert client.get(url).status_code == 404
    assert timedelta(0) <= timezone.now() - AuditEvent.objects.get(action="withdraw").at < timedelta(hours=1)
