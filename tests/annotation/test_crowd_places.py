"""Places of a crowd study: taken, counted from the work, given back, timed out; whom the bar keeps out; consent."""

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.actions.claims.claim import claim
from annotation.actions.crowd import (
    complete_place,
    enter_study,
    free_late_places,
    free_place,
    open_crowd_study,
    return_link,
    return_place,
    set_study_open,
)
from annotation.actions.people import remove_member
from annotation.actions.quality.validators import exclude_votes
from annotation.actions.settings.work_settings import publish_guideline, set_pay
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_vote
from annotation.errors import AnnotationError
from annotation.models import PayEntry, QualityPolicy, Slot, Standing, Vote
from annotation.queries.crowd import places_left, progress_of
from annotation.rules.pay import Rate
from annotation.views._work_pages import SWAP, SWAP_GOES
from foilworks.core.projects.actions.consent import publish_consent_text
from foilworks.core.projects.crowd_entry import CROWD_PLACE_KEY, Entry, code_of
from foilworks.core.projects.errors import AccessDenied, EntryRefused
from foilworks.core.projects.models import AuditEvent, Consent, CrowdPlace, CrowdStudy, CrowdWorker, Membership
from tests.annotation.test_entry_attacks import arrive, open_study, prolific, signed, work
from tests.annotation.world import World, browser, url
from tests.factories import make_member
from tests.invariants import broken_invariants
from tests.pages import read_page

pytestmark = pytest.mark.django_db


def plain(answer: Any) -> str:
    return " ".join(strip_tags(answer.content.decode()).split())


def entered(study: CrowdStudy, worker: str = "w1", **also) -> CrowdPlace:
    return enter_study(study, Entry(worker, **also))


def test_the_work_is_counted_from_what_was_sent_since_the_entry(crowd):
    study = open_study(crowd.project, pieces=3)
    place = entered(study)
    assert progress_of(place).missing == 3
    work(crowd, place.person, 2)
    undo_vote(place.person, Vote.objects.order_by("-pk").first().pk)
    assert progress_of(place).done == 1
    # What others did is not theirs; what they did before they came is not of this place.
    crowd.vote("vera")
    Vote.objects.filter(person=place.person).update(created_at=place.entered_at - timedelta(minutes=1))
    assert progress_of(place).done == 0


def test_excluded_votes_do_not_count_as_work(crowd):
    QualityPolicy.objects.create(project=crowd.project)
    study = open_study(crowd.project, pieces=1)
    place = entered(study)
    work(crowd, place.person, 1)
    assert progress_of(place).is_complete
    exclude_votes(crowd.owner, crowd.project, place.person.pk, "guessing")
    assert not progress_of(place).is_complete


def test_if_no_task_remains_the_completed_tasks_are_enough(crowd):
    study = open_study(crowd.project, pieces=10)
    place = entered(study)
    assert not progress_of(place).is_complete
    work(crowd, place.person, 3)
    assert progress_of(place).nothing_left
    assert complete_place(place.person, crowd.project).state == "completed"


def test_an_empty_queue_completes_nothing(world):
    place = entered(open_study(world.project))
    progress = progress_of(place)
    assert (progress.nothing_left, progress.is_complete) == (True, False)


def test_a_returned_place_frees_its_leases(crowd):
    study = open_study(crowd.project, places=1)
    place = entered(study)
    claim(place.person, crowd.project, "validation")
    assert places_left(study) == 0
    with pytest.raises(EntryRefused, match="This study is full"):
        entered(study, "w2")
    return_place(place.person, crowd.project)
    assert places_left(study) == 1
    assert not Slot.objects.filter(state="leased").exists()
    assert not Membership.objects.filter(person=place.person).exists()
    second = entered(study, "w2")
    work(crowd, second.person, 2)
    assert complete_place(second.person, crowd.project).state == "completed"
    assert AuditEvent.objects.filter(action="end_place").count() == 2
    assert broken_invariants() == []


def test_a_timed_out_place_is_free_for_the_next_person(crowd):
    study = open_study(crowd.project, places=1, minutes=30)
    first = entered(study)
    work(crowd, first.person, 1)
    claim(first.person, crowd.project, "validation")
    later = timezone.now() + timedelta(minutes=31)
    second = enter_study(study, Entry("w2"), now=later)
    first.refresh_from_db()
    assert (first.state, second.state) == ("timed_out", "active")
    # What was done stays; what was in hand is free.
    assert Vote.objects.filter(person=first.person, state="counted").count() == 1
    assert not Slot.objects.filter(person=first.person, state="leased").exists()
    with pytest.raises(EntryRefused, match="This study is full"):
        enter_study(study, Entry("w1"), now=later)
    assert broken_invariants() == []


def test_a_researcher_frees_late_places_and_single_ones(crowd):
    study = open_study(crowd.project, places=2)
    late, other = entered(study), entered(study, "w2")
    CrowdPlace.objects.filter(pk=late.pk).update(deadline=timezone.now())
    assert free_late_places(crowd.owner, crowd.project, study.pk) == 1
    assert free_place(crowd.owner, crowd.project, study.pk, other.pk)
    assert not free_place(crowd.owner, crowd.project, study.pk, other.pk)
    assert places_left(study) == 2
    with pytest.raises(AnnotationError, match="Place not found"):
        free_place(crowd.owner, crowd.project, study.pk, 0)
    with pytest.raises(AccessDenied):
        free_place(crowd.vera, crowd.project, study.pk, other.pk)


def test_a_worker_is_one_account_over_all_studies_of_a_project_so_that_leakage_holds(crowd):
    edits = open_study(crowd.project, stage="edit", role="annotator")
    votes = open_study(crowd.project)
    assert entered(edits).person == entered(votes).person
    elsewhere = open_study(make_member(crowd.project, "researcher").memberships.get().project)
    assert entered(elsewhere, "w9").person != entered(votes, "w2").person


def test_a_closed_study_admits_nobody_but_its_people_continue(crowd):
    study = open_study(crowd.project)
    place = entered(study, session="s1")
    assert set_study_open(crowd.owner, crowd.project, study.pk, False)
    with pytest.raises(EntryRefused, match="closed"):
        entered(study, "w2")
    assert entered(study, session="s1") == place


@pytest.mark.parametrize(("rate", "let_in"), [(0.89, False), (0.9, True), (None, True)])
def test_the_approval_that_the_platform_signs_is_held_against_the_bar(crowd, rate, let_in):
    study = open_study(crowd.project, least_approval=0.9)
    sent = signed(study, **({"approval": str(rate)} if rate is not None else {}))
    answer = arrive(study, sent)
    assert (answer.status_code == 302) is let_in
    if not let_in:
        assert "higher approval rate" in answer.content.decode()
        assert AuditEvent.objects.get(action="projects.refused").reason == "crowd approval"


@pytest.mark.parametrize(("seen", "right", "let_in"), [(10, 8, False), (10, 9, True), (3, 0, True)])
def test_low_gold_accuracy_here_excludes_from_the_next_study(crowd, seen, right, let_in):
    first = open_study(crowd.project, pieces=1)
    place = entered(first)
    policy = QualityPolicy.objects.create(project=crowd.project)
    Standing.objects.create(policy=policy, person=place.person, gold_seen=seen, gold_right=right)
    return_place(place.person, crowd.project)
    second = open_study(crowd.project, least_approval=0.9)
    if let_in:
        assert entered(second).person == place.person
    else:
        with pytest.raises(EntryRefused, match="higher approval rate"):
            entered(second)


def test_a_study_says_what_it_lacks(crowd):
    fields = {"name": "s", "platform": "prolific", "stage": "validation", "pieces": 1, "places": 1}
    with pytest.raises(AnnotationError, match="consent text"):
        open_crowd_study(crowd.owner, crowd.project, **fields, platform_study="5f")
    publish_consent_text(crowd.owner, crowd.project, "We store your answers.", "keep")
    with pytest.raises(AnnotationError, match="Prolific study ID"):
        open_crowd_study(crowd.owner, crowd.project, **fields)
    study = open_crowd_study(crowd.owner, crowd.project, **fields, platform_study="5f")
    assert (study.role, len(study.secret) >= 43) == ("validator", True)
    with pytest.raises(AnnotationError, match="already"):
        open_crowd_study(crowd.owner, crowd.project, **fields, platform_study="5f")
    with pytest.raises(AnnotationError):
        open_crowd_study(crowd.owner, crowd.project, **{**fields, "name": "t", "pieces": 0}, platform_study="5f")
    with pytest.raises(AccessDenied):
        open_crowd_study(crowd.vera, crowd.project, **fields)


def test_nobody_takes_a_place_by_looking_and_consent_comes_first(client, crowd):
    publish_consent_text(crowd.owner, crowd.project, "You may stop at any time.", "choose")
    study = open_study(crowd.project, platform="prolific", platform_study="5f")
    page = client.get(f"/enter/{study.key}/", prolific(study))
    assert "You may stop at any time." in page.content.decode()
    assert not CrowdPlace.objects.exists()
    assert client.post(f"/enter/{study.key}/", {**prolific(study), "version": 1}).status_code == 422
    assert not CrowdPlace.objects.exists()
    sent = {**prolific(study), "version": 1, "agree": "on"}
    assert client.post(f"/enter/{study.key}/", sent).status_code == 302
    place = CrowdPlace.objects.get()
    assert Consent.objects.get().person == place.person
    assert client.get(f"/projects/{crowd.project.slug}/work/validation/").status_code == 200


def test_the_work_pages_lead_back_to_the_place_once_its_work_is_done(client, crowd):
    study = open_study(crowd.project, pieces=2)
    arrive(study, signed(study), client)
    queue, place = f"/projects/{crowd.project.slug}/work/validation/", f"/projects/{crowd.project.slug}/place/"
    assert place in client.get(queue).content.decode()
    where = client.post(queue)["Location"]
    for expected in ("/work/validation/", place):
        where = client.post(where, {"answer": "1", "idempotency_key": f"k{expected}"})["Location"]
        assert expected in where
    # By this the outbox knows that what it sent was taken.
    assert where == f"{place}?done=vote-{Vote.objects.latest('pk').pk}"
    assert client.post(place, {"move": "complete"}).status_code == 302
    assert "Your completion code" in client.get(place).content.decode()
    assert not Slot.objects.filter(state="leased").exists()


def test_the_pages_name_only_the_tasks_of_the_place(client, crowd):
    study = open_study(crowd.project, pieces=2)
    queue, place = f"/projects/{crowd.project.slug}/work/validation/", f"/projects/{crowd.project.slug}/place/"
    where = arrive(study, signed(study), client)["Location"]
    assert queue in where
    task = client.get(where).content.decode()
    assert re.search(r"data-done-today>0</span>\s+of <span data-total>2</span>", task)
    assert "1 task in progress. 1 task to do." in plain(client.get(queue))
    assert "1 in progress 1 to do" in plain(client.get(f"/projects/{crowd.project.slug}/"))
    assert "validation: 1 to do" in plain(client.get("/"))
    for key in ("a", "b"):
        where = client.post(where, {"answer": "1", "idempotency_key": key})["Location"]
    assert "All your tasks are done." in plain(client.get(place))
    assert "Stop working on this study" not in plain(client.get(place))
    assert "You have done all tasks of your place" in plain(client.get(queue))
    assert "You have done all tasks of your place" in plain(client.get(f"/projects/{crowd.project.slug}/"))
    client.post(place, {"move": "complete"})
    assert "Your participation has ended" in plain(client.get("/"))


@pytest.mark.parametrize("scripts", [False, True])
def test_a_late_answer_shows_the_state_of_the_ended_place(client, crowd, scripts):
    study = open_study(crowd.project)
    arrive(study, signed(study), client)
    piece = client.post(f"/projects/{crowd.project.slug}/work/validation/")["Location"]
    CrowdPlace.objects.update(deadline=timezone.now())
    free_late_places(crowd.owner, crowd.project, study.pk)
    place = f"/projects/{crowd.project.slug}/place/"
    headers = {SWAP: "1"} if scripts else {}
    answer = client.post(piece, {"answer": "1", "idempotency_key": "k"}, headers=headers)
    status, where = (204, SWAP_GOES) if scripts else (302, "Location")
    assert (answer.status_code, answer.headers[where]) == (status, place)
    read_page(client.get(place)).check("Timed out.", "Your last answer was not saved")
    assert not Vote.objects.exists()
    assert not AuditEvent.objects.filter(action="projects.refused").exists()
    # A script that renews the lease has no use for a page.
    heartbeat = reverse("annotation:heartbeat", args=[crowd.project.slug, piece.split("/")[-2]])
    assert client.post(heartbeat, headers={"accept": "application/json"}).status_code == 404


def test_a_person_removed_from_a_place_learns_nothing(client, crowd):
    study = open_study(crowd.project)
    arrive(study, signed(study), client)
    queue = f"/projects/{crowd.project.slug}/work/validation/"
    remove_member(crowd.owner, crowd.project, CrowdPlace.objects.get().person_id)
    assert client.post(queue).status_code == 404
    CrowdPlace.objects.update(deadline=timezone.now())
    free_late_places(crowd.owner, crowd.project, study.pk)
    assert client.post(queue).status_code == 404
    assert AuditEvent.objects.filter(action="projects.refused").count() == 2


def in_two(crowd: World, client: Client) -> tuple[CrowdPlace, CrowdPlace]:
    """The browser's worker entered a study of edits, then one of judgements; both places."""
    crowd.group()
    for stage, role in (("edit", "annotator"), ("validation", "validator")):
        study = open_study(crowd.project, stage=stage, role=role, pieces=1)
        arrive(study, signed(study), client)
    edits, votes = CrowdPlace.objects.select_related("study", "person").order_by("pk")
    return edits, votes


def test_a_person_in_two_studies_reaches_both_places(client, crowd):
    edits, votes = in_two(crowd, client)
    person, page = edits.person, f"/projects/{crowd.project.slug}/place/"
    submit_edit(person, claim(person, crowd.project, "edit").token, "k", ["a man unfolds a shirt."], [])
    work(crowd, person, 1)
    assert votes.study.name in client.get(page).content.decode()
    assert client.post(page, {"move": "complete"}).status_code == 302
    assert code_of(votes) in client.get(page).content.decode()
    assert arrive(edits.study, signed(edits.study), client).url == page
    shown = client.get(page).content.decode()
    assert (edits.study.name in shown, "1 of 1 task" in shown) == (True, True)
    assert client.post(page, {"move": "complete"}).status_code == 302
    assert code_of(edits) in client.get(page).content.decode()
    assert not Membership.objects.filter(person=person).exists()


def test_a_form_moves_the_place_that_its_page_showed(client, crowd):
    edits, votes = in_two(crowd, client)
    page = f"/projects/{crowd.project.slug}/place/"
    assert f'name="place" value="{votes.pk}"' in client.get(page).content.decode()
    client.post(page, {"move": "return", "place": edits.pk})
    assert list(CrowdPlace.objects.order_by("pk").values_list("state", flat=True)) == ["returned", "active"]
    elsewhere = entered(open_study(crowd.project, pieces=9), "w2")
    client.post(page, {"move": "return", "place": elsewhere.pk})
    elsewhere.refresh_from_db()
    assert elsewhere.state == "active"


@pytest.mark.parametrize("scripts", [False, True])
def test_a_late_answer_shows_the_ended_place_and_not_the_other_one(client, crowd, scripts):
    edits, _votes = in_two(crowd, client)
    piece = client.post(f"/projects/{crowd.project.slug}/work/edit/")["Location"]
    CrowdPlace.objects.filter(pk=edits.pk).update(deadline=timezone.now())
    free_late_places(crowd.owner, crowd.project, edits.study_id)
    sent = {"text": "a man unfolds a shirt.", "idempotency_key": "k"}
    answer = client.post(piece, sent, headers={SWAP: "1"} if scripts else {})
    place = f"/projects/{crowd.project.slug}/place/"
    assert answer.headers[SWAP_GOES if scripts else "Location"] == place
    shown = client.get(place).content.decode()
    assert (edits.study.name in shown, "Timed out." in shown) == (True, True)
    assert "Your last answer was not saved" in shown
    assert not AuditEvent.objects.filter(action="projects.refused").exists()
    # The other goes on, and what neither gave is refused.
    assert client.get(f"/projects/{crowd.project.slug}/work/validation/").status_code == 200
    assert client.get(f"/projects/{crowd.project.slug}/crowd/").status_code == 403
    heartbeat = reverse("annotation:heartbeat", args=[crowd.project.slug, piece.split("/")[-2]])
    assert client.post(heartbeat, headers={"accept": "application/json"}).status_code == 404


def test_a_person_who_has_done_a_study_is_led_to_its_place(client, crowd):
    edits, _votes = in_two(crowd, client)
    piece = client.post(f"/projects/{crowd.project.slug}/work/edit/")["Location"]
    done = client.post(piece, {"text": "a man unfolds a shirt.", "idempotency_key": "k"})
    shown = client.get(done["Location"]).content.decode()
    assert (edits.study.name in shown, "1 of 1 task" in shown) == (True, True)


def test_a_session_from_before_a_place_was_named_in_it_reaches_the_active_one(client, crowd):
    edits, votes = in_two(crowd, client)
    return_place(votes.person, crowd.project, votes.pk)
    session = client.session
    session[CROWD_PLACE_KEY] = True
    session.save()
    assert edits.study.name in client.get(f"/projects/{crowd.project.slug}/place/").content.decode()


def test_two_studies_of_one_stage_are_done_one_after_the_other(crowd):
    first, second = open_study(crowd.project, minutes=30), open_study(crowd.project)
    place = entered(first)
    with pytest.raises(EntryRefused, match="another study of this project"):
        entered(second)
    assert entered(open_study(crowd.project, stage="edit", role="annotator")).person == place.person
    # Over, and nobody has come since who would have found it so.
    later = timezone.now() + timedelta(minutes=31)
    assert enter_study(second, Entry("w1"), now=later).state == "active"
    place.refresh_from_db()
    assert place.state == "timed_out"
    assert Membership.objects.filter(person=place.person, role="validator").exists()
    return_place(place.person, crowd.project)
    assert entered(first).state == "active"


def test_an_empty_queue_leads_back_to_the_place(client, world):
    study = open_study(world.project)
    arrive(study, signed(study), client)
    # Others have taken what there was.
    Slot.objects.update(state="cancelled")
    assert client.post(f"/projects/{world.project.slug}/work/validation/")["Location"].endswith("/place/")


def test_an_empty_study_says_so_and_gives_out_no_place(client, world):
    study = open_study(world.project)
    link = signed(study)
    page = client.get(f"/enter/{study.key}/", link).content.decode()
    assert "There are no tasks in this study right now, so no place is reserved for you." in page
    assert '<fieldset class="form" disabled>' in page
    # Sending the form anyway takes no place either, and the link stays valid.
    assert client.post(f"/enter/{study.key}/", link).status_code == 200
    assert not CrowdPlace.objects.exists()
    assert not CrowdWorker.objects.exists()
    world.item()
    assert client.post(f"/enter/{study.key}/", link).status_code == 302
    assert CrowdPlace.objects.get().state == "active"


@pytest.mark.parametrize(("change", "words"), [({"is_open": False}, "is closed"), ({"places": 1}, "is full")])
def test_a_study_that_lets_nobody_in_says_so_before_the_form_is_sent(client, crowd, change, words):
    study = open_study(crowd.project)
    here, elsewhere = signed(study), Client()
    arrive(study, here, elsewhere)
    CrowdStudy.objects.update(**change)
    assert f"This study {words}." in client.get(f"/enter/{study.key}/", signed(study, "worker-2")).content.decode()
    # A person with a place returns to it, also by a new link from another browser.
    assert "data-closed" not in client.get(f"/enter/{study.key}/", signed(study)).content.decode()
    # A place whose time is over is free for the next.
    CrowdStudy.objects.update(is_open=True)
    CrowdPlace.objects.update(deadline=timezone.now())
    assert "data-closed" not in client.get(f"/enter/{study.key}/", signed(study, "worker-2")).content.decode()


def test_the_entry_page_shows_pay_an_example_and_the_guidelines(client, crowd):
    study = open_study(crowd.project, pieces=10)
    address = f"/enter/{study.key}/"
    page = client.get(address, signed(study)).content.decode()
    assert "Set by the platform" in page
    assert "Read the guidelines" not in page
    euros = {"currency": "EUR", "floor": None}
    set_pay(crowd.owner, crowd.project, rates={"validation": Rate("piece", Decimal("0.15"))}, **euros)
    publish_guideline(crowd.owner, crowd.project, "validation", "Watch it *to the end*.")
    page = client.get(address, signed(study)).content.decode()
    assert "0.15 EUR per task; 10 tasks pay 1.50 EUR" in " ".join(page.split())
    assert "Watch it <em>to the end</em>." in page
    assert re.search(r"<del>.*opens.*</del>.*<ins>.*closes.*</ins>", page, re.DOTALL)
    set_pay(crowd.owner, crowd.project, rates={"validation": Rate("hour", Decimal(12))}, **euros)
    assert "12.00 EUR per hour" in " ".join(client.get(address, signed(study)).content.decode().split())


def test_nobody_enters_at_another_rate_than_their_page_showed(client, crowd):
    study = open_study(crowd.project, pieces=2)

    def pay(amount: str, currency: str = "EUR") -> None:
        rates = {"validation": Rate("piece", Decimal(amount))}
        set_pay(crowd.owner, crowd.project, rates=rates, currency=currency, floor=None)

    def arrives(worker: str, visit: str, shown: str) -> Client:
        person = Client()
        address, link = f"/enter/{study.key}/", lambda: signed(study, worker, session=visit)
        fields = read_page(person.get(address, link())).fields
        assert shown in fields["pay"]
        pay("0.10")
        refused = person.post(address, {**link(), "pay": fields["pay"]}) if shown != "0.10" else None
        if refused:
            assert (refused.status_code, refused.context["pay"][:4]) == (422, "0.10")
            read_page(refused).check("The pay has changed.")
        assert not CrowdPlace.objects.filter(session=visit, state="active").exists()
        assert person.post(address, {**link(), "pay": "0.10 EUR per task; 2 tasks pay 0.20 EUR"}).status_code == 302
        return person

    pay("0.50")
    arrives("w1", "visit1", "0.50")
    pay("0.90")
    with pytest.raises(AnnotationError, match="promised pay in EUR"):
        pay("0.90", "USD")
    # The same visit after a release: the person keeps the rate of their place, and the page says so.
    place = CrowdPlace.objects.get()
    free_place(crowd.owner, crowd.project, study.pk, place.pk)
    back = arrives("w1", "visit1", "0.10")
    task = back.post(f"/projects/{crowd.project.slug}/work/validation/")["Location"]
    back.post(task, {"idempotency_key": "k1", "answer": "first", "seconds": "9"})
    assert PayEntry.objects.get().rate == Decimal("0.1")


def test_the_page_of_a_study_warns_of_places_without_tasks_and_of_missing_consent(client, world):
    study = open_study(world.project, places=5)
    client.force_login(world.owner)
    address = f"/projects/{world.project.slug}/crowd/{study.pk}/"
    page = client.get(address).content.decode()
    read_page(page).check("Available tasks: 0. Free places: 5.", "No consent text.")
    publish_consent_text(world.owner, world.project, "You may stop at any time.", "keep")
    for _ in range(2):
        world.item()
    # Their tasks are made when somebody asks for them; the page counts them before.
    page = client.get(address).content.decode()
    assert "Free places: 5." not in page
    assert "No consent text." not in page


def test_the_link_of_the_docs_lets_somebody_in(client, crowd):
    study = open_study(crowd.project)
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "people.md").read_text(encoding="utf-8")
    told: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1), told)
    link = told["entry_link"]("", study.key, study.secret, "worker+1@example.org")
    assert client.get(link).status_code == 200
    assert arrive(study, dict(parse_qsl(urlsplit(link).query)), client).status_code == 302
    assert CrowdPlace.objects.count() == 1


def test_the_pages_of_a_study_ask_few_queries(client, crowd, django_assert_max_num_queries):
    study = open_study(crowd.project, places=30)
    for n in range(20):
        entered(study, f"w{n}")
    client.force_login(crowd.owner)
    # The first look makes the tasks of what nobody has asked for yet.
    client.get(f"/projects/{crowd.project.slug}/crowd/{study.pk}/")
    with django_assert_max_num_queries(13):
        page = client.get(f"/projects/{crowd.project.slug}/crowd/{study.pk}/")
    assert page.content.decode().count("crowd-") >= 20
    with django_assert_max_num_queries(6):
        client.get(f"/projects/{crowd.project.slug}/crowd/")


@pytest.mark.parametrize("way", ["released", "timed out", "returned"])
def test_a_lost_place_is_taken_again_by_the_same_visit(crowd, way):
    """The documented remedy, to its end: the tasks that were done still count, and the code is shown."""
    study = open_study(crowd.project, platform="prolific", platform_study="S", pieces=2, minutes=30)
    place, now = entered(study, session="visit"), timezone.now()
    work(crowd, place.person, 1)
    if way == "released":
        assert free_place(crowd.owner, crowd.project, study.pk, place.pk)
    elif way == "returned":
        return_place(place.person, crowd.project)
    else:
        now += timedelta(minutes=31)
        free_late_places(crowd.owner, crowd.project, study.pk, now=now)
    with pytest.raises(EntryRefused):
        enter_study(study, Entry("w2", session="visit"), now=now)
    again = enter_study(study, Entry("w1", session="visit"), now=now)
    assert (again.pk, again.state, again.deadline) == (place.pk, "active", now + timedelta(minutes=30))
    assert progress_of(again).missing == 1
    work(crowd, again.person, 1)
    assert complete_place(again.person, crowd.project).state == "completed"
    assert broken_invariants() == []


def test_a_place_before_the_last_one_stays_ended(crowd):
    """Its time would cover the work of the later place: one task would be paid in both."""
    study = open_study(crowd.project, platform="prolific", platform_study="S", pieces=2)
    for session in ("visit1", "visit2"):
        place = entered(study, session=session)
        return_place(place.person, crowd.project)
    with pytest.raises(EntryRefused, match="already used"):
        entered(study, session="visit1")
    assert entered(study, session="visit2").pk == place.pk


def test_a_return_link_leads_its_person_back_once(client, crowd):
    study = open_study(crowd.project, platform="prolific", platform_study="S", pieces=1, places=1)
    first = entered(study, session="visit")
    desk = browser(crowd.owner)
    told = desk.post(url(crowd, "crowd_study_move", study.pk, "free"), {"place": first.pk}, follow=True)
    assert f"/enter/{study.key}/?worker=w1&amp;expires=" in told.content.decode()
    # Somebody else took the place meanwhile, and the study is closed.
    entered(study, "w2", session="other")
    set_study_open(crowd.owner, crowd.project, study.pk, False)
    with pytest.raises(EntryRefused, match="full"):
        entered(study, session="visit")
    desk.post(url(crowd, "crowd_study_move", study.pk, "link"), {"place": first.pk})
    query = dict(parse_qsl(return_link(crowd.owner, crowd.project, study.pk, first.pk)))
    address = reverse("annotation:enter", args=[study.key])
    assert client.post(address, {**query, "session": "other"}).status_code == 403
    assert client.post(address, query).status_code == 302
    assert CROWD_PLACE_KEY in client.session
    assert "unproved" not in client.session
    first.refresh_from_db()
    assert first.state == "active"
    assert Client().post(address, query).status_code == 403
    # To a completed place, a new one leads to the code.
    work(crowd, first.person, 1)
    complete_place(first.person, crowd.project)
    other = Client()
    again = dict(parse_qsl(return_link(crowd.owner, crowd.project, study.pk, first.pk)))
    assert other.post(address, again, follow=True).context["code"] == code_of(first)
    with pytest.raises(AnnotationError, match="Place not found"):
        return_link(crowd.owner, crowd.project, study.pk, 0)
