"""A researcher withdraws a pair or a practice caption: it is no longer asked, and its answers stay."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import pair_for, practice_for
from annotation.errors import AnnotationError
from annotation.models import GoldPair, PracticeCaption
from annotation.transactions import run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User


def withdraw_pair(actor: User, project: Project, pair_id: int, *, now: datetime | None = None) -> None:
    """Withdraw the pair. AnnotationError if it is already withdrawn."""
    row = pair_for(actor, project, pair_id)
    run_in_transaction(lambda: _withdraw(actor, project, row, now or timezone.now()))


def withdraw_practice(actor: User, project: Project, practice_id: int, *, now: datetime | None = None) -> None:
    """Withdraw the practice caption. AnnotationError if it is already withdrawn."""
    row = practice_for(actor, project, practice_id)
    run_in_transaction(lambda: _withdraw(actor, project, row, now or timezone.now()))


def _withdraw(actor: User, project: Project, row: GoldPair | PracticeCaption, now: datetime) -> None:
    if not type(row).objects.filter(pk=row.pk, withdrawn_at=None).update(withdrawn_at=now):
        raise AnnotationError(_("This pair was already withdrawn."))
    audit.record(audit.event(project, actor, "withdraw", row))
