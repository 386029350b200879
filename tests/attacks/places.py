"""Where attacks look: a project whose every text was written by an attacker, and every page that shows one."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.test import Client

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Project, User
from tests.test_access_matrix import NO, RULES, World, address, make_world

# What people, their files and their models write. Names that must differ get the row's number behind them.
WRITTEN = {
    "projects.Project": "name description",
    "projects.User": "username first_name last_name",
    "projects.Invitation": "note",
    "projects.CrowdStudy": "name completion_url",
    "projects.CrowdWorker": "worker",
    "projects.ApiToken": "name",
    "projects.AuditEvent": "reason",
    "corpus.Video": "key url source_dataset source_id class_label category movie content_warning media_error",
    "corpus.Caption": "key text",
    "corpus.Subtest": "name test",
    "corpus.Item": "key",
    "corpus.Foil": "text",
    "corpus.Release": "name",
    "corpus.Takedown": "reason",
    "generation.Candidate": "text source target",
    "generation.CandidateGroup": "skipped_why",
    "generation.Tuning": "base_model",
    "annotation.GoldPair": "caption_text foil_text explanation",
    "annotation.PracticeCaption": "explanation",
    "annotation.Guideline": "text",
    "annotation.Review": "comment",
    "annotation.Question": "text",
    "annotation.CheckedFrame": "error",
    "annotation.ObjectCheck": "source",
    "evaluation.Descriptions": "name",
    "evaluation.BiasRun": "name",
    "evaluation.TeacherTraining": "label",
    "evaluation.Run": "label",
    "evaluation.Import": "file_name",
    "jobs.Job": "title message error",
}


@dataclass
class Hostile:
    """The world, its project and release; what was written into it everywhere."""

    world: World
    project: Project
    release: Release
    text: str


def hostile_world(text: str) -> Hostile:
    world = make_world()
    project = Project.objects.get(slug=world.slug)
    for label, names in WRITTEN.items():
        model = apps.get_model(label)
        for row in model.objects.all():
            values = {name: _fitting(model, name, text, row.pk) for name in names.split()}
            model.objects.filter(pk=row.pk).update(**values)
    Job.objects.update(state="failed")
    return Hostile(world, project, Release.objects.get(project=project), text)


def _fitting(model: Any, name: str, text: str, pk: object) -> str:
    longest = model._meta.get_field(name).max_length or 10_000
    tail = f" {str(pk)[:8]}"
    return text[: longest - len(tail)] + tail


def visitor_of(name: str, world: World) -> User | None:
    """Somebody who is shown the page: a researcher where they are, else whoever is."""
    may = RULES[name].may
    return world.people["researcher" if "researcher" in may else may[0]]


@dataclass(frozen=True)
class Shown:
    """What somebody is answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def kind(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0]


def visit(client: Client, url: str, query: dict[str, str] | None = None) -> Shown:
    response = client.get(url, query or {})
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return Shown(response.status_code, response.headers, content.decode(errors="replace"))


def every_page(world: World, only: Collection[str] = RULES, **words: str) -> Iterator[tuple[str, Shown]]:
    """What every page that answers a GET shows somebody whom it is for; `words` of its address other than usual."""
    usual, clients = dict(world.values), {}
    world.values.update(words)
    for name in only:
        rule = RULES[name]
        if rule.get == NO or not set(words) <= set(rule.args):
            continue
        person = visitor_of(name, world)
        if person not in clients:
            clients[person] = Client()
            if person is not None:
                clients[person].force_login(person)
        yield name, visit(clients[person], address(name, world))
    world.values.update(usual)
