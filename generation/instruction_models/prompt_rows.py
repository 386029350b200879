"""Find prompts by id: built-in ones and a project's own."""

from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.instruction_models.prompts import ID, PROMPTS, Prompt
from generation.models import PromptTemplate


def find_prompt(prompt_id: str, project: Project | None) -> Prompt:
    """Find a prompt by id, such as "counterfactual@1"; GenerationError lists the known ids."""
    if prompt_id in PROMPTS:
        return PROMPTS[prompt_id]
    match = ID.fullmatch(prompt_id)
    if match and project is not None:
        row = PromptTemplate.objects.filter(project=project, slug=match["slug"], version=int(match["version"])).first()
        if row is not None:
            return as_prompt(row)
    available_ids = ", ".join(prompt_ids(project))
    raise GenerationError(f"there is no prompt {quoted(prompt_id)}; choose one of: {available_ids}")


def prompt_ids(project: Project | None, *, makes: str = "foils") -> list[str]:
    """Return the ids of the prompts that a run of the project can use: its own first, newest versions first."""
    rows = PromptTemplate.objects.filter(project=project) if project is not None and makes == "foils" else ()
    return [*map(str, rows), *(prompt.id for prompt in PROMPTS.values() if prompt.makes == makes)]


def as_prompt(row: PromptTemplate) -> Prompt:
    examples = tuple((caption, tuple(foils)) for caption, foils in row.examples)
    return Prompt(row.slug, row.version, str(row), row.system, row.question, examples)
