"""The filters of the audit trail."""

from datetime import datetime, time, timedelta

from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.sentences import actions_said_with, work_actions
from foilworks.core.projects.audit_trail.words import row_kinds, unnamed_tables, without_judges
from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.core.projects.number_fields import IntegerField


class TrailFilter(Filters):
    """What filters the audit trail; a value that is not valid filters nothing."""

    q = forms.CharField(
        label=_("Search for an action or a username, such as: roles"),
        required=False,
        max_length=60,
        widget=forms.SearchInput(attrs={"placeholder": _("Search"), "data-hotkey": "/"}),
    )
    part = forms.ChoiceField(
        label=_("Part"),
        required=False,
        choices=[("", _("All")), ("project", _("Settings, people and data")), ("work", _("Work on items"))],
        widget=forms.RadioSelect,
    )
    who = forms.CharField(label=_("Username"), required=False, max_length=150)
    kind = forms.ChoiceField(label=_("About"), required=False)
    number = IntegerField(label=_("Its number"), required=False, min_value=1)
    since = forms.DateField(label=_("From day"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("To day"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    tasks = forms.BooleanField(label=_("Task leases"), required=False)
    chips = ("part", "tasks")

    def __init__(self, data, *, is_open: bool = False) -> None:
        super().__init__({**dict(data.items()), "part": data.get("part", "")}, is_open=is_open)
        kinds = ((label, kind.words) for label, kind in row_kinds().items())
        self.fields["kind"].choices = [("", _("anything")), *sorted(kinds, key=lambda choice: str(choice[1]))]

    def narrow(self, project: Project) -> QuerySet[AuditEvent]:
        """Return the rows of the project that fit."""
        filters, events = self.chosen(), AuditEvent.objects.filter(project=project)
        if not filters.get("tasks"):
            events = events.exclude(target_type__in=unnamed_tables())
        if kind_of_rows := filters.get("part"):
            of_work = Q(action__in=work_actions())
            events = events.filter(of_work if kind_of_rows == "work" else ~of_work)
        if text := filters.get("q"):
            events = events.filter(_matches_text(project, text))
        if username := filters.get("who"):
            events = without_judges(events).filter(actor__username=username)
        if kind := filters.get("kind"):
            events = events.filter(target_type=kind)
        if number := filters.get("number"):
            events = events.filter(target_id=str(number))
        if since := filters.get("since"):
            events = events.filter(at__gte=_begin(since))
        if until := filters.get("until"):
            events = events.filter(at__lt=_begin(until + timedelta(days=1)))
        return events


def _matches_text(project: Project, text: str) -> Q:
    """Return what finds rows by the words or the name of the action, or by a person who is named in the row."""
    by_person = without_judges(AuditEvent.objects.filter(project=project, actor__username__iexact=text.strip()))
    by_action_name = Q(action__icontains="_".join(text.split()))
    return by_action_name | Q(action__in=actions_said_with(text)) | Q(pk__in=by_person.values("pk"))


def _begin(day) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
