"""Get runs and candidates for a project's researchers. Rows of another project are not found."""

from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User
from generation.models import Candidate, GenerationRun, Selection
from generation.models.side_work import CaptionRun, Tuning


def get_run(person: User, slug: str, pk: int) -> GenerationRun:
    runs = GenerationRun.objects.select_related("project", "subtest", "job", "created_by")
    return get_row(runs, person, slug, Role.RESEARCHER, pk=pk)


def get_candidate(person: User, slug: str, pk: int) -> Candidate:
    candidates = Candidate.objects.select_related(
        "group__run__project", "group__caption__video__project", "author", "parent"
    )
    return get_row(candidates, person, slug, Role.RESEARCHER, at="group__run__project", pk=pk)


def get_caption_run(person: User, slug: str, pk: int) -> CaptionRun:
    runs = CaptionRun.objects.select_related("project", "job", "created_by")
    return get_row(runs, person, slug, Role.RESEARCHER, pk=pk)


def get_tuning(person: User, slug: str, pk: int) -> Tuning:
    return get_row(Tuning.objects.select_related("project", "job", "created_by"), person, slug, Role.RESEARCHER, pk=pk)


def get_selection(person: User, slug: str, pk: int) -> Selection:
    rows = Selection.objects.select_related("project", "subtest", "run", "job", "created_by", "applied_by")
    return get_row(rows, person, slug, Role.RESEARCHER, pk=pk)
