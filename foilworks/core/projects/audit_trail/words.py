"""Say what an audit row records: its action in words, and the page of what it is about."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise

from foilworks.core.projects.audit_trail.row_kind import ActorName, RowKind, RowPage
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.rooms import declared


def action_words(action: str) -> str:
    """Return the action as words: `evaluation.freeze_release` is "freeze release"."""
    return action.rpartition(".")[2].replace("_", " ")


def kind_words(target_type: str) -> str | Promise:
    kind = row_kinds().get(target_type)
    return kind.words if kind else target_type.rpartition(".")[2]


def row_kinds() -> Mapping[str, RowKind]:
    """Return the kinds of rows that the trail is about, by the label of their model."""
    return declared("ROW_KINDS")


def target_page(project: Project, event: AuditEvent) -> str:
    """Return the address of the row's page, or an empty string if it has none."""
    row_page: RowPage | None = declared("ROW_PAGES").get(event.target_type)
    if row_page is None:
        return ""
    number = str(event.details.get(row_page.detail, "")) if row_page.detail else event.target_id
    if not number.isdecimal():
        return ""
    try:
        return reverse(row_page.page, args=[project.slug, int(number)])
    except NoReverseMatch:
        return ""


def is_judgement(event: AuditEvent) -> bool:
    kind = row_kinds().get(event.target_type)
    is_of_judges = kind is not None and kind.actor_name == ActorName.PSEUDONYM
    return is_of_judges or (declared("JUDGING_ACTIONS").get(event.action) == event.target_type)


def actor_name(project: Project, event: AuditEvent) -> str:
    """Return who did it: a username; a pseudonym for judgements; empty for the system, and for leases of tasks."""
    if event.actor is None or event.target_type in unnamed_tables():
        return ""
    return pseudonym(project, event.actor.pk) if is_judgement(event) else event.actor.get_username()


def unnamed_tables() -> list[str]:
    """Return the tables whose rows name no actor."""
    return _tables_with(ActorName.NONE)


def without_judges(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """Return the rows that name their actor: what a search for a person may find."""
    judged = Q(target_type__in=[*_tables_with(ActorName.PSEUDONYM), *unnamed_tables()])
    for action, table in declared("JUDGING_ACTIONS").items():
        judged |= Q(target_type=table, action=action)
    return events.exclude(judged)


def _tables_with(actor_name: ActorName) -> list[str]:
    return [label for label, kind in row_kinds().items() if kind.actor_name == actor_name]
