"""Ways in that do not hold: each is refused, and leaves an audit row that says who tried what, and why not."""

from datetime import timedelta
from itertools import product
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.crowd import enter_study
from annotation.actions.people import remove_member
from annotation.actions.submissions.judgements import submit_vote
from annotation.models import Vote
from annotation.queries.personal_data import own_data
from foilworks.core.corpus.models import Item
from foilworks.core.projects.actions.consent import publish_consent_text
from foilworks.core.projects.actions.invitations import accept_invitation, make_invitation, withdraw_invitation
from foilworks.core.projects.actions.members import add_member
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.crowd_entry import CODE_LETTERS, Entry, code_of, signature_of
from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import (
    AuditEvent,
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    Invitation,
    Membership,
    Role,
    SpentEntry,
    User,
)
from foilworks.core.projects.tokens import live_tokens
from tests.annotation.world import World, shown_as
from tests.factories import PASSWORD, make_item, make_member, make_project, make_subtest, make_user

pytestmark = pytest.mark.django_db
PID, SESSION = "60fd5aab8b6c0b0d4e0f1a2b", "61aa5aab8b6c0b0d4e0f1a2c"


def refusals() -> list[str]:
    return list(AuditEvent.objects.filter(action="projects.refused").order_by("pk").values_list("reason", flat=True))


def open_study(project, **fields) -> CrowdStudy:
    values = {
        "name": f"study {CrowdStudy.objects.count()}",
        "platform": "signed",
        "stage": "validation",
        "role": "validator",
        "pieces": 2,
        "places": 3,
    }
    return CrowdStudy.objects.create(project=project, **{**values, **fields})


def signed(study: CrowdStudy, worker: str = "worker-1", **more: str) -> dict[str, str]:
    ends = str(int((timezone.now() + timedelta(hours=1)).timestamp()))
    parameters = {"worker": worker, "expires": ends, "nonce": f"n{SpentEntry.objects.count()}-{worker}", **more}
    return {**parameters, "signature": signature_of(study, parameters)}


def arrive(study: CrowdStudy, parameters: dict[str, str], client: Client | None = None):
    """The link is opened and its form sent, as a browser does it; a link that is refused has no form.

    Where the project has no item at all it gets one: without work nobody is given a place.
    """
    if not Item.objects.filter(subtest__project=study.project).exists():
        make_item(make_subtest(study.project))
    browser = client or Client()
    page = browser.get(f"/enter/{study.key}/?{urlencode(parameters)}")
    return browser.post(f"/enter/{study.key}/", parameters) if page.status_code == 200 else page


def nobody_came(study: CrowdStudy) -> bool:
    return not CrowdPlace.objects.filter(study=study).exists() and not CrowdWorker.objects.exists()


# Invitations


@pytest.fixture
def owner(project) -> User:
    return make_member(project, "researcher", name="owner")


def test_a_forged_invitation_is_refused(client, project, owner):
    token = token_of(make_invitation(owner, project, ["annotator"]))
    payload, signature = token.split(":")
    other = token_of(make_invitation(owner, project, ["researcher"]))
    tries = [payload + ":" + signature[::-1], other.split(":")[0] + ":" + signature, "x", token[:-1]]
    for forged in tries:
        assert client.get(f"/join/{forged}/").status_code == 403
        assert client.post(f"/join/{forged}/", {"username": "eve"}).status_code == 403
    assert refusals() == ["invitation forged"] * 2 * len(tries)
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("why", ["expired", "withdrawn", "used up"])
def test_an_invitation_that_is_over_is_refused(client, project, owner, why):
    invitation = make_invitation(owner, project, ["annotator"])
    if why == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif why == "withdrawn":
        withdraw_invitation(owner, project, invitation.pk)
    else:
        accept_invitation(make_user(), token_of(invitation))
    late = make_user()
    client.force_login(late)
    answer = client.post(f"/join/{token_of(invitation)}/")
    assert answer.status_code == 403
    assert why.split()[0] in answer.content.decode()
    assert not Membership.objects.filter(person=late).exists()
    row = AuditEvent.objects.get(action="projects.refused")
    assert (row.actor, row.project, row.reason, row.to_state) == (late, project, f"invitation {why}", "refused")
    assert (row.target_type, row.target_id) == ("projects.invitation", str(invitation.pk))


def test_a_removed_member_does_not_come_back_by_the_old_link_nor_reach_a_page(client, project, owner):
    invitation = make_invitation(owner, project, ["annotator"], most_uses=None)
    ann = make_user("ann")
    accept_invitation(ann, token_of(invitation))
    remove_member(owner, project, ann.pk)
    client.force_login(ann)
    assert client.post(f"/join/{token_of(invitation)}/").status_code == 403
    assert client.get(f"/projects/{project.slug}/work/").status_code == 404
    assert refusals() == ["invitation removed", "NotAMember"]
    assert set(AuditEvent.objects.filter(action="projects.refused").values_list("actor", "project")) == {
        (ann.pk, project.pk)
    }


@pytest.mark.parametrize("field", ["roles", "role", "is_superuser", "is_staff", "project", "is_active"])
def test_unknown_fields_of_a_form_give_nobody_more_rights(client, project, owner, field):
    token = token_of(make_invitation(owner, project, ["annotator"], most_uses=None))
    account = {"username": "eve", "email": "", "password1": "a long one 42", "password2": "a long one 42"}
    assert client.post(f"/join/{token}/", {**account, field: "researcher"}).status_code == 403
    assert not User.objects.filter(username="eve").exists()
    ann = make_member(project, "annotator")
    client.force_login(ann)
    assert client.post("/account/", {"first_name": "A", "last_name": "", "email": "", field: "1"}).status_code == 403
    assert client.post(f"/join/{token}/", {field: "researcher"}).status_code == 403
    ann.refresh_from_db()
    assert (ann.is_superuser, ann.is_staff, ann.first_name) == (False, False, "")
    assert set(Membership.objects.filter(person=ann).values_list("role", flat=True)) == {"annotator"}
    assert refusals() == [f"fields: {field}"] * 3


def test_an_annotator_who_posts_to_an_owners_page_is_refused_with_a_row(client, project, owner):
    ann = make_member(project, "annotator")
    client.force_login(ann)
    people = f"/projects/{project.slug}/people/{ann.pk}/roles/"
    assert client.post(people, {"roles": ["researcher"]}).status_code == 403
    assert client.post(f"/projects/{project.slug}/invitations/", {"roles": ["researcher"]}).status_code == 403
    assert set(Membership.objects.filter(person=ann).values_list("role", flat=True)) == {"annotator"}
    rows = AuditEvent.objects.filter(action="projects.refused", actor=ann, project=project)
    assert [row.details["page"] for row in rows.order_by("pk")] == ["annotation:member_roles", "projects:invitations"]


# Signed entry


def test_a_signed_link_lets_its_worker_in_once(client, project):
    study = open_study(project)
    parameters = signed(study)
    assert arrive(study, parameters, client)["Location"].startswith(f"/projects/{project.slug}/work/validation/")
    place = CrowdPlace.objects.get()
    worker = CrowdWorker.objects.get()
    assert (worker.worker, worker.person, place.person) == ("worker-1", place.person, place.person)
    assert "worker-1" not in place.person.username
    assert not place.person.has_usable_password()
    # In the same browser the link leads back, and takes nothing.
    assert arrive(study, parameters, client).status_code == 302
    assert refusals() == []
    # Anywhere else it is a replay.
    assert arrive(study, parameters).status_code == 403
    assert refusals() == ["crowd replayed"]
    assert CrowdPlace.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"worker": "somebody-else"}, "crowd signature"),
        ({"approval": "0.99"}, "crowd signature"),
        ({"expires": "99999999999"}, "crowd signature"),
        ({"signature": "0" * 64}, "crowd signature"),
        ({"signature": "é"}, "crowd signature"),
        ({"role": "researcher"}, "crowd parameters"),
    ],
)
def test_a_signed_link_that_was_changed_is_refused(project, change, why):
    study = open_study(project)
    assert arrive(study, {**signed(study), **change}).status_code == 403
    assert refusals() == [why]
    assert nobody_came(study)


def test_the_form_takes_no_field_beside_the_parameters(project):
    study = open_study(project)
    assert Client().post(f"/enter/{study.key}/", {**signed(study), "role": "researcher"}).status_code == 403
    assert refusals() == ["fields: role"]
    assert nobody_came(study)


@pytest.mark.parametrize("missing", ["worker", "expires", "nonce", "signature"])
def test_a_signed_link_that_lacks_something_is_refused(project, missing):
    study = open_study(project)
    parameters = signed(study)
    del parameters[missing]
    assert arrive(study, parameters).status_code == 403
    assert refusals() == ["crowd parameters"]


@pytest.mark.parametrize("seconds", [-1, 8 * 24 * 3600])
def test_an_expired_or_too_long_lived_link_is_refused(project, seconds):
    study = open_study(project)
    ends = str(int((timezone.now() + timedelta(seconds=seconds)).timestamp()))
    assert arrive(study, signed(study, expires=ends)).status_code == 403
    assert refusals() == ["crowd expired"]


@pytest.mark.parametrize("name", ["worker", "session", "nonce"])
@pytest.mark.parametrize("value", ["-Vg", "_Vg", "a=", "-", "x" * 128])
def test_ids_of_url_safe_letters_are_accepted(project, name, value):
    study = open_study(project)
    assert arrive(study, signed(study, **{"nonce": "n1", name: value})).status_code == 302


@pytest.mark.parametrize("nonce", ["a/b+c==", "~!'\"<>&"])
def test_a_nonce_is_anything_that_can_be_seen(project, nonce):
    study = open_study(project)
    parameters = signed(study, nonce=nonce)
    assert arrive(study, parameters).status_code == 302
    assert arrive(study, parameters).status_code == 403
    assert refusals() == ["crowd replayed"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # A form would not send these on unchanged.
        *(("nonce", value) for value in ("", " ", "a b", "a\0b", "a\nb", "é", "x" * 129)),
        *product(("worker", "session"), (" ", "a b", "a/b", "a\0b", "<script>", "é", "x" * 129)),
    ],
)
def test_parameters_of_other_letters_are_refused(project, name, value):
    study = open_study(project)
    assert arrive(study, signed(study, **{"nonce": "n1", name: value})).status_code == 403
    assert refusals() == ["crowd parameters"]
    assert nobody_came(study)


def test_another_platforms_signature_is_refused(project):
    mine, theirs = open_study(project), open_study(make_project())
    assert arrive(mine, signed(theirs)).status_code == 403
    # The same secret, even: the study is signed, too.
    theirs.secret = mine.secret
    assert arrive(mine, signed(theirs)).status_code == 403
    assert refusals() == ["crowd signature"] * 2
    assert nobody_came(mine)


# Prolific


def prolific(study: CrowdStudy, pid: str = PID, session: str = SESSION, of: str = "") -> dict[str, str]:
    return {"PROLIFIC_PID": pid, "STUDY_ID": of or study.platform_study, "SESSION_ID": session}


@pytest.fixture
def study(project) -> CrowdStudy:
    return open_study(project, platform="prolific", platform_study="5f0000000000000000000001")


def test_a_link_of_another_study_on_prolific_is_refused(study):
    assert arrive(study, prolific(study, of="5f0000000000000000000002")).status_code == 403
    assert refusals() == ["crowd another study"]
    assert nobody_came(study)


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
@pytest.mark.parametrize("value", [None, "", "{{%PROLIFIC_PID%}}", "a b", "x" * 129, "a\0b", "<script>"])
def test_parameters_that_prolific_does_not_send_are_refused(study, name, value):
    parameters = prolific(study)
    if value is None:
        del parameters[name]
    else:
        parameters[name] = value
    assert arrive(study, parameters).status_code == 403
    assert refusals() == ["crowd parameters"]
    assert nobody_came(study)


def test_the_visit_of_somebody_else_is_refused(study):
    assert arrive(study, prolific(study)).status_code == 302
    assert arrive(study, prolific(study, pid="60fd5aab8b6c0b0d4e0fffff")).status_code == 403
    assert arrive(study, prolific(study, session="61aa5aab8b6c0b0d4e0fffff")).status_code == 403
    assert refusals() == ["crowd session", "crowd replayed"]
    assert CrowdPlace.objects.count() == CrowdWorker.objects.count() == 1


def test_a_visit_on_prolific_is_led_back_in_its_own_browser_and_refused_in_another(client, study):
    assert arrive(study, prolific(study), client).status_code == 302
    assert arrive(study, prolific(study), client).status_code == 302
    assert refusals() == []
    assert arrive(study, prolific(study)).status_code == 403
    assert refusals() == ["crowd elsewhere"]
    assert CrowdPlace.objects.count() == 1


def test_an_address_that_sends_many_bad_links_has_to_wait(client, project, settings):
    study = open_study(project)
    for _ in range(60):
        client.get(f"/enter/{study.key}/", {"worker": "x"})
    assert client.get(f"/enter/{study.key}/", signed(study)).status_code == 429
    assert len(refusals()) == 61


def account_routes() -> set[str]:
    """What begins like a page of one's own account, in every app's addresses."""
    included = [found for found in get_resolver().url_patterns if isinstance(found, URLResolver)]
    routes = {f"/{found.pattern}{page.pattern}" for found in included for page in found.url_patterns}
    return {route for route in routes if route.startswith(("/account/", "/tokens/"))}


@pytest.mark.parametrize("elsewhere", [True, False])
def test_unsigned_ids_open_work_but_no_stored_data(world, elsewhere):
    """A worker is one account over all studies of a project; in another browser their ids prove nothing."""
    publish_consent_text(make_member(world.project, Role.RESEARCHER), world.project, "You choose.", "choose")
    for _ in range(2):
        world.item()
    studies = [open_study(world.project, platform="prolific", platform_study=f"5f{n}", pieces=1) for n in range(2)]
    first, other = Client(), Client()
    agrees = {"version": 1, "agree": "on"}
    first.post(f"/enter/{studies[0].key}/", prolific(studies[0]) | agrees)
    person = CrowdPlace.objects.get().person
    work(world, person, 1)
    first.post(f"/projects/{world.project.slug}/place/", {"move": "complete"})
    browser = other if elsewhere else first
    browser.post(f"/enter/{studies[1].key}/", prolific(studies[1], session="another") | agrees)
    assert CrowdPlace.objects.get(study=studies[1]).person == person
    assert browser.get(f"/projects/{world.project.slug}/place/").status_code == 200
    told = 403 if elsewhere else 200
    own = ("/account/", "/account/second-factor/", "/account/data.json", "/account/erase/", "/tokens/")
    # Whoever adds a page of the account has to guard it, and to name it here.
    assert account_routes() == {*own, "/tokens/<int:pk>/revoke/"}
    assert {page: browser.get(page).status_code for page in own} == dict.fromkeys(own, told)
    # Refused before anything else is asked; forms that lack something elsewhere.
    wrong = 403 if elsewhere else 422
    for page in ("/account/second-factor/", "/tokens/"):
        assert browser.post(page).status_code == wrong
    named = browser.post("/account/", {"first_name": "Mallory", "email": "mallory@example.org"})
    assert named.status_code == (403 if elsewhere else 302)
    assert User.objects.filter(email="mallory@example.org").exists() == (not elsewhere)
    token = make_token(person, name="mine").token
    assert browser.post(f"/tokens/{token.pk}/revoke/").status_code == (403 if elsewhere else 302)
    assert bool(live_tokens(person)) == elsewhere
    assert browser.post("/account/erase/", {"work": "keep", "sure": ""}).status_code == wrong
    assert {page: first.get(page).status_code for page in own} == dict.fromkeys(own, 200)
    works = ("keep", "remove") if elsewhere else ("remove",)
    for work_is in works:
        left = browser.post(f"/projects/{world.project.slug}/leave/", {"work": work_is, "sure": "on"})
        assert left.status_code == (403 if elsewhere else 302)
    assert Vote.objects.filter(person=person).exists() == elsewhere
    assert Membership.objects.filter(person=person).exists() == elsewhere


# Work and codes


def work(world: World, person: User, pieces: int) -> None:
    for _ in range(pieces):
        found = claim(person, world.project, "validation")
        submit_vote(person, found.token, f"key-{Vote.objects.count()}", shown_as("caption", found))


def test_no_code_before_the_work_is_done(client, crowd):
    study = open_study(crowd.project, pieces=2)
    arrive(study, signed(study), client)
    place = CrowdPlace.objects.get()
    url = f"/projects/{crowd.project.slug}/place/"
    work(crowd, place.person, 1)
    assert code_of(place) not in client.get(url).content.decode()
    assert client.post(url, {"move": "complete"}).status_code == 403
    assert refusals() == ["crowd unfinished"]
    work(crowd, place.person, 1)
    assert code_of(place) not in client.get(url).content.decode()
    assert client.post(url, {"move": "complete"}).status_code == 302
    assert code_of(place) in client.get(url).content.decode()
    # With the place its role ends: nobody works on unpaid.
    assert not Membership.objects.filter(person=place.person).exists()
    # A link that was used up shows no code to anybody else.
    assert arrive(study, signed(study, nonce="another")).status_code == 403
    assert refusals() == ["crowd unfinished", "crowd replayed"]


def test_a_guessed_code_is_refused_and_guessing_has_an_end(client, crowd):
    study = open_study(crowd.project, pieces=1)
    arrive(study, signed(study))
    place = CrowdPlace.objects.get()
    work(crowd, place.person, 1)
    url = f"/projects/{crowd.project.slug}/crowd/{study.pk}/"
    client.force_login(crowd.owner)
    code = code_of(place)
    assert len(code) == 12
    assert set(code) <= set(CODE_LETTERS)
    # Not completed yet: the right code is no code.
    assert client.post(url, {"code": code}).status_code == 422
    CrowdPlace.objects.update(state="completed", ended_at=timezone.now())
    assert client.post(url, {"code": code}).context["owner"] == place
    near = code[:-1] + ("A" if code[-1] != "A" else "B")
    for guess in [near, "", code[:6], code.lower(), *["A" * 12] * 6]:
        assert client.post(url, {"code": guess}).status_code == 422
    assert client.post(url, {"code": code}).status_code == 429
    # The empty one never came to be a guess.
    assert refusals() == ["crowd code"] * 10 + ["TooManyTries"]


def test_a_worker_who_was_removed_gets_no_code_and_is_not_let_in_again(client, crowd, study):
    study = open_study(crowd.project, platform="prolific", platform_study="5f0000000000000000000009")
    arrive(study, prolific(study), client)
    person = CrowdPlace.objects.get().person
    work(crowd, person, 1)
    remove_member(crowd.owner, crowd.project, person.pk)
    assert arrive(study, prolific(study)).status_code == 403
    assert client.post(f"/projects/{crowd.project.slug}/place/", {"move": "complete"}).status_code == 403
    assert refusals() == ["crowd removed", "crowd unfinished"]


def removed_worker(crowd) -> tuple[CrowdStudy, User]:
    """Entered a study as `w1`, and was removed while at it."""
    study = open_study(crowd.project, minutes=30)
    person = enter_study(study, Entry("w1", session="one")).person
    remove_member(crowd.owner, crowd.project, person.pk)
    return study, person


def kept_out(study: CrowdStudy, minutes: int = 0) -> str:
    """Why `w1` is not let in on a new visit so much later, or empty where they are."""
    try:
        enter_study(study, Entry("w1", session="two"), now=timezone.now() + timedelta(minutes=minutes))
    except EntryRefused as error:
        return error.why
    return ""


def test_a_removed_worker_comes_in_by_no_later_visit_and_no_other_study(crowd):
    study, person = removed_worker(crowd)
    # Their place is over by then.
    assert kept_out(study, minutes=31) == "crowd removed"
    assert kept_out(open_study(crowd.project, stage="edit", role="annotator")) == "crowd removed"
    assert not Membership.objects.filter(person=person).exists()
    assert kept_out(open_study(make_project())) == ""
    # What is stored of a person is theirs to see.
    assert [row["removed_at"] is None for row in own_data(person)["crowd_ids"]] == [False]


def test_a_removed_worker_who_is_added_again_may_come_again(crowd):
    study, person = removed_worker(crowd)
    add_member(crowd.owner, crowd.project, person.username, ["annotator"])
    assert kept_out(study, minutes=31) == ""


def test_a_removed_worker_comes_again_by_an_invitation_that_was_made_since_and_by_no_older_one(crowd):
    older = make_invitation(crowd.owner, crowd.project, ["annotator"])
    study, person = removed_worker(crowd)
    accept_invitation(person, token_of(older))
    assert kept_out(study, minutes=31) == "crowd removed"
    accept_invitation(person, token_of(make_invitation(crowd.owner, crowd.project, ["reviewer"])))
    assert kept_out(study, minutes=31) == ""


def test_a_removed_member_sends_nothing_under_an_old_lease(client, crowd):
    held = crowd.claim("vera", "validation")
    remove_member(crowd.owner, crowd.project, crowd.vera.pk)
    client.force_login(crowd.vera)
    url = f"/projects/{crowd.project.slug}/work/validation/{held.token}/"
    assert client.post(url, {"answer": "1", "idempotency_key": "k"}).status_code == 404
    assert not Vote.objects.exists()
    row = AuditEvent.objects.get(action="projects.refused")
    assert (row.actor, row.project, row.details["page"]) == (crowd.vera, crowd.project, "annotation:validation")


def test_a_refusal_within_a_transaction_changes_nothing(project):
    study = open_study(project, places=1)
    assert arrive(study, signed(study, "one")).status_code == 302
    late = signed(study, "two")
    assert arrive(study, late).status_code == 403
    assert refusals() == ["crowd full"]
    assert not CrowdWorker.objects.filter(worker="two").exists()
    # The place comes back, and the same link holds still: it was never spent.
    CrowdPlace.objects.update(state="returned")
    assert arrive(study, late).status_code == 302


def test_the_password_of_a_member_is_not_asked_for_by_an_entry(client, project):
    """A signed-in person who opens an entry link becomes the worker, and keeps nothing of who they were."""
    study, ann = open_study(project), make_member(project, "researcher", name="ann")
    client.login(username="ann", password=PASSWORD)
    arrive(study, signed(study), client)
    assert client.get("/account/").context["user"] != ann
