"""Choose the videos of a job that runs a model: all of a project, one split, or a list of keys."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import MediaState, Split, Video
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted, shortened

# A query lists each of them.
MAX_VIDEOS = 20_000
MAX_SHOWN = 5


def subset(project: Project, split: str = "", videos: Sequence[str] = ()) -> dict[str, Any]:
    """Return the choice as parameters of a job; empty if all videos are chosen.

    EvaluationError: an unknown split, a key that the project does not have, too many keys.
    """
    if split and split not in Split.values:
        raise EvaluationError(f"{quoted(split)} is not a split; choose one of: {', '.join(filter(None, Split.values))}")
    keys = list(dict.fromkeys(videos))
    if len(keys) > MAX_VIDEOS:
        raise EvaluationError(f"{len(keys)} videos are listed; list at most {MAX_VIDEOS}, or choose a split")
    known_keys = set(Video.objects.filter(project=project, key__in=keys).values_list("key", flat=True))
    if unknown_keys := [key for key in keys if key not in known_keys]:
        examples = ", ".join(shortened(key) for key in unknown_keys[:MAX_SHOWN])
        raise EvaluationError(
            f"{len(unknown_keys)} of the listed videos are not in the project: {examples}; list videos by their key"
        )
    return {**({"split": split} if split else {}), **({"videos": keys} if keys else {})}


def videos_to_describe(project: Project, params: Mapping[str, Any]) -> QuerySet[Video]:
    """Return the chosen videos that have a file."""
    videos = Video.objects.filter(project=project, media_state=MediaState.READY).exclude(file="")
    return chosen(videos.order_by("pk"), params)


def subset_with_files(project: Project, split: str = "", videos: Sequence[str] = ()) -> dict[str, Any]:
    """Return the choice as `subset` does. EvaluationError: as there, or none of the chosen videos has a file."""
    params = subset(project, split, videos)
    if not videos_to_describe(project, params).exists():
        raise EvaluationError(_no_videos(project, params))
    return params


def _no_videos(project: Project, params: Mapping[str, Any]) -> str:
    """Return why no video can be described, and what to do."""
    where = f" of the split {params['split']}" if params.get("split") else ""
    n = chosen(Video.objects.filter(project=project), params).count()
    if not n:
        import_ = f"`foilworks import video-list FILE --project {project.slug} --media DIR`"
        return f"{project.slug} has no videos{where}; import some: {import_}"
    attach = f"`foilworks attach --project {project.slug} --media DIR`"
    published = f"`foilworks utd import --project {project.slug} --file FILE`"
    have = f"the only video{where} has no file" if n == 1 else f"none of the {n} videos{where} has a file"
    return (
        f"{have} yet; attach their files: {attach}; or import published descriptions, which need no files: {published}"
    )


def keys_in(path: Path) -> list[str]:
    """Return the keys of a text file with one key per line. EvaluationError: there is no such file, or it has
    no key."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path}: cannot be read as text; give a file with one video key per line") from error
    keys = [key for line in lines if (key := line.strip())]
    if not keys:
        raise EvaluationError(f"{path}: is empty; write one video key per line")
    return keys


def chosen(videos: QuerySet[Video], params: Mapping[str, Any]) -> QuerySet[Video]:
    """Return those of `videos` that the parameters choose."""
    if params.get("split"):
        videos = videos.filter(split=params["split"])
    if params.get("videos"):
        videos = videos.filter(key__in=params["videos"])
    return videos


def summarized(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters for the audit log: the number of listed videos instead of their keys."""
    listed = {"videos": len(params["videos"])} if "videos" in params else {}
    return {**params, **listed}
