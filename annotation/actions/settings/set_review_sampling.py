"""A researcher sets the share of work that reviewers see, and the share that two of them see."""

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import ReviewPolicy, ReviewRate
from annotation.transactions import run_in_transaction
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Membership, Project, Role, User


def set_review_sampling(
    person: User,
    project: Project,
    *,
    rate: float,
    second_share: float,
    own_rates: Mapping[int, float] | None = None,
    now: datetime | None = None,
) -> ReviewPolicy:
    """Store both shares (0..1) and annotators' own rates by id; other annotators use the project's.

    Applies to what is submitted and decided from now on. AnnotationError for a share out of range, or a person who is
    not an annotator here.
    """
    require_role(person, project, Role.RESEARCHER)
    rates = dict(own_rates or {})
    if not all(0.0 <= share <= 1.0 for share in (rate, second_share, *rates.values())):
        raise AnnotationError(_("A share must be between 0 and 100 %."))
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR, person__in=rates)
    if members.count() != len(rates):
        raise AnnotationError(_("A person in the list is no longer an annotator of this project. Reload the page."))
    return run_in_transaction(lambda: _set(person, project, rate, second_share, rates, now or timezone.now()))


def _set(
    person: User, project: Project, rate: float, second_share: float, rates: dict[int, float], now: datetime
) -> ReviewPolicy:
    shares = {"rate": rate, "second_share": second_share}
    policy, _made = ReviewPolicy.objects.update_or_create(project=project, defaults=shares)
    ReviewRate.objects.filter(project=project).exclude(person__in=rates).delete()
    for annotator, own in rates.items():
        ReviewRate.objects.update_or_create(project=project, person_id=annotator, defaults={"rate": own})
    own_rates = {str(annotator): own for annotator, own in sorted(rates.items())}
    audit.record(audit.event(project, person, "set_review_shares", policy, **shares, own_rates=own_rates))
    return policy
