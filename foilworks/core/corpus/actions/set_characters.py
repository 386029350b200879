"""Give the captions of movies a list of their characters, for identity swaps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from foilworks.core.corpus.models import Caption
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User

CHUNK = 500
FACT = "characters"


@dataclass(frozen=True)
class MovieCaptions:
    """A movie and its captions in the project; `n_listed`: those that have a list of characters."""

    movie: str
    n_captions: int
    n_listed: int


def movies_of(project: Project, names: Collection[str] | None = None) -> list[MovieCaptions]:
    """Return the movies of the project, or those of these names, in alphabetical order. One query."""
    captions = Caption.objects.filter(video__project=project, video__movie__gt="")
    if names is not None:
        captions = captions.filter(video__movie__in=names)
    rows = captions.order_by("video__movie").values_list("video__movie")
    listed = Count("pk", filter=Q(facts__has_key=FACT))
    return [MovieCaptions(*row) for row in rows.annotate(n=Count("pk"), listed=listed)]


@transaction.atomic
def set_characters(
    person: User | None, project: Project, by_movie: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """Set the fact `characters` of every caption whose video is from one of the movies; a later list replaces it.

    Frozen releases do not change. Returns the numbers of movies, characters and captions, and the movies of the list
    without a caption in the project. `person` None is the operator of the command line.
    """
    require_researcher(person, project)
    rows = Caption.objects.filter(video__project=project, video__movie__in=list(by_movie)).select_related("video")
    matched_movies: set[str] = set()
    n, last = 0, 0
    while chunk := list(rows.filter(pk__gt=last).order_by("pk")[:CHUNK]):
        for caption in chunk:
            caption.facts = {**caption.facts, FACT: [dict(character) for character in by_movie[caption.video.movie]]}
        Caption.objects.bulk_update(chunk, ["facts"])
        matched_movies |= {caption.video.movie for caption in chunk}
        n, last = n + len(chunk), chunk[-1].pk
    counts = {
        "movies": len(matched_movies),
        "characters": sum(len(by_movie[movie]) for movie in matched_movies),
        "captions": n,
        "unknown_movies": sorted(set(by_movie) - matched_movies),
    }
    details = {key: value for key, value in counts.items() if key != "unknown_movies"}
    audit.record(audit.event(project, person, "corpus.set_characters", project, **details))
    return counts
