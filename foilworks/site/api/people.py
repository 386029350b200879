"""Invite, ask and pay people: invitations, quotas, activity, consent, crowd studies."""

from dataclasses import asdict
from typing import Any

from django.db.models import Count, Q
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Schema

from annotation.access import crowd_study_for, member_for
from annotation.actions import crowd
from annotation.actions.people import assign, end_assignment
from annotation.forms import AssignmentForm, CodeCheckForm, CrowdStudyForm
from annotation.models import Assignment
from annotation.queries.assignments import open_assignments
from annotation.queries.paid_work import figures_of, pay_of
from annotation.queries.platform_lists import LISTS, platform_list
from annotation.rules.activity import Figures
from annotation.rules.pay import Earned
from foilworks.core.projects.actions.consent import publish_consent_text
from foilworks.core.projects.actions.invitations import make_invitation, make_team_invitations, withdraw_invitation
from foilworks.core.projects.actions.members import renew_password
from foilworks.core.projects.forms.accounts import ConsentTextForm, InvitationForm, TeamForm
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import ConsentText, CrowdPlace, CrowdStudy, Invitation, PlaceState, User
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Id, Line

InvitationOut = shape_of(
    Invitation, "id", "roles", "note", "most_uses", "uses", "expires_at", "withdrawn_at", "created_at", link=str
)
AssignmentOut = shape_of(Assignment, "id", "person", "stage", "team", "quota", "due", "created_at", done=int)
ConsentTextOut = shape_of(
    ConsentText, "id", "version", "text", "on_withdrawal", n_given=int, n_withdrawn=int, n_refused=int
)
StudyOut = shape_of(
    CrowdStudy, "id", "key", "name", "platform", "platform_study", "stage", "role", "pieces", "places", "minutes",
    "completion_url", "least_approval", "is_open", "created_at", **{f"n_{state.value}": int for state in PlaceState},
)  # fmt: skip
PlaceOut = shape_of(CrowdPlace, "id", "person", "state", "entered_at", "deadline", "ended_at", "rejected_for")
STUDY = "/crowd/{int:pk}"


class PlaceIn(Schema):
    place: Id
    reason: Line = ""


class PasswordOut(Schema):
    username: str
    password: str | None


def _linked(call: Call, row: Invitation) -> Invitation:
    row.link = call.request.build_absolute_uri(reverse("projects:join", args=[token_of(row)]))
    return row


def _withdraw(call: Call) -> None:
    withdraw_invitation(call.person, call.project, call.pk)


def _assign(call: Call) -> list[Assignment]:
    assign(call.person, call.project, **call.values)
    return open_assignments(call.project, timezone.localdate())


def _end(call: Call) -> None:
    if not end_assignment(call.person, call.project, call.pk):
        raise Http404(_("Quota not found."))


def figures_out(own: Figures) -> dict[str, Any]:
    """Return the figures of a person; shares with the number of what they are of."""
    shares = {name: getattr(own, name) for name in ("agreement", "gold", "first")}
    plain = {name: getattr(own, name) for name in ("seconds", "pace", "time_to_watch")}
    return {
        "pieces": dict(own.pieces),
        **plain,
        **{name: {"value": share.value, "n": share.seen} for name, share in shares.items()},
    }


def _activity(call: Call) -> dict[str, Any]:
    """Return the figures of everybody who has submitted work, with their pay. Names are those of accounts."""
    policy, _rates, paid = pay_of(call.project)
    figures = figures_of(call.project)
    people = User.objects.in_bulk(list(figures))
    return {
        "currency": policy.currency,
        "people": [
            {
                "person": pk,
                "username": people[pk].username,
                "figures": figures_out(own),
                "pay": asdict(paid.people.get(pk, Earned())),
                "under_floor": pk in paid.under,
            }
            for pk, own in figures.items()
        ],
    }


def _studies(call: Call) -> Any:
    counts = {f"n_{state.value}": Count("taken", filter=Q(taken__state=state)) for state in PlaceState}
    return CrowdStudy.objects.filter(project=call.project).annotate(**counts)


def _study(call: Call) -> CrowdStudy:
    return _studies(call).get(pk=crowd_study_for(call.person, call.project, call.pk).pk)


def _open_study(call: Call) -> CrowdStudy:
    study = crowd.open_crowd_study(call.person, call.project, **call.form.fields_for_action())
    return _studies(call).get(pk=study.pk)


def _set_open(is_open: bool) -> Any:
    def moved(call: Call) -> CrowdStudy:
        crowd.set_study_open(call.person, call.project, call.pk, is_open)
        return _study(call)

    return moved


def _free_late(call: Call) -> dict[str, Any]:
    return {"places": crowd.free_late_places(call.person, call.project, call.pk)}


def _free(call: Call) -> CrowdPlace:
    crowd.free_place(call.person, call.project, call.pk, call.body["place"])
    return _place(call)


def _reject(call: Call) -> CrowdPlace:
    crowd.reject_place(call.person, call.project, call.pk, call.body["place"], call.body["reason"])
    return _place(call)


def _place(call: Call) -> CrowdPlace:
    return CrowdPlace.objects.get(study=crowd_study_for(call.person, call.project, call.pk), pk=call.body["place"])


def _link(call: Call) -> dict[str, Any]:
    study = crowd_study_for(call.person, call.project, call.pk)
    query = crowd.return_link(call.person, call.project, call.pk, call.body["place"])
    return {"link": call.request.build_absolute_uri(reverse("annotation:enter", args=[study.key])) + f"?{query}"}


def _renew(call: Call) -> dict[str, Any]:
    renewed = renew_password(call.person, call.project, member_for(call.person, call.project, call.pk).pk)
    return {"username": renewed.person.username, "password": renewed.password}


def _consent_texts(call: Call) -> Any:
    counts = {
        "n_given": Count("given", filter=Q(given__withdrawn_at=None)),
        "n_withdrawn": Count("given", filter=Q(given__withdrawn_at__isnull=False, given__refused=False)),
        "n_refused": Count("given", filter=Q(given__refused=True)),
    }
    return ConsentText.objects.filter(project=call.project).annotate(**counts)


def _publish_consent(call: Call) -> ConsentText:
    text = publish_consent_text(call.person, call.project, **call.values)
    return _consent_texts(call).get(pk=text.pk)


def _check_code(call: Call) -> CrowdPlace:
    return crowd.check_completion_code(call.person, call.project, call.pk, call.form.cleaned_data["code"])


def _list(call: Call) -> dict[str, Any]:
    study = crowd_study_for(call.person, call.project, call.pk)
    if call.name not in LISTS:
        raise Http404(_("List not found."))
    return {"lines": [list(line) for line in platform_list(study, call.name)]}


rows = Rows("people")
rows.listed(
    "/invitations",
    "list_invitations",
    "List the invitations, newest first.",
    lambda call: Invitation.objects.filter(project=call.project),
    InvitationOut,
)
rows.write(
    "/invitations",
    "create_invitation",
    "Create an invitation; `link` admits people with its roles.",
    lambda call: _linked(call, make_invitation(call.person, call.project, **call.values)),
    form=InvitationForm,
    shape=InvitationOut,
    status=201,
)
rows.write(
    "/invitations/team",
    "invite_team",
    "Create an invitation link for each role, for a number of people.",
    lambda call: [_linked(call, row) for row in make_team_invitations(call.person, call.project, call.values)],
    form=TeamForm,
    make=lambda _call, data: TeamForm(data, initial=dict.fromkeys(TeamForm.base_fields, 0)),
    shape=list[InvitationOut],
    status=201,
)
rows.write(
    "/invitations/{int:pk}", "withdraw_invitation", "Withdraw an invitation.", _withdraw, method="delete", status=204
)
rows.read(
    "/assignments",
    "list_assignments",
    "List the open quotas of tasks, with what is done.",
    lambda call: open_assignments(call.project, timezone.localdate()),
    list[AssignmentOut],
)
rows.write(
    "/assignments",
    "assign",
    "Ask members for a number of tasks of a stage.",
    _assign,
    form=AssignmentForm,
    make=lambda call, data: AssignmentForm(data, project=call.project),
    shape=list[AssignmentOut],
    status=201,
)
rows.write("/assignments/{int:pk}", "end_assignment", "End a quota.", _end, method="delete", status=204)
rows.read("/activity", "read_activity", "Get the tasks, pace, agreement and pay of each person.", _activity)
rows.write(
    "/members/{int:pk}/password",
    "renew_password",
    "Renew the temporary password of an account that nobody has used; it is returned once.",
    _renew,
    shape=PasswordOut,
)
rows.listed(
    "/consent/texts",
    "list_consent_texts",
    "List the versions of the consent text, with how many people accepted each.",
    _consent_texts,
    ConsentTextOut,
)
rows.write(
    "/consent/texts",
    "publish_consent_text",
    "Publish a new version of the consent text; people accept it before they continue.",
    _publish_consent,
    form=ConsentTextForm,
    shape=ConsentTextOut,
    status=201,
)
rows.listed("/crowd", "list_studies", "List the crowd studies.", _studies, StudyOut)
rows.write("/crowd", "open_study", "Open a crowd study.", _open_study, form=CrowdStudyForm, shape=StudyOut, status=201)
rows.read(STUDY, "read_study", "Get one crowd study.", _study, StudyOut)
rows.listed(
    f"{STUDY}/places",
    "list_places",
    "List the places of a crowd study.",
    lambda call: crowd_study_for(call.person, call.project, call.pk).taken.all(),
    PlaceOut,
)
rows.read(
    f"{STUDY}/lists/{{slug:name}}", "read_platform_list", "Get one of the lists for the platform, line by line.", _list
)
rows.write(
    f"{STUDY}/close", "close_study", "Close a crowd study to new participants.", _set_open(False), shape=StudyOut
)
rows.write(f"{STUDY}/reopen", "reopen_study", "Reopen a closed crowd study.", _set_open(True), shape=StudyOut)
rows.write(f"{STUDY}/free-late", "free_late_places", "Free the places whose time has run out.", _free_late)
rows.write(f"{STUDY}/free", "free_place", "Free one place; completed work stays.", _free, body=PlaceIn, shape=PlaceOut)
rows.write(
    f"{STUDY}/reject",
    "reject_place",
    "Reject a completed submission, with a reason.",
    _reject,
    body=PlaceIn,
    shape=PlaceOut,
)
rows.write(
    f"{STUDY}/link", "make_return_link", "Make a one-time link for the person of a freed place.", _link, body=PlaceIn
)
rows.write(
    f"{STUDY}/code",
    "check_code",
    "Find the place of a completion code.",
    _check_code,
    form=CodeCheckForm,
    shape=PlaceOut,
)
