"""Members of a project: roles, joining and leaving, stored data, activity and pay."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import member_for
from annotation.actions import people as actions
from annotation.actions.people import assign, end_assignment
from annotation.actions.settings.work_settings import set_pay
from annotation.errors import AnnotationError
from annotation.forms import AssignmentForm, MemberFilter, MemberForm, PayForm
from annotation.models import ReviewDecision, SkipReason, Stage
from annotation.queries.assignments import open_assignments
from annotation.queries.members import MEMBER_ORDERS, narrowed_members, shown_members, tasks_by_stage
from annotation.queries.own_answers import Given, last_answers
from annotation.queries.paid_work import PAID, figures_of, in_words, own_figures, pay_of, policy_of, rates_of, skips_of
from annotation.queries.personal_data import own_data as everything
from annotation.rules.activity import Figures
from annotation.rules.pay import Earned, Statement
from annotation.views._work_pages import done_with
from annotation.views.work import ANSWERS, SEVERAL_TEXTS_ANSWERS
from foilworks.core.projects.access import get_project
from foilworks.core.projects.actions.consent import consent_state, on_withdrawal
from foilworks.core.projects.actions.members import Added, add_member, renew_password
from foilworks.core.projects.crowd_entry import require_proof
from foilworks.core.projects.demo_accounts import NO_ACCOUNTS, why_closed
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.forms.accounts import LeaveForm
from foilworks.core.projects.forms.strict import refuse_other_fields
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.models import Membership, Project, Role, User
from foilworks.core.text.storable import safe_row

LAST_ANSWERS = 20
# With fewer comparable votes, a share tells the person nothing.
MIN_COMPARED_VOTES = 20


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the members; POST adds one, or renews an unused temporary password.

    The answer is the only page that shows the password.
    """
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if request.method == "POST" and request.POST.get("renew", "").isdecimal():
        return _renew(request, project, int(request.POST["renew"]))
    form = _member_form(request, request.POST if request.method == "POST" else None)
    added = _added(request, project, form)
    if added and not added.password:
        messages.success(request, _("%(name)s was added to the project.") % {"name": added.person.username})
        return redirect("annotation:people", slug)
    return _page(request, project, None if added else form, added=added)


def _member_form(request: HttpRequest, sent: QueryDict | None = None) -> MemberForm:
    """Return the form to add a person; a demo account can only add people who have an account."""
    form = MemberForm(sent)
    if closed := why_closed(request.user, NO_ACCOUNTS):
        form.fields["new_account"].disabled, form.fields["new_account"].help_text = True, closed
    return form


def _renew(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    person = member_for(request.user, project, pk)
    try:
        return _page(request, project, renewed=renew_password(request.user, project, person.pk))
    except ProjectError as error:
        messages.error(request, str(error))
        return redirect("annotation:people", project.slug)


def _page(
    request: HttpRequest, project: Project, form: MemberForm | None = None, **password_context: Added | None
) -> HttpResponse:
    """Render the page; `password_context`: the person whose new password is shown, once."""
    form, filters = form or _member_form(request), MemberFilter(request.GET)
    filter_values = filters.chosen()
    members = narrowed_members(project, filter_values)
    listing = list_rows(members, MEMBER_ORDERS, request.GET, filter_values, lambda rows: shown_members(project, rows))
    context = {
        "member_form": form,
        "no_accounts": form.fields["new_account"].disabled,
        "form": filters,
        "listing": listing,
        "any": bool(filter_values or listing.count.n),
        "row_template": "annotation/_member_row.html",
        "list_name": _("Members"),
        **password_context,
    }
    status = 422 if form is not None and form.errors else 200
    response = render(request, "annotation/people.html", context, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_POST
def member_roles(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    person, roles = member_for(request.user, project, pk), request.POST.getlist("roles")
    message = _("Roles of %(name)s saved.") % {"name": person.username}
    return _done(request, person, lambda: actions.change_roles(request.user, project, pk, roles), message)


@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    person = member_for(request.user, project, pk)
    message = _("%(name)s was removed. Their completed work stays.") % {"name": person.username}
    return _done(request, person, lambda: actions.remove_member(request.user, project, pk), message)


def _added(request: HttpRequest, project: Project, form: MemberForm) -> Added | None:
    """Return who was added; errors of the action are shown beside the name."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return add_member(request.user, project, **form.cleaned_data)
    except ProjectError as error:
        form.add_error("username", str(error))
        return None


@require_safe
def member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "annotation/member.html", _member(request, slug, pk))


@require_safe
def member_panel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "annotation/member_panel.html", _member(request, slug, pk))


def _member(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    person = member_for(request.user, project, pk)
    row = shown_members(project, narrowed_members(project, {}).filter(person=person)).get()
    return {
        "row": row,
        "held_roles": {membership.role for membership in row.person.here},
        "roles_of_people": Role.choices,
        "consent": consent_state(person, project),
        "stages": tasks_by_stage(project, person),
    }


def _done(request: HttpRequest, person: User, write: Callable[[], int], message: str) -> HttpResponse:
    try:
        freed = write()
    except ProjectError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{message} {_freed(freed)}".strip())
    return _back(request, person)


def _back(request: HttpRequest, person: User) -> HttpResponse:
    """Redirect to the list, or home for a person who has just given up their own access."""
    own_memberships = Membership.objects.filter(project=request.project, person=request.user, role=Role.RESEARCHER)
    if person == request.user and not request.user.is_superuser and not own_memberships.exists():
        return redirect("home")
    return redirect("annotation:people", request.project.slug)


def _freed(count: int) -> str:
    if not count:
        return ""
    words = ngettext(
        "%(n)s of their open tasks is available again.", "%(n)s of their open tasks are available again.", count
    )
    return words % {"n": count}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, consenting=True)
    rule = on_withdrawal(request.user, project)
    form = LeaveForm(request.POST if request.method == "POST" else None, on_withdrawal=rule)
    if request.method == "POST":
        refuse_other_fields(request, form, project=project)
        if form.is_valid():
            require_proof(request)
            try:
                removed = actions.withdraw(request.user, project, form.cleaned_data["work"])
            except ProjectError as error:
                form.add_error(None, str(error))
            else:
                words = ngettext("%(n)s answer was removed.", "%(n)s answers were removed.", removed) % {"n": removed}
                messages.success(request, _("You have left %(project)s.") % {"project": project.name} + f" {words}")
                return redirect("home")
    return render(request, "annotation/leave.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@require_safe
def own_data(request: HttpRequest) -> HttpResponse:
    require_proof(request)
    answer = JsonResponse(everything(request.user), json_dumps_params={"indent": 1, "ensure_ascii": False})
    answer.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return answer


@dataclass(frozen=True)
class Row:
    person: User
    figures: Figures
    earned: Earned
    is_under: bool

    @property
    def stages(self) -> list[tuple[str, int]]:
        return [(Stage(stage).label, self.figures.pieces[stage]) for stage in PAID if stage in self.figures.pieces]


def _activity_rows(project: Project, paid: Statement) -> list[Row]:
    """Return everybody who has submitted work, most tasks first. Seven queries with those of the figures."""
    figures_by_person = figures_of(project)
    people = User.objects.in_bulk(list(figures_by_person))
    rows = [
        Row(people[pk], own, paid.people.get(pk, Earned()), pk in paid.under) for pk, own in figures_by_person.items()
    ]
    return sorted(rows, key=lambda row: (-row.figures.n_pieces, row.person.username))


@require_safe
def people_figures(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    policy, rates, paid = pay_of(project)
    words = dict(SkipReason.choices)
    context = {
        "rows": _activity_rows(project, paid),
        "policy": policy,
        "paid": paid,
        "has_rates": bool(rates),
        "skips": [(Stage(stage).label, words.get(why, _("No reason given")), n) for stage, why, n in skips_of(project)],
    }
    return render(request, "annotation/people_figures.html", context)


@require_safe
def people_figures_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the table as CSV: shares in 0..1, money in the project's currency, unknown numbers empty."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    policy, _rates, paid = pay_of(project)
    headers = {"Content-Disposition": f'attachment; filename="{project.slug}-people.csv"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    rows = _activity_lines(_activity_rows(project, paid), policy.currency)
    csv.writer(response).writerows(safe_row(row) for row in rows)
    return response


def _activity_lines(rows: list[Row], currency: str) -> Iterator[list[Any]]:
    yield [
        "person",
        "simulated",
        *PAID,
        "median_seconds",
        "pieces_per_hour",
        "time_to_watch",
        "agreement",
        "agreement_n",
        "gold_right",
        "gold_n",
        "first_share",
        "first_low",
        "first_high",
        "first_n",
        "hours",
        "pay",
        "pay_per_hour",
        "currency",
        "under_floor",
    ]
    for row in rows:
        own, earned, bounds = row.figures, row.earned, row.figures.first.interval or (None, None)
        counts = [own.pieces.get(stage, 0) for stage in PAID]
        yield [
            row.person.username,
            row.person.is_simulated,
            *counts,
            own.seconds,
            own.pace,
            own.time_to_watch,
            own.agreement.value,
            own.agreement.seen,
            own.gold.right,
            own.gold.seen,
            own.first.value,
            *bounds,
            own.first.seen,
            round(earned.hours, 4),
            round(earned.pay, 4),
            None if earned.hourly is None else round(earned.hourly, 4),
            currency,
            row.is_under,
        ]


@require_http_methods(["GET", "HEAD", "POST"])
def pay(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    sent = request.POST if request.method == "POST" else None
    form = PayForm(sent, policy=policy_of(project), rates=rates_of(project))
    if form.is_bound and form.is_valid():
        try:
            set_pay(request.user, project, **form.pay_settings())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            currency = policy_of(project).currency
            saved = [f"{Stage(stage).label}: {in_words(rate, currency)}" for stage, rate in rates_of(project).items()]
            messages.success(
                request, _("Rates saved for work submitted from now on. %(rates)s") % {"rates": " · ".join(saved)}
            )
            return redirect("annotation:people_pay", slug)
    return render(request, "annotation/pay.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def assignments(request: HttpRequest, slug: str) -> HttpResponse:
    """Show open assignments with their progress; POST adds some, or ends the one that the field `end` names."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    ends = request.POST.get("end", "")
    if ends.isdecimal() and end_assignment(request.user, project, int(ends)):
        return redirect("annotation:assignments", slug)
    form = AssignmentForm(request.POST if request.method == "POST" else None, project=project)
    if form.is_bound and form.is_valid():
        try:
            assign(request.user, project, **form.cleaned_data)
            return redirect("annotation:assignments", slug)
        except AnnotationError as error:
            form.add_error("people", str(error))
    rows = open_assignments(project, timezone.localdate())
    context = {"form": form, "rows": rows}
    return render(request, "annotation/assignments.html", context, status=422 if form.errors else 200)


def _answers(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the person's last answers, each in the words of its page, with its undo while that is possible."""
    words = {**dict(ANSWERS), **dict(ReviewDecision.choices)}
    return [
        {
            "at": last_answer.at,
            "stage": Stage(last_answer.stage).label,
            "words": _several_texts_words(last_answer) or words.get(last_answer.code, ""),
            "texts": last_answer.texts,
            "done": done_with(request, last_answer.record),
        }
        for last_answer in last_answers(request.project, request.user, LAST_ANSWERS)
    ]


def _several_texts_words(last_answer: Given) -> str:
    """Return the words of an answer to the texts of a multiple-choice item; "" for one to a pair."""
    is_several = last_answer.stage == Stage.VALIDATION and len(last_answer.texts) != 2
    return str(SEVERAL_TEXTS_ANSWERS.get(last_answer.code, "")) if is_several else ""


@require_safe
def own(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    policy, rates, paid = pay_of(project, request.user)
    figures, today = own_figures(project, request.user), timezone.localdate()
    context = {
        "figures": figures,
        "stages": [(Stage(stage).label, figures.pieces[stage]) for stage in PAID if stage in figures.pieces],
        "earned": paid.people.get(request.user.pk, Earned()),
        "rates": [(Stage(stage).label, rates[stage]) for stage in PAID if stage in rates],
        "policy": policy,
        "answers": _answers(request),
        "compares": figures.agreement.seen >= MIN_COMPARED_VOTES,
        "today": today,
    }
    return render(request, "annotation/own_figures.html", context)
