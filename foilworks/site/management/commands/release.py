"""`foilworks release`: freeze the valid items of a project and print the content hash."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from evaluation.ladder.selection import runs_to_select_with, select
from evaluation.ladder.wording import selection_notice
from evaluation.metrics.need_evidence import LOWEST
from evaluation.releases.actions.freeze_release import HALVES, freeze_release, freezing_parameters
from evaluation.releases.actions.rescore import rescore
from evaluation.releases.changelog import changelog_of
from evaluation.releases.gate import GateFinding
from evaluation.releases.holdback import MOST
from evaluation.releases.snapshot import records_of, valid_items
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import as_published_facts, canary_of
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.exports.hooks import TABLES_JOB
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.projects import project_by_slug

SHOWN = 5
KINDS = ("added", "removed", "changed")


def numbers(text: str) -> list[int]:
    """Parse numbers separated by commas. ValueError: one is none."""
    return [int(part) for part in text.split(",") if part.strip()]


class Command(FoilworksCommand):
    help = "freeze the valid items of a project as a release, and print its content hash"
    example = (
        "foilworks release --project my-benchmark --name v1\n"
        "  foilworks release --project my-benchmark --needs order --ladder-runs 3,4\n"
        "  foilworks release --project my-benchmark --name v1 --holdback 20%"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--name", default="", metavar="N", help="name of the release (default: release 1, release 2 …)"
        )

        parser.add_argument(
            "--override", default="", metavar="REASON", help="reason for a release although a blind model solves it"
        )
        parser.add_argument(
            "--balance",
            action="append",
            default=[],
            metavar="SUBTEST",
            help="leave out items until no single word separates captions from foils",
        )
        parser.add_argument(
            "--needs",
            default="",
            choices=tuple(LOWEST),
            help="only items that need their clip, several frames, or the order of frames, by the evidence ladder",
        )
        parser.add_argument(
            "--ladder-runs",
            type=numbers,
            default=[],
            metavar="ID,ID",
            help="runs whose ladders decide (default: all models of the newest release with a ladder)",
        )
        parser.add_argument(
            "--holdback",
            type=share,
            default=0.0,
            metavar="SHARE",
            help="share of the items that stays private, such as 20%%: no export or public page shows them",
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="with --holdback: seed of the draw")

        parser.add_argument(
            "--rescore", action="store_true", help="queue the models of the previous release on this one"
        )
        parser.add_argument(
            "--rescore-endpoints", action="store_true", help="with --rescore: also models behind endpoints"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        names = ("name", "override", "balance", "needs", "ladder_runs", "holdback", "seed")
        if options["needs"]:
            self._say_what_remains(project, options["needs"], options["ladder_runs"])
        release = freeze_release(None, project, **freezing_parameters({name: options[name] for name in names}))
        if options["name"] and release.name != options["name"]:
            self.say(f"release {release.name} has the same content; no new release was created")
        for job in Job.objects.filter(dotted=TABLES_JOB, target_id=release.pk, state__in=OPEN_STATES):
            run_now(job)
        for remark in GateFinding(release.gate.data["rows"]).remarks() if hasattr(release, "gate") else ():
            self.say(one_line(f"{remark} The release was created anyway: its items were imported as published."))
        again = {}
        if options["rescore"] or options["rescore_endpoints"]:
            found = rescore(None, release, endpoints=options["rescore_endpoints"])
            for label, why in found.left_out:
                self.say(one_line(f"{label} is not scored again: {why}"))
            again = {"runs": [run.pk for run in found.runs]}
        return {
            "id": release.pk,
            "name": release.name,
            "project": options["project"],
            "hash": release.content_hash,
            "n_items": release.n_items,
            "n_private": release.n_private,
            "public_hash": release.shown_hash,
            "canary": canary_of(release.content_hash),
            **as_published_facts(release.n_as_published),
            HALVES: release.gate.data.get(HALVES, []) if hasattr(release, "gate") else [],
            "changes": _counted(changelog_of(release)),
            **_selected(release),
            **again,
        }

    def _say_what_remains(self, project: Project, needs: str, chosen: list[int]) -> None:
        """Print how many items qualify by subtest, before anything is frozen."""
        selection = select(records_of(valid_items(project)), needs, runs_to_select_with(project, chosen))
        for subtest in selection.subtests:
            unknown = f"; not scored as they are now: {subtest.n_unknown}" if subtest.n_unknown else ""
            self.say(one_line(f"{subtest.name}: {subtest.n_kept} of {subtest.n} items need it{unknown}"))

    def render(self, result: dict[str, Any]) -> str:
        told = f"{result['hash']}  {result['name']} (id {result['id']}, {result['n_items']} items)"
        if word := result.get("as_published"):
            told += f"\n{word['items']} of {result['n_items']} items as published. {word['note']}"
        if chosen := result.get("needs"):
            told += f"\n{selection_notice(chosen)}"
        if halves := result[HALVES]:
            told += f"\n{len(halves)} items left out, because the item of their other clip is not in it: "
            told += one_line(", ".join(halves[:SHOWN]) + (", …" if len(halves) > SHOWN else ""))
        if result["n_private"]:
            told += f"\n{result['n_private']} items are private; the public items have the hash {result['public_hash']}"
            told += f"\n{result['canary']}"
        if "runs" in result:
            told += f"\n{len(result['runs'])} models of the previous release are queued"
        found = result["changes"]
        return f"{told}\nsince {found['since']}: {_spoken(found)}" if found else told


def share(text: str) -> float:
    """Read "20%" or "0.2"."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise ArgumentTypeError(f"{quoted(text)} is not a share; write one such as 20% or 0.2") from error
    if not 0 <= found <= MOST:
        raise ArgumentTypeError(f"{text} is outside of 0% to {MOST:.0%}; choose a share in between")
    return found


def _selected(release: Release) -> dict[str, Any]:
    chosen = release.gate.data.get("needs") if hasattr(release, "gate") else None
    return {"needs": chosen} if chosen else {}


def _counted(changes: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return how much changed since the previous release; None for the first one."""
    if changes is None:
        return None
    counts = {name: len(changes[name]) for name in KINDS}
    return {"since": changes["before"]["name"], **counts, "same": changes["n_same"]}


def _spoken(found: dict[str, Any]) -> str:
    return ", ".join(f"{found[name]} {name}" for name in (*KINDS, "same"))
