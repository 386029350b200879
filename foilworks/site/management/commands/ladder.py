"""`foilworks ladder`: show how much of a score needs the clip, several frames or their order."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import evidence_of, ladder_of_release, ladder_of_run, ladder_runs
from evaluation.ladder.stress_tests import stress_of_run
from evaluation.ladder.wording import benchmark_sentences, sentences, stress_sentences
from evaluation.metrics.need_evidence import LOWEST, MIN_LOOKS
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_named
from foilworks.site.management.base import FoilworksCommand, table
from foilworks.site.management.projects import project_by_slug

RUNGS = ("T", "ci", "drop", "drop_ci")
PARTS = ("value", "ci", "p")
SHARES = ("share", "ci", "p", "shown")
NEEDS = {f"needs_{slug}": slug for slug in LOWEST}


class Command(FoilworksCommand):
    help = "show how much of a score needs the clip, several frames or their order"
    example = "foilworks ladder --run 7\n  foilworks ladder --release 3 --items needs_order --json"

    def add_arguments(self, parser: CommandParser) -> None:
        of = parser.add_mutually_exclusive_group(required=True)
        of.add_argument("--run", type=int, metavar="ID", help="id of a scoring run with controls")
        of.add_argument("--release", metavar="ID", help="id, hash or name of a release, over all its models")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument("--items", choices=tuple(NEEDS), help="also list the ids of the items supported for it")

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
            if tests := stress_of_run(run):
                found = {**(found or {"overall": None, "sentences": []}), "stress": tests}
        if found is None:
            raise EvaluationError("no ladder yet; score the rungs with `foilworks evaluate model SPEC --controls`")
        said = benchmark_sentences(found) if options["release"] else _said(found)
        result = {**found, "sentences": said}
        if options["items"]:
            result["items"] = _names(runs, NEEDS[options["items"]])
        return result

    def render(self, result: dict[str, Any]) -> str:
        overall = result["overall"]
        if "models" in result:
            rows = [(", ".join(row["parts"]), *[row[name] for name in SHARES]) for row in overall["parts"]]
            shown = [table(("needs", *SHARES), rows)]
            looks = result["evidence"]["needs"].items()
            shown += [
                table(("need", "independent answers", "items"), [(n, r["looks"], r["supported"]) for n, r in looks])
            ]
        elif overall is None:
            shown = []
        else:
            rungs = [(rung, *[row[name] for name in RUNGS]) for rung, row in overall["rungs"].items()]
            parts = [(", ".join(row["parts"]), *[row[name] for name in PARTS]) for row in overall["parts"]]
            shown = [table(("rung", *RUNGS), rungs), table(("part", *PARTS), parts)]
        shown += ["\n".join(result["sentences"])]
        if "items" in result:
            shown += ["\n".join(result["items"]) or "no items"]
        return "\n\n".join(shown)


def _said(found: dict[str, Any]) -> list[str]:
    said = sentences(found["overall"]) if found["overall"] else []
    return [*said, *stress_sentences(found.get("stress", {}))]


def _names(runs: Sequence[Run], need: str) -> list[str]:
    """Return the ids of the supported public items. EvaluationError: too few looks to name items."""
    records, evidence = evidence_of(runs)
    if not evidence.is_enough(need):
        raise EvaluationError(
            f"{evidence.looks_for(need):.1f} independent answers of {MIN_LOOKS:.0f} are too few to name items; "
            "score again on the page of the evidence ladder, or score another model that beats guessing"
        )
    return [record["id"] for record, fits in zip(records, evidence.supported(need), strict=True) if fits]
