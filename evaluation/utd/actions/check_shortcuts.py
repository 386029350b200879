"""Whether items can be answered without watching: to be checked, and how many a release may hold."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import check_device
from evaluation.utd.actions.describe_videos import checked_model
from evaluation.utd.models import Descriptions, ItemCheck, ShortcutBar
from evaluation.utd.recipes import RECIPES
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher, require_role
from projects.models import Project, Role, User

JOB = "evaluation.utd.jobs.check_shortcuts"


@transaction.atomic
def check_shortcuts(
    person: User | None, descriptions: Descriptions, *, encoder: str = "", device: str = "auto"
) -> ItemCheck:
    """Store the order and queue its job (`check.job`). `person` None is the operator of the command line.

    AccessDenied without the researcher's role; EvaluationError, GenerationError: an encoder that cannot be asked for.
    """
    project = descriptions.project
    require_researcher(person, project)
    check_device(device)
    recipe = RECIPES.get(descriptions.params.get("recipe", ""))
    chosen = checked_model(encoder.strip() or (recipe.encoder if recipe else ""), person)
    check = ItemCheck.objects.create(
        descriptions=descriptions, encoder=chosen, params={"device": device}, created_by=person
    )
    check.job = enqueue(JOB, check.pk, queue="gpu", title=_("Items with shortcuts"), project_id=project.pk)
    check.save(update_fields=["job"])
    details = {"descriptions": descriptions.pk, "encoder": chosen}
    audit.record(audit.event(project, person, "evaluation.check_shortcuts", check, **details))
    return check


@transaction.atomic
def set_shortcut_bar(person: User, project: Project, share: float | None) -> None:
    """The largest share of a release's items that objects alone may answer; None lifts the bar.

    AccessDenied without the researcher's role; EvaluationError: no share from 0 to 1.
    """
    require_role(person, project, Role.RESEARCHER)
    if share is not None and not 0 <= share <= 1:
        raise EvaluationError(_("A bar is a share from 0 to 1; leave it empty for none."))
    before = ShortcutBar.objects.filter(project=project).values_list("share", flat=True).first()
    if before == share:
        return
    if share is None:
        ShortcutBar.objects.filter(project=project).delete()
    else:
        ShortcutBar.objects.update_or_create(project=project, defaults={"share": share, "changed_by": person})
    audit.record(audit.event(project, person, "evaluation.set_shortcut_bar", project, before=before, after=share))
