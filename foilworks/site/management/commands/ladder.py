"""`foilworks ladder`: show how much of a score needs the clip, several frames or their order."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run, ladder_runs
from evaluation.ladder.listing import Source, items_at
from evaluation.ladder.wording import NEED_LABELS, PART_LABELS, benchmark_sentences, sentences
from evaluation.metrics.ladder import CHAIN
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_named
from foilworks.core.corpus.models import ReleaseItem
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug
from foilworks.site.management.text_tables import table

RUNGS = ("T", "ci", "drop", "drop_ci")
PARTS = ("value", "ci", "share", "share_ci")
NEEDS = {f"needs_{slug}": slug for slug in NEED_LABELS if slug != "unsolved"} | {"unsolved": "unsolved"}


class Command(FoilworksCommand):
    help = "show how much of a score needs the clip, several frames or their order"
    example = "foilworks ladder --run 7\n  foilworks ladder --release 3 --items needs_order --json"

    def add_arguments(self, parser: CommandParser) -> None:
        of = parser.add_mutually_exclusive_group(required=True)
        of.add_argument("--run", type=int, metavar="ID", help="id of a scoring run with controls")
        of.add_argument("--release", metavar="ID", help="id, hash or name of a release, over all its models")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument("--items", choices=tuple(NEEDS), help="also list the ids of the items that need this")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["release"]:
            project = project_by_slug(options["project"]) if options["project"] else None
            release = release_named(options["release"], project)
            found, runs = ladder_of_release(release), ladder_runs(release)
        else:
            run = Run.objects.filter(pk=options["run"]).select_related("release__project", "job").first()
            if run is None:
                raise EvaluationError(f"there is no run {options['run']}; `foilworks evaluate` prints the id of a run")
            found, runs = ladder_of_run(run), [run]
        if found is None:
            raise EvaluationError("no ladder yet; score the rungs with `foilworks evaluate model SPEC --controls`")
        said = benchmark_sentences(found) if options["release"] else sentences(found["overall"])
        result = {**found, "sentences": said}
        if options["items"]:
            _check_scored(NEEDS[options["items"]], found["needs"]["scored"])
            source = Source("", runs[0], is_release=bool(options["release"]))
            result["items"] = _names(source, NEEDS[options["items"]])
        return result

    def render(self, result: dict[str, Any]) -> str:
        overall = result["overall"]
        if "models" in result:
            rows = [(rung, row["share"], row["ci"], overall["luck"]) for rung, row in overall["rungs"].items()]
            shown = [table(("solved by some model", "share", "ci", "luck"), rows)]
        else:
            rungs = [(rung, *[row[name] for name in RUNGS]) for rung, row in overall["rungs"].items()]
            parts = [(", ".join(row["parts"]), *[row[name] for name in PARTS]) for row in overall["parts"]]
            shown = [table(("rung", *RUNGS), rungs), table(("part", *PARTS), parts)]
        shown += ["\n".join(result["sentences"])]
        if "items" in result:
            shown += ["\n".join(result["items"]) or "no items"]
        return "\n\n".join(shown)


def _check_scored(need: str, scored: Sequence[str]) -> None:
    """Raise EvaluationError if a rung at this level or below has no scores: items may need less than they seem to."""
    levels = list(CHAIN.values())
    below = levels[: levels.index(need) + 1] if need in levels else []
    if lacking := [str(PART_LABELS[name]) for name in below if name not in scored]:
        raise EvaluationError(
            f"this ladder cannot show which items need it: no scores for {', '.join(lacking)}; "
            "score these rungs with `foilworks evaluate model SPEC --controls`, or `evaluate file` with --rung"
        )


def _names(source: Source, need: str) -> list[str]:
    members = ReleaseItem.objects.filter(release=source.release, item__in=items_at(source, need)).order_by("position")
    return [record["id"] for record in members.values_list("record", flat=True)]
