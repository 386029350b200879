"""A researcher adds a practice caption."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import PracticeCaption
from annotation.rules.editing import check_text, errors
from annotation.transactions import run_in_transaction
from foilworks.core.corpus.models import Caption, Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import shortened


def add_practice_caption(
    actor: User,
    project: Project,
    caption: Caption,
    examples: Sequence[str],
    explanation: str = "",
    subtest: Subtest | None = None,
) -> PracticeCaption:
    """Add the caption with an expert's foils for it, one or more, each without an error in the live checks.

    `subtest`: people write as many foils as for its items, and change only the action if its foils do.
    """
    require_role(actor, project, Role.RESEARCHER)
    if caption.video.project_id != project.pk:
        raise AnnotationError(_("This caption belongs to another project. Choose one from this project."))
    if subtest is not None and subtest.project_id != project.pk:
        raise AnnotationError(_("This subtest belongs to another project. Choose one from this project."))
    foils = [line.strip() for line in examples if line.strip()]
    if not foils:
        raise AnnotationError(_("Write at least one example foil by an expert."))
    wrong = [foil for foil in foils if errors(check_text(caption.text, foil))]
    if wrong:
        raise AnnotationError(_("This example is not a foil of the caption: %(text)s") % {"text": shortened(wrong[0])})
    return run_in_transaction(lambda: _add(actor, project, caption, foils, explanation.strip(), subtest))


def _add(
    actor: User, project: Project, caption: Caption, examples: list[str], explanation: str, subtest: Subtest | None
) -> PracticeCaption:
    if PracticeCaption.objects.filter(project=project, caption=caption, withdrawn_at=None).exists():
        raise AnnotationError(_("This caption is already in practice. Choose another one."))
    practice_caption = PracticeCaption.objects.create(
        project=project,
        subtest=subtest,
        caption=caption,
        examples=examples,
        explanation=explanation,
        said_by=actor,
    )
    audit.record(audit.event(project, actor, "add_practice_caption", practice_caption))
    return practice_caption
