"""A place in a crowd study comes to its end: its lease and its role end with it, and it is free or done."""

from datetime import datetime

from annotation.actions.claims.lost_roles import end_leases_of_roles
from projects import audit
from projects.models import CrowdPlace, CrowdStudy, Membership, PlaceState, User


def end_place(place: CrowdPlace, state: str, actor: User | None, now: datetime) -> bool:
    """Active -> `state`; False where it had ended already. What was done stays; the person is no member by it now."""
    active = CrowdPlace.objects.filter(pk=place.pk, state=PlaceState.ACTIVE)
    if not active.update(state=state, ended_at=now):
        return False
    place.state, place.ended_at = state, now
    study, freed = place.study, 0
    others = CrowdPlace.objects.filter(
        person=place.person_id, study__project=study.project_id, study__role=study.role, state=PlaceState.ACTIVE
    )
    if not others.exists():
        Membership.objects.filter(project=study.project_id, person=place.person_id, role=study.role).delete()
        freed = end_leases_of_roles(study.project, place.person, {study.role}, actor or place.person, now)
    audit.record(
        audit.event(
            study.project, actor, "end_place", place, from_state=PlaceState.ACTIVE, to_state=state, leases=freed
        )
    )
    return True


def free_timed_out(study: CrowdStudy, now: datetime) -> int:
    """Places whose time is over are free for others; how many were."""
    late = CrowdPlace.objects.filter(study=study, state=PlaceState.ACTIVE, deadline__lte=now)
    rows = late.select_related("study__project", "person").order_by("pk")
    return sum(end_place(place, PlaceState.TIMED_OUT, None, now) for place in rows)
