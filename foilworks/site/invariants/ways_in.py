"""Consent, places in crowd studies, erased accounts: copies in memberships agree, and nothing remains of an erasure."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from foilworks.core.projects.models import Consent, CrowdPlace, CrowdWorker, Membership, PlaceState, User
from foilworks.site.invariants.violation import InvariantViolation, rows


def who_is_let_through_has_agreed() -> Iterator[InvariantViolation]:
    """Check that a membership has the consent version that its person gave and has not withdrawn."""
    agreed = Consent.objects.filter(
        person=OuterRef("person"),
        text__project=OuterRef("project"),
        text__version=OuterRef("consent_version"),
        withdrawn_at=None,
    )
    consented = Membership.objects.filter(consent_version__gt=0)
    yield from rows(consented.filter(~Exists(agreed)), "has a consent version that the person did not agree to")
    ahead = Membership.objects.filter(consent_version__gt=F("project__consent_version"))
    yield from rows(ahead, "has a consent version that does not exist")


def a_place_ends_once_and_is_a_workers() -> Iterator[InvariantViolation]:
    active = Q(state=PlaceState.ACTIVE)
    odd = CrowdPlace.objects.filter((active & Q(ended_at__isnull=False)) | (~active & Q(ended_at=None)))
    yield from rows(odd, "has ended but is active, or is inactive but has not ended")
    worker = CrowdWorker.objects.filter(person=OuterRef("person"), project=OuterRef("study__project"))
    nobodys = CrowdPlace.objects.filter(~Exists(worker), person__erased_at=None)
    yield from rows(nobodys, "is of a person whom no platform has sent")


def an_erased_account_is_empty() -> Iterator[InvariantViolation]:
    erased = User.objects.filter(erased_at__isnull=False)
    has_personal_data = ~Q(email="") | ~Q(first_name="") | ~Q(last_name="") | ~Q(username__startswith="erased-")
    yield from rows(
        erased.filter(has_personal_data | Q(is_active=True)), "is erased, but still has personal data or is active"
    )
    yield from rows(CrowdWorker.objects.filter(person__erased_at__isnull=False), "identifies an erased account")
