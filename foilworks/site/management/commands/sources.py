"""`foilworks sources`: check the clips of a project or of a release: files, addresses, names, licences."""

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Count, QuerySet

from evaluation.scoring.queries import release_named
from foilworks.core.corpus.models import MediaState, Release, ReleaseItem, Video
from foilworks.core.corpus.video_files.address_check import AddressCheck
from foilworks.core.corpus.video_files.source_check import SourceProblem, source_problems
from foilworks.core.projects.models import Project
from foilworks.site.documents.models import SourceLicence
from foilworks.site.management.base import FoilworksCommand, table
from foilworks.site.management.projects import project_by_slug

# Listed in the output; all are counted.
MAX_LISTED, SHOWN = 1_000, 50


class Command(FoilworksCommand):
    help = "check the clips of a project or release: lost and changed files, addresses, similar names, licences"
    example = (
        "foilworks sources check --project mine\n"
        "  foilworks sources check --project mine --media clips/ --urls --json\n"
        "  foilworks sources check --project mine --release v1"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("check",), help="action; exit status 1 if a clip has a problem")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--release",
            default="",
            metavar="NAME",
            help="only clips of this release, compared with their frozen hashes",
        )
        parser.add_argument(
            "--media",
            type=Path,
            metavar="DIR",
            help="folder of the source files: find files for clips without one, also by similar names",
        )
        parser.add_argument(
            "--urls", action="store_true", help="also send a HEAD request for each clip that plays from MEDIA_HOSTS"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        release = release_named(options["release"], project) if options["release"] else None
        clips = _clips(project, release)
        kinds: Counter[str] = Counter()
        with AddressCheck() if options["urls"] else nullcontext() as addresses:
            found = _counted(source_problems(project, clips, options["media"], addresses, self.progress), kinds)
            listed = [problem._asdict() for problem in islice(found, MAX_LISTED)]
            # The rest is counted, not kept.
            sum(1 for _ in found)
            if release is not None:
                since = _counted(_changed_since(release), kinds)
                listed += [problem._asdict() for problem in islice(since, max(0, MAX_LISTED - len(listed)))]
                sum(1 for _ in since)
            unanswered = addresses.unanswered if addresses is not None else 0
        states = dict(clips.order_by().values_list("media_state").annotate(n=Count("pk")))
        return {
            "ok": not kinds,
            "clips": sum(states.values()),
            "states": {state.value: states.get(state.value, 0) for state in MediaState},
            "counts": dict(sorted(kinds.items())),
            "problems": listed,
            "addresses": {"checked": options["urls"], "unanswered": unanswered},
            "licences": list(_licences(project, clips)),
        }

    def render(self, result: dict[str, Any]) -> str:
        states = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in result["states"].items() if n)
        lines = [f"{result['clips']} clips: {states or 'none'}"]
        if result["addresses"]["unanswered"]:
            lines.append(f"{result['addresses']['unanswered']} addresses refuse HEAD requests and were not checked")
        rows = [
            (row["dataset"] or "(not named)", row["clips"], row["licence"] or "not stated")
            for row in result["licences"]
        ]
        lines += ["", table(("source", "clips", "licence"), rows), ""]
        shown = [(one["clip"], one["problem"]) for one in result["problems"][:SHOWN]]
        lines += [f"{clip}: {problem}" for clip, problem in shown]
        n = sum(result["counts"].values())
        lines += [f"... and {n - len(shown)} more; --json lists them"] if n > len(shown) else []
        counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in result["counts"].items())
        return "\n".join([*lines, counts or "no problems"])

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1


def _clips(project: Project, release: Release | None) -> QuerySet[Video]:
    clips = Video.objects.filter(project=project)
    if release is None:
        return clips
    return clips.filter(pk__in=ReleaseItem.objects.filter(release=release, video__isnull=False).values("video_id"))


def _counted(problems: Iterator[SourceProblem], kinds: Counter[str]) -> Iterator[SourceProblem]:
    for problem in problems:
        kinds[problem.kind] += 1
        yield problem


def _changed_since(release: Release) -> Iterator[SourceProblem]:
    """Yield clips whose stored file is not the one that the release froze."""
    members = ReleaseItem.objects.filter(release=release, video__takedown__isnull=True, video__isnull=False)
    rows = members.order_by("video_id").values_list("video_id", "video__key", "video__sha256", "record__video__sha256")
    last = 0
    for pk, key, now, frozen in rows.iterator():
        if pk != last and frozen and frozen != now:
            last = pk
            problem = f"the release froze SHA-256 {frozen[:12]}, the project has {now[:12] or 'no file'}"
            yield SourceProblem(key, "changed_since_release", problem)


def _licences(project: Project, clips: QuerySet[Video]) -> Iterator[dict[str, Any]]:
    """Yield the data sets of the clips with the licence that the project states for each."""
    stated = {row.source_dataset: row for row in SourceLicence.objects.filter(project=project)}
    counts = clips.order_by("source_dataset").values_list("source_dataset").annotate(n=Count("pk"))
    for name, n in counts:
        row = stated.get(name)
        yield {
            "dataset": name,
            "clips": n,
            "licence": row.licence if row else "",
            "url": row.url if row else "",
        }
