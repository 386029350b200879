"""A researcher changes the rules of the work: who may judge, how long a task is reserved, how long undo works."""

from dataclasses import asdict, dataclass

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.queries.work_rules import why_scope_fixed
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import or_404, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_SETTINGS, refuse_published
from foilworks.core.projects.models import Project, Role, User


@dataclass(frozen=True)
class WorkRules:
    """`leakage_scope`: what a person who worked on a foil cannot judge. Times in seconds."""

    leakage_scope: str
    judge_caption_once: bool
    lease_seconds: int
    undo_seconds: int


def rules_of(project: Project) -> WorkRules:
    return WorkRules(project.leakage_scope, project.judge_caption_once, project.lease_seconds, project.undo_seconds)


def set_work_rules(person: User, project: Project, rules: WorkRules) -> Project:
    """Store the rules; they apply to tasks that people get from now on.

    AnnotationError for a value out of range, and for another scope after somebody has seen or judged a pair: people who
    judged under the old scope could be people whom the new one excludes.
    """
    require_role(person, project, Role.RESEARCHER)
    refuse_published(person, NO_SETTINGS)
    return run_in_transaction(lambda: _set(person, project, rules))


def _set(person: User, unlocked_project: Project, rules: WorkRules) -> Project:
    serialize_writes(unlocked_project)
    project = or_404(Project.objects.filter(pk=unlocked_project.pk, deleted_at=None).first(), _("Project not found."))
    before = rules_of(project)
    if rules == before:
        return project
    if rules.leakage_scope != before.leakage_scope and (why := why_scope_fixed(project)):
        raise AnnotationError(why)
    for name, value in asdict(rules).items():
        setattr(project, name, value)
    try:
        project.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    project.save(update_fields=list(asdict(rules)))
    audit.record(audit.event(project, person, "set_work_rules", project, before=asdict(before), rules=asdict(rules)))
    return project
