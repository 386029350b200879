"""Write a project's own prompt for instruction models: a first version, or the next one."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.instruction_models.prompts import PROMPTS, checked
from generation.models import PromptTemplate


@transaction.atomic
def write_prompt(
    person: User, project: Project, *, slug: str, system: str, question: str, examples: Sequence[Sequence[object]]
) -> PromptTemplate:
    """Save the next version of prompt `slug`. Existing versions never change.

    AccessDenied: not a researcher. GenerationError: a name that Foilworks uses, an invalid prompt,
    or the same text as the last version.
    """
    require_role(person, project, Role.RESEARCHER)
    if any(prompt.slug == slug for prompt in PROMPTS.values()):
        raise GenerationError(f"prompt {quoted(slug)} is built in; choose another name")
    # Two people who save at once wait for each other.
    Project.objects.select_for_update(no_key=True).only("pk").get(pk=project.pk)
    rows = PromptTemplate.objects.filter(project=project, slug=slug)
    version = (rows.aggregate(last=Max("version"))["last"] or 0) + 1
    prompt = checked(slug, version, system, question, examples)
    newest = rows.order_by("-version").first()
    if newest is not None and newest.sha256 == prompt.sha256:
        raise GenerationError(f"prompt {slug}: unchanged since version {newest.version}; change its text or leave it")
    row = PromptTemplate.objects.create(
        project=project,
        slug=slug,
        version=version,
        system=prompt.system,
        question=prompt.question,
        examples=[[caption, list(foils)] for caption, foils in prompt.examples],
        sha256=prompt.sha256,
        created_by=person,
    )
    audit.record(audit.event(project, person, "generation.write_prompt", row, prompt=str(row), sha256=row.sha256))
    return row
