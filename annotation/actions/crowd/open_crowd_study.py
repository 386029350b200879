"""A researcher opens a crowd study, and closes or reopens it."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.access import crowd_study_for
from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.errors import AnnotationError
from projects import audit
from projects.access import require_role
from projects.demo_accounts import refuse_published
from projects.models import CrowdStudy, Platform, Project, Role, User


def open_crowd_study(actor: User, project: Project, **fields: Any) -> CrowdStudy:
    """`fields` are columns of CrowdStudy that the form has; the role follows from the stage. AnnotationError else."""
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, _("The accounts of a demo open no studies; sign in with an account of your own."))
    stage = fields["stage"]
    if stage not in ROLE_OF_STAGE:
        raise AnnotationError(_("There is no work to claim in the stage '%(stage)s'.") % {"stage": stage})
    if fields["platform"] == Platform.PROLIFIC and not fields.get("platform_study"):
        raise AnnotationError(_("Give the id of the study on Prolific: links of other studies are refused by it."))
    study = CrowdStudy(project=project, role=ROLE_OF_STAGE[stage], created_by=actor, **fields)
    try:
        study.full_clean()
        with transaction.atomic():
            study.save(force_insert=True)
            audit.record(audit.event(project, actor, "open_crowd_study", study, to_state="open", stage=stage))
    except ValidationError as error:
        raise AnnotationError(next(iter(error.message_dict.values()))[0]) from error
    except IntegrityError as error:
        raise AnnotationError(_("A study of this name is there already; choose another.")) from error
    return study


@transaction.atomic
def set_study_open(actor: User, project: Project, study_id: int, is_open: bool) -> bool:
    """Closed: nobody new comes in, who is in goes on. Whether anything changed."""
    study = crowd_study_for(actor, project, study_id)
    changed = CrowdStudy.objects.filter(pk=study.pk, is_open=not is_open).update(is_open=is_open)
    if changed:
        words = ("closed", "open") if is_open else ("open", "closed")
        audit.record(audit.event(project, actor, "set_study_open", study, from_state=words[0], to_state=words[1]))
    return bool(changed)
