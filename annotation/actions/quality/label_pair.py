"""An expert labels a pair of the qualification, blind: the baseline for people's results."""

from django.utils.translation import gettext as _

from annotation.access import pair_for
from annotation.errors import AnnotationError
from annotation.models import ExpertLabel, QualityPolicy, Use
from annotation.rules.gold_serving import gold_caption_first
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.transactions import run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User


def label_order(policy: QualityPolicy, person: User, pair_id: int) -> bool:
    """Return whether this expert sees the caption first."""
    return gold_caption_first(policy.secret, person.pk, pair_id)


def label_pair(actor: User, project: Project, pair_id: int, answer: str | int) -> ExpertLabel:
    """Store the expert's first answer, as shown.

    AnnotationError for an unknown answer.
    """
    pair = pair_for(actor, project, pair_id)
    shown_answer = parse_answer(answer)
    if shown_answer is None:
        raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
    if pair.use != Use.QUALIFICATION:
        raise AnnotationError(_("Experts label the pairs of the qualification."))
    return run_in_transaction(lambda: _label(actor, project, pair_id, shown_answer))


def _label(actor: User, project: Project, pair_id: int, shown_answer: str) -> ExpertLabel:
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    first = label_order(policy, actor, pair_id)
    label, is_new = ExpertLabel.objects.get_or_create(
        pair_id=pair_id, person=actor, defaults={"caption_first": first, "choice": truth_of(shown_answer, first)}
    )
    if is_new:
        audit.record(audit.event(project, actor, "label_pair", label))
    return label
