"""Describe in a sentence what happened to a candidate."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import AuditEvent

CANDIDATE_WORDS: dict[str, str | Promise] = {
    "write": _("A person wrote this foil."),
    "reject": _("A filter rejected the foil."),
    "queue": _("The foil was queued for editing."),
    "skip_editing": _("The foil went straight to review."),
    "readmit": _("The rejected foil was restored."),
    "claim": _("An annotator started to edit the foil."),
    "release": _("The annotator stopped editing without changes."),
    "release_returned": _("The annotator stopped editing the returned foil without changes."),
    "submit": _("The foil was sent to review unchanged."),
    "undo_submit": _("The submission was undone."),
    "supersede": _("This wording was replaced by a new one."),
    "accept": _("A reviewer accepted the foil."),
    "send_back": _("A reviewer returned the foil."),
    "drop": _("A reviewer dropped the foil."),
    "undo_review": _("The review was undone."),
    "withdraw": _("The reviewer's new wording was removed because the review was undone."),
    "pass_unreviewed": _("The foil was accepted without a review, because review sampling did not select it."),
    "undo_pass": _("The submission was undone."),
    "recaption": _("The caption was corrected. This foil now belongs to the new caption."),
    "drop_with_video": _("The foil was dropped together with its video."),
    "hold_back": _(
        "The foil was held back because a threshold changed, or because a balanced selection leaves it out."
    ),
    "readmit_to_review": _("The foil passes the new threshold and waits for review."),
    "propose": _("The foil was proposed in place of another one."),
    "reopen": _("The foil was reopened."),
    "import": _("The foil was imported with its item."),
}


def in_a_sentence(event: AuditEvent) -> str | Promise:
    """Return what an audit row of a candidate says; a verb that has no sentence is shown as it is stored."""
    return CANDIDATE_WORDS.get(event.action, event.action.replace("_", " "))
