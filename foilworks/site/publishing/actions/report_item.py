"""Store reports about items of a public release, and decide on them."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.quality.recounts import ask_for_new_votes
from evaluation.errors import EvaluationError
from evaluation.releases.models import ItemReport, ReportState
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.publishing.models import PublicPage

MOST_WAITING = 1_000


@transaction.atomic
def report_item(page: PublicPage, member: ReleaseItem, *, why: str, text: str, contact: str) -> ItemReport:
    """Store a report about a public item. EvaluationError: the page is closed, the item private, or too many wait."""
    fresh = PublicPage.objects.select_for_update(no_key=True).get(pk=page.pk)
    if not fresh.is_open or member.is_private or member.release_id != page.release_id:
        raise EvaluationError(_("This release does not take reports about this item."))
    if _waiting(page.release).count() >= MOST_WAITING:
        raise EvaluationError(_("Too many reports are waiting for a decision. Try again later."))
    found = ItemReport.objects.create(release=page.release, member=member, why=why, text=text, contact=contact)
    details = {"release": page.release_id, "item": member.record["id"], "why": why}
    audit.record(audit.event(page.release.project, None, "evaluation.report_item", found, **details))
    return found


def ask_again(person: User, release: Release, members: Collection[int], *, now: datetime | None = None) -> int:
    """Return the reported items (ids of release items) to validation; how many. The release stays as it is.

    AccessDenied without the researcher's role; EvaluationError: no waiting report; AnnotationError: nobody can judge
    an item.
    """
    with transaction.atomic():
        reports = _chosen(person, release, members)
        items = {report.member.item_id for report in reports}
        if None in items:
            raise EvaluationError(_("A selected item was deleted from the project. Dismiss its reports."))
        n = ask_for_new_votes(person, release.project, [pk for pk in items if pk], _("reported by visitors"), now=now)
        _decide(person, release, reports, ReportState.ASKED, "", now)
    return n


def dismiss(person: User, release: Release, members: Collection[int], reason: str) -> int:
    """Dismiss the waiting reports about these items; how many. EvaluationError without a reason or a report."""
    if not reason.strip():
        raise EvaluationError(_("Enter a reason. It is stored with the reports."))
    with transaction.atomic():
        reports = _chosen(person, release, members)
        _decide(person, release, reports, ReportState.DISMISSED, reason.strip()[:500], None)
    return len(reports)


def _waiting(release: Release) -> QuerySet[ItemReport]:
    return ItemReport.objects.filter(release=release, state=ReportState.WAITING)


def _chosen(person: User, release: Release, members: Collection[int]) -> list[ItemReport]:
    require_role(person, release.project, Role.RESEARCHER)
    rows = _waiting(release).filter(member__in=members).select_related("member")
    found = list(rows.select_for_update(of=("self",), no_key=True).order_by("pk"))
    if not found:
        raise EvaluationError(_("Select at least one item with waiting reports."))
    return found


def _decide(
    person: User, release: Release, reports: list[ItemReport], state: str, reason: str, now: datetime | None
) -> None:
    rows = ItemReport.objects.filter(pk__in=[report.pk for report in reports])
    rows.update(state=state, reason=reason, decided_by=person, decided_at=now or timezone.now())
    action = "evaluation.ask_again" if state == ReportState.ASKED else "evaluation.dismiss_report"
    about: dict[str, Any] = {"from_state": ReportState.WAITING, "to_state": state, "reason": reason}
    audit.record_many(audit.event(release.project, person, action, report, **about) for report in reports)


def expire_reports(*, now: datetime | None = None) -> int:
    """Delete contacts of decided reports and waiting reports after SUBMISSION_KEEP_DAYS; the number of reports."""
    if not settings.SUBMISSION_KEEP_DAYS:
        return 0
    end = (now or timezone.now()) - timedelta(settings.SUBMISSION_KEEP_DAYS)
    old = ItemReport.objects.filter(sent_at__lt=end)
    cleared = old.exclude(state=ReportState.WAITING).exclude(contact="", text="").update(contact="", text="")
    return cleared + old.filter(state=ReportState.WAITING).delete()[0]
