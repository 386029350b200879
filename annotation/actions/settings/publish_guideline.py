"""A researcher publishes a new version of a stage's guidelines."""

from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import Guideline, Stage
from annotation.queries.guidelines import work_under_version
from annotation.rules.guidelines import MAX_CHARACTERS
from annotation.transactions import run_in_transaction
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User


def publish_guideline(
    person: User, project: Project, stage: str, text: str, *, subtest: Subtest | None = None
) -> Guideline:
    """Publish the next version for the stage, or for one of its subtests; new work is stored with it.

    AnnotationError for an unknown stage, an empty text, or a subtest of another project.
    """
    require_role(person, project, Role.RESEARCHER)
    if stage not in Stage.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(Stage.values)})
    if not text.strip() or "\x00" in text:
        raise AnnotationError(_("Write the guidelines before you publish them."))
    if len(text) > MAX_CHARACTERS:
        raise AnnotationError(
            _("The guidelines are longer than %(most)s characters. Shorten them.") % {"most": MAX_CHARACTERS}
        )
    if subtest is not None and subtest.project_id != project.pk:
        raise AnnotationError(_("This subtest belongs to another project. Choose one from this project."))
    return run_in_transaction(lambda: _publish(person, project, stage, text.strip(), subtest))


def _publish(person: User, project: Project, stage: str, text: str, subtest: Subtest | None) -> Guideline:
    versions = Guideline.objects.filter(project=project, stage=stage, subtest=subtest)
    newest = versions.order_by("-version").first()
    if newest is not None and newest.text == text:
        raise AnnotationError(_("The text is the same as the current version. Change it before you publish."))
    last = newest.version if newest else 0
    n_begun = work_under_version(project, stage, subtest)
    guideline = Guideline.objects.create(
        project=project, stage=stage, subtest=subtest, version=last + 1, text=text, created_by=person
    )
    audit.record(
        audit.event(project, person, "publish_guideline", guideline, to_state=str(guideline.version), begun=n_begun)
    )
    return guideline
