"""What belongs to the person of the token: profile, notifications, tokens, data, consent, places, own figures."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Schema

from annotation.access import crowd_place_for
from annotation.actions.crowd import complete_place, return_place
from annotation.actions.people import withdraw
from annotation.queries.paid_work import own_figures, pay_of
from annotation.queries.personal_data import own_data
from annotation.rules.pay import Earned
from foilworks.core.projects.access import Limits, get_project, limits_of
from foilworks.core.projects.actions.consent import consent_state, give_consent, on_withdrawal
from foilworks.core.projects.actions.invitations import accept_invitation
from foilworks.core.projects.actions.tokens import revoke_token
from foilworks.core.projects.crowd_entry import code_of
from foilworks.core.projects.demo_accounts import NO_NOTIFICATIONS, refuse_published
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.forms.accounts import ConsentForm, LeaveForm
from foilworks.core.projects.models import (
    ApiToken,
    ConsentText,
    CrowdPlace,
    Membership,
    Notification,
    Project,
    User,
)
from foilworks.core.projects.notifications.actions import mark_read, save_settings
from foilworks.core.projects.notifications.forms import NotificationSettingsForm
from foilworks.core.projects.notifications.kinds import sentence
from foilworks.core.projects.notifications.queries import notifications_of, settings_of
from foilworks.core.projects.tokens import live_tokens
from foilworks.site.api.page_forms import values_of
from foilworks.site.api.people import figures_out
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Id, Word

AccountOut = shape_of(User, "username", "first_name", "last_name", "email")
TokenOut = shape_of(ApiToken, "id", "name", "scope", "role", "expires_at", "created_at")
NotificationOut = shape_of(Notification, "id", "project", "kind", "facts", "created_at", "read_at", words=str)
PlaceOut = shape_of(CrowdPlace, "id", "study", "state", "entered_at", "deadline", name="OwnPlace", code=str)


class ReadIn(Schema):
    """`notification`: only this one."""

    notification: Id | None = None


class InvitationIn(Schema):
    """`token`: the last part of the invitation's address."""

    token: Word


class ConsentOut(Schema):
    """`version`, `text`: the newest one; null if the project has none. `on_withdrawal`: what becomes of your work."""

    state: str
    version: int | None
    text: str | None
    on_withdrawal: str


class PlaceIn(Schema):
    move: Literal["complete", "return"]


def _person(call: Call) -> User:
    """Return the person. AccessDenied for a token that is narrowed to a project or a role: it is about less."""
    if limits_of(call.person) != Limits():
        raise AccessDenied(_("This token is narrowed to a project or a role. Use a token for all of your projects."))
    return call.person


def _consenting(call: Call) -> Project:
    return get_project(call.person, call.slug, consenting=True)


def _consent(call: Call) -> dict[str, Any]:
    project = _consenting(call)
    text = ConsentText.objects.filter(project=project).first()
    return {
        "state": consent_state(call.person, project),
        "version": text and text.version,
        "text": text and text.text,
        "on_withdrawal": on_withdrawal(call.person, project),
    }


def _agree(call: Call) -> dict[str, Any]:
    give_consent(call.person, _consenting(call), call.form.cleaned_data["version"])
    return _consent(call)


def _leave(call: Call) -> dict[str, int]:
    return {"removed": withdraw(call.person, _consenting(call), call.form.cleaned_data["work"])}


def _notification_form(call: Call, data: Any) -> NotificationSettingsForm:
    person = _person(call)
    held = Membership.objects.filter(person=person, project__deleted_at=None).values_list("role", flat=True)
    return NotificationSettingsForm(settings_of(person), set(held), data)


def _save_notifications(call: Call) -> dict[str, Any]:
    refuse_published(call.person, NO_NOTIFICATIONS)
    form = call.form
    save_settings(call.person, form.cleaned_data["mail"], {slug: form.cleaned_data[slug] for slug in form.kinds})
    return values_of(_notification_form(call, None))


def _worded(row: Notification) -> Notification:
    row.words = sentence(row)
    return row


def _figures(call: Call) -> dict[str, Any]:
    """Return the person's figures without gold, which would reveal the gold tasks."""
    project = call.entered()
    policy, rates, paid = pay_of(project, call.person)
    figures = figures_out(own_figures(project, call.person))
    del figures["gold"]
    earned = asdict(paid.people.get(call.person.pk, Earned()))
    by_stage = {stage: asdict(rate) for stage, rate in rates.items()}
    return {"figures": figures, "earned": earned, "currency": policy.currency, "rates": by_stage}


def _own_place(call: Call) -> CrowdPlace:
    project = Project.objects.filter(slug=call.slug, deleted_at=None).first()
    if project is None or limits_of(call.person).project_id not in (None, project.pk):
        raise Http404(_("You have no place in a study of this project."))
    place = crowd_place_for(call.person, project)
    place.code = code_of(place) if place.shows_code else ""
    return place


def _move_place(call: Call) -> CrowdPlace:
    place = _own_place(call)
    act = complete_place if call.body["move"] == "complete" else return_place
    act(call.person, place.study.project, place.pk)
    return _own_place(call)


me = Rows("me", in_project=False)
me.read("/account", "read_account", "Get your profile.", _person, AccountOut)
me.read("/data", "read_own_data", "Get all stored data about you.", lambda call: own_data(_person(call)))
me.read("/tokens", "list_tokens", "List your valid tokens.", lambda call: live_tokens(_person(call)), list[TokenOut])
me.write(
    "/tokens/{int:pk}",
    "revoke_token",
    "Revoke one of your tokens.",
    lambda call: revoke_token(_person(call), call.pk),
    method="delete",
    status=204,
)
me.listed(
    "/notifications",
    "list_notifications",
    "List your notifications, newest first.",
    lambda call: notifications_of(_person(call)).select_related("project"),
    NotificationOut,
    out=_worded,
)
me.write(
    "/notifications/read",
    "read_notifications",
    "Mark your notifications as read.",
    lambda call: {"read": mark_read(_person(call), call.body["notification"])},
    body=ReadIn,
)
me.read(
    "/notifications/settings",
    "read_notification_settings",
    "Get what you are notified about, and how.",
    lambda call: values_of(_notification_form(call, None)),
)
me.write(
    "/notifications/settings",
    "change_notification_settings",
    "Change what you are notified about; `mail`: how often by email.",
    _save_notifications,
    method="patch",
    form=NotificationSettingsForm,
    make=_notification_form,
    is_open=True,
)
me.write(
    "/invitations",
    "accept_invitation",
    "Accept an invitation: you become a member of its project.",
    lambda call: {"project": accept_invitation(_person(call), call.body["token"]).slug},
    body=InvitationIn,
)
own = Rows("own work", checks_role=False)
own.read("/consent", "read_consent", "Get the consent text, and whether you have accepted it.", _consent, ConsentOut)
own.write(
    "/consent", "give_consent", "Accept a version of the consent text.", _agree, form=ConsentForm, shape=ConsentOut
)
own.write(
    "/leave",
    "leave_project",
    "Leave the project: `work` is what happens to your answers, `sure` confirms it.",
    _leave,
    form=LeaveForm,
    make=lambda call, data: LeaveForm(data, on_withdrawal=on_withdrawal(call.person, _consenting(call))),
)
own.read("/figures", "read_own_figures", "Get your own tasks, pace, agreement and pay.", _figures)
own.read(
    "/place",
    "read_place",
    "Get your place in a crowd study, with its code once the work is done.",
    _own_place,
    PlaceOut,
)
own.write(
    "/place", "move_place", "Complete or return your place in a crowd study.", _move_place, body=PlaceIn, shape=PlaceOut
)
