"""Every page of a small project, for tests that read what people read.

The pages are those of tests/test_access_matrix.py, in a project with one row of everything. A second project has two
scored models and votes: reports, analyses and the leaderboard need numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from annotation.models import Choice, Vote
from evaluation.analyses.registry import OF_SCORES, REPORTS
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import Role, User
from generation.captioning.registry import CAPTIONERS
from generation.methods.registry import METHODS
from tests import factories
from tests.clients import quick_client
from tests.evaluation.ranked import make_release, score
from tests.test_access_matrix import NO, OWNERS, RULES, World, address, make_world


@dataclass(frozen=True)
class Visit:
    """One request of one person; `data` is sent by a POST, or else None."""

    name: str
    address: str
    person: User | None
    data: dict[str, Any] | None = field(default=None, compare=False)


def visits(folder: Path) -> list[Visit]:
    """Make the two projects, with score files in `folder`, and list the requests whose answers are pages."""
    # What an earlier test has counted under the same numbers.
    cache.clear()
    world = make_world()
    return [*_by_rules(world), *_choices(world), *_with_numbers(folder)]


def page_of(visit: Visit, **headers: str) -> str:
    """Return the HTML of the answer, "" where it is a file or leads elsewhere."""
    client = quick_client(headers=headers)
    if visit.person is not None:
        client.force_login(visit.person)
    answer = client.get(visit.address) if visit.data is None else client.post(visit.address, visit.data)
    # Read to its end, so that no file stays open.
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return body.decode() if answer.headers.get("Content-Type", "").startswith("text/html") else ""


def _by_rules(world: World) -> Iterator[Visit]:
    """The page of each address for the first and the last who may see it, and its form sent empty."""
    for name, rule in RULES.items():
        url = address(name, world)
        people = [rule.may[0]] if rule.may == OWNERS else dict.fromkeys((rule.may[0], rule.may[-1]))
        if rule.get == 200:
            yield from (Visit(name, url, world.people[person]) for person in people)
        if rule.post not in (NO, 302):
            yield Visit(f"{name} sent", url, world.people[rule.may[0]], rule.data)


def _choices(world: World) -> Iterator[Visit]:
    """What appears when a method or a caption maker is chosen."""
    for name, key, table in (("method_fields", "method", METHODS), ("maker_fields", "maker", CAPTIONERS)):
        url = reverse(f"generation:{name}", args=[world.slug])
        yield from (Visit(f"{name} {slug}", f"{url}?{key}={slug}", world.people["researcher"]) for slug in table)


RELEASE_PAGES = ("releases:release", "releases:release_data", "board:leaderboard", "board:compare")


def _with_numbers(folder: Path) -> Iterator[Visit]:
    project = factories.make_project()
    owner = factories.make_member(project, Role.RESEARCHER)
    release = make_release(project)
    runs = [score(release, folder, label, right) for label, right in (("m1", lambda k: k > 3), ("m2", lambda k: k > 9))]
    _vote(project)

    def at(name: str, *args: Any) -> Visit:
        return Visit(" ".join(map(str, (name, *args))), reverse(name, args=[project.slug, *args]), owner)

    yield at("dashboard:dashboard")
    yield from (at("reports:report", kind) for kind in REPORTS if kind not in OF_SCORES)
    yield from (at("reports:analysis", release.pk, kind) for kind in sorted(OF_SCORES))
    yield from (at(name, release.pk) for name in RELEASE_PAGES)
    yield from (at(name, runs[0].pk) for name in ("scoring:run", "scoring:answers", "scoring:model_card"))
    yield at("items:item", Item.objects.filter(subtest__project=project).first().pk)


def _vote(project: Any) -> None:
    people = [factories.make_member(project, Role.VALIDATOR) for _number in range(3)]
    for item in Item.objects.filter(subtest__project=project)[:12]:
        foil = item.foils.get()
        for number, person in enumerate(people):
            choice = Choice.CAPTION if number or item.pk % 4 else Choice.FOIL
            asked = {"item": item, "foil": foil, "person": person, "caption_first": bool(number)}
            Vote.objects.create(**asked, choice=choice, idempotency_key=f"{item.pk}-{person.pk}")
