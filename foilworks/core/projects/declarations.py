"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.limits.visitor_page import VisitorPage
from foilworks.core.projects.notifications.kind import RESEARCHERS, Kind
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "projects.deliver_webhook": "foilworks.core.projects.jobs:left_to_sender",
    "projects.mail_notifications": "foilworks.core.projects.jobs:left_to_sender",
}
SENTENCES: dict[str, Promise] = {
    "projects.accept_invitation": _("accepted an invitation"),
    "projects.add_member": _("added a member"),
    "projects.add_webhook": _("added a webhook"),
    "projects.archive_project": _("archived the project"),
    "projects.change_roles": _("changed the roles of a member"),
    "projects.create_project": _("created the project"),
    "projects.delete_project": _("deleted the project"),
    "projects.describe_project": _("changed the name or the description of the project"),
    "projects.give_consent": _("gave consent"),
    "projects.refuse_consent": _("refused consent"),
    "projects.leave": _("left the project"),
    "projects.make_invitation": _("created an invitation"),
    "projects.make_token": _("created a token"),
    "projects.ping_webhook": _("tested a webhook"),
    "projects.publish_consent_text": _("published a consent text"),
    "projects.refused": _("was refused"),
    "projects.remove_member": _("removed a member"),
    "projects.remove_webhook": _("deleted a webhook"),
    "projects.renew_password": _("set a temporary password"),
    "projects.restart_webhook": _("restarted a webhook"),
    "projects.restore_project": _("restored the project"),
    "projects.retry_delivery": _("retried a delivery"),
    "projects.revoke_token": _("revoked a token"),
    "projects.rotate_webhook": _("renewed the secret of a webhook"),
    "projects.unarchive_project": _("unarchived the project"),
    "projects.withdraw_invitation": _("withdrew an invitation"),
}
EVENTS: dict[str, EventType] = {
    "ping": EventType(_("a test delivery"), action="projects.ping_webhook"),
}
NOTIFICATIONS: dict[str, Kind] = {
    "run_ended": Kind(_("A run that you started ends"), RESEARCHERS, ""),
    "webhook_stopped": Kind(
        _("A webhook is stopped"),
        RESEARCHERS,
        "projects:webhook",
        _("A webhook is stopped, because its deliveries failed repeatedly"),
        ("webhook",),
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "projects.apitoken": RowKind(_("token")),
    "projects.consenttext": RowKind(_("consent text")),
    "projects.crowdplace": RowKind(_("place in a crowd study")),
    "projects.crowdstudy": RowKind(_("crowd study")),
    "projects.invitation": RowKind(_("invitation")),
    "projects.membership": RowKind(_("membership")),
    "projects.project": RowKind(_("project")),
    "projects.user": RowKind(_("member")),
    "projects.webhook": RowKind(_("webhook")),
}
ROW_PAGES: dict[str, RowPage] = {
    "projects.webhook": RowPage("projects:webhook"),
}
VISITOR_PAGES = {
    "projects:join": VisitorPage(),
    "projects:password_new": VisitorPage(),
    "projects:password_reset": VisitorPage(),
    "projects:sign_in": VisitorPage(),
    "projects:sign_in_code": VisitorPage(),
    "projects:sign_in_with_code": VisitorPage(),
    "projects:unsubscribe": VisitorPage(),
}
