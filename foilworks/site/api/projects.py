"""List, create and read projects."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status

from foilworks.core.projects.access import get_project, require_to_create_projects, roles_in, visible_projects
from foilworks.core.projects.actions import creation
from foilworks.core.projects.forms.accounts import ProjectForm
from foilworks.core.projects.models import LeakageScope, Project
from foilworks.site.api.answers import cleaned, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Text, Word

router = Router(tags=["projects"])


class ProjectIn(Schema):
    name: Word
    slug: Word = ""
    description: Text = ""
    edit_stage: bool = True
    leakage_scope: Literal["video", "item"] = LeakageScope.VIDEO.value
    judge_caption_once: bool = True


class ProjectOut(Schema):
    slug: str
    name: str
    description: str
    is_simulated: bool
    edit_stage: bool
    leakage_scope: str
    judge_caption_once: bool
    lease_seconds: int
    roles: list[str]
    created_at: datetime


class ProjectsAsked(Listed):
    order: Literal["slug", "-slug", "created_at", "-created_at"] = "slug"


def project_out(request: HttpRequest, project: Project) -> ProjectOut:
    roles = sorted(roles_in(request.user, project))
    fields = {name: getattr(project, name) for name in ProjectOut.model_fields if name != "roles"}
    return ProjectOut(**fields, roles=roles)


@router.get("", response=reads(Page[ProjectOut]))
def list_projects(request: HttpRequest, query: Query[ProjectsAsked]) -> dict[str, Any]:
    """List the projects that you are a member of; a site administrator sees all."""
    rows = visible_projects(request.user)
    return page_of(request, rows, query, lambda project: project_out(request, project), order=query.order)


@router.post("", response=writes(ProjectOut, 201))
@once
def create_project(request: HttpRequest, body: ProjectIn) -> Status:
    """Create a project that you own."""
    require_to_create_projects(request.user)
    project = creation.create_project(request.user, **cleaned(ProjectForm(body.dict())))
    return Status(201, project_out(request, project))


@router.get("/{slug:slug}", response=reads(ProjectOut))
def read_project(request: HttpRequest, slug: str) -> ProjectOut:
    """Get one project."""
    return project_out(request, get_project(request.user, slug))
