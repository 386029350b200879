"""A token that opens nothing any more."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import or_404
from projects.models import ApiToken, User


@transaction.atomic
def revoke_token(person: User, pk: int) -> ApiToken:
    """The person's own token is over at once; Http404 for anybody else's. Again: no harm."""
    token = or_404(
        ApiToken.objects.select_for_update(no_key=True).filter(pk=pk, person=person).first(),
        _("There is no such token of yours."),
    )
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(audit.event(token.project, person, "projects.revoke_token", token))
    return token


def revoke_given_tokens(person: User) -> int:
    """Tokens that somebody else told the person, as a temporary password is; part of the caller's transaction."""
    given = ApiToken.objects.filter(person=person, revoked_at=None).exclude(made_by=person)
    return given.update(revoked_at=timezone.now())
