"""A researcher sets the project's quality rules, and opens practice and the qualification."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.actions.quality.standings import policy_of
from annotation.errors import AnnotationError
from annotation.models import QualityPolicy, Use
from annotation.queries.quality import readiness
from annotation.transactions import run_in_transaction
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User


def save_quality_policy(
    actor: User, project: Project, *, judge_caption_once: bool | None = None, **fields: Any
) -> QualityPolicy:
    """Store the fields. AnnotationError names the invalid field, or what is missing before something can be opened.

    `judge_caption_once` is the project's option; None leaves it as it is.
    """
    require_role(actor, project, Role.RESEARCHER)
    return run_in_transaction(lambda: _save(actor, project, judge_caption_once, fields))


def _save(actor: User, project: Project, once: bool | None, fields: dict[str, Any]) -> QualityPolicy:
    policy = policy_of(project)
    if once is not None and once != policy.project.judge_caption_once:
        project.judge_caption_once = once
        project.save(update_fields=["judge_caption_once"])
        audit.record(audit.event(project, actor, "set_judge_caption_once", project, judge_caption_once=once))
    changed_fields = {name: value for name, value in fields.items() if getattr(policy, name) != value}
    for name, value in changed_fields.items():
        setattr(policy, name, value)
    try:
        policy.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    _complete(policy)
    policy.save()
    audit.record(audit.event(project, actor, "save_quality_policy", policy, **changed_fields))
    return policy


def _complete(policy: QualityPolicy) -> None:
    """Check that what is opened has what it needs."""
    project = policy.project
    if policy.guess_accuracy >= policy.careful_accuracy:
        raise AnnotationError(_("The gold accuracy of careful people must be higher than that of guessers."))
    if policy.qualification_required and not policy.qualification_open:
        raise AnnotationError(_("Open the qualification before you require it. Otherwise nobody can pass it."))
    if policy.qualification_open and readiness(project, Use.QUALIFICATION).pairs < policy.test_length:
        raise AnnotationError(
            _("The qualification does not have %(wanted)s questions. Add pairs, or lower the number.")
            % {"wanted": policy.test_length}
        )
    practice = readiness(project, Use.PRACTICE)
    if policy.practice_open and not practice.pairs + practice.captions:
        raise AnnotationError(_("Add pairs or captions to practice before you open it."))
    if policy.gold_rate and not readiness(project, Use.MIXED).pairs:
        raise AnnotationError(_("Add gold pairs before you set a share of gold."))
