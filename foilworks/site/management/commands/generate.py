"""`foilworks generate`: run a foil method on the captions of a project."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.projects import project_by_slug
from generation.actions.benchmarks import start_benchmark
from generation.actions.runs import start_run
from generation.default_filters import DEFAULT_FILTERS, default_filters
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from generation.models import CandidateGroup, GenerationRun
from generation.recipes import BENCHMARKS, RECIPES, Recipe, find_recipe
from generation.records import MODES
from generation.run_counts import filter_counts, state_counts
from generation.run_request import FoilRequest

# Options that a benchmark, which starts several runs, does not take.
OF_ONE_RUN = ("subtest", "mode", "set", "filters", "estimate")


class Command(FoilworksCommand):
    help = "make foils for the captions of a project with one method, and filter them"
    example = "foilworks generate --project demo --subtest counting --method number --set foils=1 --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--method", metavar="SLUG", help="one of: " + ", ".join(sorted(METHODS)))
        what.add_argument(
            "--recipe",
            metavar="SLUG",
            help="method, parameters and filters of a published subtest; --set overrides them; one of: "
            + ", ".join(sorted(RECIPES))
            + "; or of a benchmark, which makes one run per kind of foil, each with its subtest, and one of "
            "proficiency items: " + ", ".join(sorted(BENCHMARKS)),
        )
        parser.add_argument("--subtest", metavar="NAME", help="default: the subtest, if the project has only one")
        parser.add_argument(
            "--mode",
            choices=MODES,
            default="corrected",
            help="paper: as published; corrected: with known faults corrected",
        )
        parser.add_argument(
            "--set",
            action="append",
            metavar="NAME=VALUE",
            help="parameter of the method, or of a filter as FILTER.NAME=VALUE; repeatable",
        )
        parser.add_argument(
            "--filters",
            metavar="A,B",
            help=f"of {', '.join(sorted(FILTERS))}, in this order; '' for none "
            f"(default: the recipe's, or {','.join(DEFAULT_FILTERS)})",
        )
        parser.add_argument("--split", default="", help="only captions of videos in this split: train, val or test")
        parser.add_argument(
            "--captions", default="", metavar="PREFIX", help="only captions whose id starts so, such as cos_caption-"
        )
        parser.add_argument("--limit", type=int, metavar="N", help="max captions, for a trial; default: all")
        parser.add_argument(
            "--without-foil",
            action="store_true",
            help="only captions without a foil in this subtest: leaves out those whose foil waits for people or is "
            "accepted",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed makes the same foils")
        when = parser.add_mutually_exclusive_group()
        when.add_argument("--sync", action="store_true", help="run it now instead of queueing a job")
        when.add_argument(
            "--estimate",
            action="store_true",
            help="start no run; ask an instruction model about a few captions, and show what all will cost",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        if options["recipe"] in BENCHMARKS:
            return self._benchmark(project, options)
        recipe = find_recipe(options["recipe"]) if options["recipe"] else None
        params, filters = _settings(options, recipe)
        request = FoilRequest(
            subtest=_subtest(project, options["subtest"]),
            method=recipe.method if recipe else options["method"],
            recipe=f"{options['recipe']}@{recipe.version}" if recipe else "",
            mode=options["mode"],
            params=params,
            filters=filters,
            seed=options["seed"],
            selection=_selection(options),
        )
        if options["estimate"]:
            # Imported on request: it opens models.
            from generation.estimates import estimate_run

            return {"estimate": asdict(estimate_run(project, request))}
        run = start_run(None, project, request)
        self._work([run], is_sync=options["sync"])
        return _result(run)

    def _benchmark(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        usual = (None, False, "corrected")
        if unused := [f"--{name}" for name in OF_ONE_RUN if options[name] not in usual]:
            raise GenerationError(
                f"the benchmark '{options['recipe']}' sets these for each of its runs; leave out {', '.join(unused)}"
            )
        selection = _selection(options)
        runs = start_benchmark(None, project, options["recipe"], seed=options["seed"], selection=selection)
        self._work(runs, is_sync=options["sync"])
        return {
            "benchmark": options["recipe"],
            "runs": [{"subtest": row.subtest.name, **_result(row)} for row in runs],
        }

    def _work(self, runs: Sequence[GenerationRun], *, is_sync: bool) -> None:
        for run in runs:
            assert run.job is not None
            if is_sync:
                run_now(run.job)
            run.refresh_from_db()
        if not is_sync:
            self.say_if_no_worker()

    def render(self, result: dict[str, Any]) -> str:
        if estimate := result.get("estimate"):
            return _estimate_text(estimate)
        if "runs" in result:
            return "\n".join(f"{row['subtest']}: {self.render(row)}" for row in result["runs"])
        lines = [f"run {result['run']}: {result['state']}; captions processed: {result['captions']}"]
        lines += [f"  {state}: {count}" for state, count in result["states"].items()]
        lines += [f"  rejected by {slug}: {count}" for slug, count in result["rejected_by"].items()]
        lines += [f"  skipped, {count}: {why}" for why, count in result["skipped"].items()]
        return "\n".join(lines)


def _estimate_text(estimate: dict[str, Any]) -> str:
    text = (
        f"{estimate['sent']:,} of {estimate['captions']:,} captions are sent: about {estimate['requests']:,} requests, "
        f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out"
    )
    if estimate["cost"] is not None:
        text += f", {estimate['cost']:.4g} {estimate['currency']}"
    return f"{text}; measured on {estimate['sampled']} captions, whose answers are stored"


def _selection(options: dict[str, Any]) -> dict[str, Any]:
    wanted = {"split": options["split"], "key_prefix": options["captions"], "without_foil": options["without_foil"]}
    chosen = {name: value for name, value in wanted.items() if value}
    return chosen if options["limit"] is None else {**chosen, "limit": options["limit"]}


def _subtest(project: Project, name: str | None) -> Subtest:
    subtests = {subtest.name: subtest for subtest in Subtest.objects.filter(project=project)}
    if name is None and len(subtests) == 1:
        return next(iter(subtests.values()))
    if not subtests:
        raise GenerationError(
            f"the project '{project.slug}' has no subtest yet, and foils need one; create it on the page Content → "
            f"Subtests, or by POST /api/v1/projects/{project.slug}/subtests"
        )
    if name not in subtests:
        wanted = f"subtest {quoted(name)} not found" if name else "--subtest is missing"
        raise GenerationError(f"{wanted}; give --subtest, one of: {', '.join(subtests)}")
    return subtests[name]


def _settings(options: dict[str, Any], recipe: Recipe | None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the parameters of the method and of each filter: the recipe's, overridden by --set and --filters."""
    usual: dict[str, dict[str, Any]] = {slug: {} for slug in default_filters(options["method"], options["mode"])}
    if recipe:
        usual = recipe.filters_in(options["mode"])
    filters = usual
    if options["filters"] is not None:
        chosen = [slug.strip() for slug in options["filters"].split(",") if slug.strip()]
        filters = {slug: usual.get(slug, {}) for slug in chosen}
    params: dict[str, Any] = dict(recipe.params) if recipe else {}
    for name, value in parse_set_options(options["set"]).items():
        slug, dot, filter_param = name.partition(".")
        if not dot:
            params[name] = value
        elif slug in filters:
            filters[slug][filter_param] = value
        else:
            raise GenerationError(f"--set {name}: the filter {quoted(slug)} is not in --filters; add it")
    return params, filters


def _result(run: GenerationRun) -> dict[str, Any]:
    assert run.job is not None
    return {
        "run": run.pk,
        "job": str(run.job.pk),
        "state": run.job.state,
        "captions": CandidateGroup.objects.filter(run=run).count(),
        "states": dict(state_counts(run)),
        "rejected_by": {row.slug: row.rejected for row in filter_counts(run) if row.rejected},
        "skipped": run.skipped,
    }
