"""`foilworks evaluate`: score a release with a model."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.board.gaps import gaps_of
from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_run
from evaluation.ladder.stress_tests import stress_of_run
from evaluation.ladder.wording import sentences, stress_sentences
from evaluation.open_answers.actions.open_answers import import_open_answers
from evaluation.open_answers.boards import as_json, open_board
from evaluation.score_files.score_readers import AUTO, FORMS
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.answer_figures import answer_figures
from evaluation.scoring.models import Run
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import release_named, run_results
from evaluation.scoring.run_request import BUDGET, DTYPES, RunRequest
from evaluation.scoring.rung_costs import COUNTS, cost_line, rung_costs
from evaluation.scoring.rung_params import CHOICES
from evaluation.scoring.rung_results import ladder_results
from evaluation.scoring.rungs import CONTROLS, FRAMES_TRIED
from evaluation.scoring.served.served_results import figures_as_json, figures_of
from evaluation.scoring.standard_results import standard_of
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT, SCORE_FILE
from foilworks.site.management.base import CommandGroup, FoilworksCommand, one_line, sets_table, table
from foilworks.site.management.file_options import add_columns, ignored_line
from foilworks.site.management.projects import project_by_slug, run_or_queue

LEGEND = (
    "T: share of items whose caption scores above every foil; P: the same of their proficiency items; P+T: of both; "
    "_ci: 95 % interval; ties: share of items with a tie"
)
COLUMNS = ("n", "T", "T_ci", "P", "P+T", "ties")
GAP = ("public", "public_ci", "private", "private_ci", "gap", "gap_ci")
RUNG = ("n", "T", "T_ci")
OPEN = ("metric", "value", "ci", "n", "n_unread", "all_wrong", "constant")
STRESS = ("n", "value", "ci", "other", "other_ci", "gap", "gap_ci", "chance")
RANKED = (("rcad", "rank among foils (RCAD)"), ("control", "rank among other captions"))
TWO_CLIPS = ("n", "text", "text_ci", "video", "video_ci", "group", "group_ci", "ties")
STANDARD = ("n", "choices", "R@1", "R@1_ci")
RANKS = ("n", "R@1", "R@2", "R@3", "mean_rank", "median_rank")


class _StartsRun(FoilworksCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--release", required=True, metavar="ID", help="id, hash or name of the release")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument("--protocol", default="foilworks", choices=sorted(PROTOCOLS))
        parser.add_argument("--label", default="", help="name of the run in tables and charts")
        parser.add_argument(
            "--sync", action="store_true", help="score now and print the result instead of queueing a job"
        )

    def start(self, spec: str, options: dict[str, Any], **settings: Any) -> dict[str, Any]:
        release = _release(options)
        if settings.get("controls") or settings.get("rungs"):
            self.say(cost_line(_costs(release, spec, options)))
        settings |= {"protocol": options["protocol"], "label": options["label"]}
        run = start_run(None, release, RunRequest(spec, **settings))
        result = {"run": run.pk, "release": release.pk, "model": run.label}
        result |= run_or_queue(self, run.job, options["sync"])
        if not options["sync"]:
            return result
        run.refresh_from_db()
        ignored_columns = run.problems.get("ignored_columns", [])
        if ignored_columns:
            self.say(ignored_line(ignored_columns))
        return {**result, **_results(run), "problems": run.problems, "ignored_columns": ignored_columns}

    def render(self, result: dict[str, Any]) -> str:
        if "overall" not in result:
            return f"run {result['run']} of {result['model']} is queued (job {result['job']})"
        if result["overall"] is None:
            problems = "; ".join(_told(name, items) for name, items in result["problems"].items())
            return f"run {result['run']}: no item was scored ({problems or 'the release is empty'})"
        groups = [*result["subtests"].items(), ("overall", result["overall"])]
        shown = table(("", *COLUMNS), [(name, *[group[key] for key in COLUMNS]) for name, group in groups])
        shown += f"\n{LEGEND}"
        unread = [(name, group["n_unread"], group["all_wrong"]["T"]) for name, group in groups if "n_unread" in group]
        if unread:
            shown += "\n\n" + table(("", "unreadable answers", "T if all of them are wrong"), unread)
        ranked = [(name, result[key]) for key, name in RANKED if result[key]]
        if ranked:
            shown += "\n\n" + table(("", *RANKS), [(name, *[found[key] for key in RANKS]) for name, found in ranked])
        if "standard" in result:
            shown += "\n\n" + table(
                ("standard retrieval", *STANDARD), [("", *[result["standard"][key] for key in STANDARD])]
            )
        if "ladder" in result:
            rows = [(name.replace("_", " "), *[found[key] for key in RUNG]) for name, found in result["ladder"].items()]
            shown += "\n\n" + table(("rung", *RUNG), rows)
            shown += "".join(f"\n{one}" for one in ["", *result.get("sentences", [])])
        if tests := result.get("stress"):
            rows = [(name, *[found[key] for key in STRESS]) for name, found in tests.items()]
            shown += "\n\n" + table(("stress test", *STRESS), rows)
            shown += "".join(f"\n{one}" for one in stress_sentences(tests))
        if pairs := result["two_clips"]:
            shown += "\n\n" + _two_clips(pairs)
        if of_sets := result["sets"]:
            shown += "\n\n" + sets_table(of_sets)
        if result.get("gap"):
            shown += "\n\n" + table(GAP, [[result["gap"][name] for name in GAP]])
        if "served" in result:
            shown += "\n\n" + _served(result["served"])
        return "\n".join([shown, *(_told(name, items) for name, items in result["problems"].items())])


class Model(_StartsRun):
    help = "score with a model that this installation loads"
    example = (
        "foilworks evaluate model clip:openai/clip-vit-base-patch32 --release 3 --device auto\n"
        "  foilworks evaluate model tiny:models/temporal --release 3 --controls --sync"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", metavar="SPEC", help="model, such as fake:, tiny:FOLDER, clip:ID")
        super().add_arguments(parser)
        parser.add_argument("--device", default="auto", metavar="D", help="device: auto, cpu, cuda or cuda:N")
        parser.add_argument(
            "--dtype",
            default=DTYPES[0],
            choices=DTYPES,
            help="number format of the model's weights; auto: bfloat16 for vlm on a GPU, else float32",
        )
        parser.add_argument(
            "--standard",
            action="store_true",
            help="also rank each clip's caption among the captions of all clips (dual encoders only)",
        )
        _add_controls(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        slug, _colon, argument = options["model"].partition(":")
        if slug in (ENDPOINT, SCORE_FILE):
            raise EvaluationError(f"{options['model']}: write `foilworks evaluate {slug} {argument}`")
        names = ("device", "dtype", "standard", "control", "controls", "rungs", "frames_tried")
        return self.start(options["model"], options, **{name: options[name] for name in names})


class Endpoint(_StartsRun):
    help = "score with a model that an endpoint serves"
    example = "foilworks evaluate endpoint 'lab/MODEL?mode=pairs' --release 3 --max-requests 5000 --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", metavar="NAME/MODEL", help="endpoint and model, with options after ?")
        super().add_arguments(parser)
        _add_controls(parser)
        for name, metavar, kind in (("requests", "N", int), ("tokens", "N", int), ("cost", "X", float)):
            parser.add_argument(f"--max-{name}", type=kind, metavar=metavar, help=f"max {name} of the run")

    def run(self, **options: Any) -> dict[str, Any]:
        budget = {name: options[f"max_{name}"] for name in BUDGET if options[f"max_{name}"] is not None}
        settings = {name: options[name] for name in ("control", "controls", "rungs", "frames_tried")}
        return self.start(f"{ENDPOINT}:{options['model']}", options, budget=budget, **settings)


class File(_StartsRun):
    help = "read the scores of a model that ran elsewhere"
    example = (
        "foilworks evaluate file scores.jsonl --release 3 --sync --json\n"
        "  foilworks evaluate file main.json --release 3 --proficiency able.json --protocol vilma-2024-code"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scores", metavar="SCORES", help="file of scores or answers")
        super().add_arguments(parser)
        parser.add_argument(
            "--proficiency",
            type=Path,
            metavar="SCORES",
            help="scores of the proficiency items (ViLMA's second file)",
        )
        parser.add_argument(
            "--rung",
            action="append",
            default=[],
            metavar="NAME=SCORES",
            help=f"a score file of one rung; repeat for others. Rungs: {', '.join(CONTROLS)}",
        )
        parser.add_argument(
            "--form",
            default="",
            choices=sorted(FORMS.keys() - {AUTO}),
            help="format of the scores; detected from the file if left out",
        )
        add_columns(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        settings = {name: options[name] for name in ("proficiency", "form", "columns")}
        spec = f"{SCORE_FILE}:{options['scores']}"
        return self.start(spec, options, rung_files=_files(options["rung"]), **settings)


class Open(FoilworksCommand):
    help = "put answers without options on the board of a release, by metric"
    example = (
        "foilworks evaluate open answers.jsonl --release 3 --column right=ground_truth --sync\n"
        "  foilworks evaluate open answers.jsonl --release 3 --judge endpoint:lab/MODEL --sync --json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("answers", type=Path, metavar="ANSWERS", help="CSV or JSON: id, prediction, right answer")
        parser.add_argument("--release", required=True, metavar="ID", help="id, hash or name of the release")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument("--label", default="", help="name of the model on the board")
        parser.add_argument("--judge", default="", metavar="SPEC", help="endpoint:NAME/MODEL or chat:NAME")
        parser.add_argument("--sync", action="store_true", help="judge now instead of queueing a job")
        add_columns(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        release = _release(options)
        names = ("columns", "label", "judge")
        found = import_open_answers(None, release, options["answers"], **{name: options[name] for name in names})
        result: dict[str, Any] = {"set": found.pk, "release": release.pk, "model": found.label}
        if found.job is not None:
            result |= run_or_queue(self, found.job, options["sync"])
        return {**result, "board": as_json(open_board(release))}

    def render(self, result: dict[str, Any]) -> str:
        lines = [
            table(("model", *OPEN), [(row["model"], *[row.get(name) for name in OPEN]) for row in result["board"]])
        ]
        for row in result["board"]:
            if agreement := row.get("agreement"):
                ci = agreement["ci"] and [round(end, 3) for end in agreement["ci"]]
                said = agreement["reason"] if agreement["alpha"] is None else f"alpha {agreement['alpha']:.3f} {ci}"
                cost = row.get("judge_cost", {})
                lines.append(
                    f"{row['model']}: judge {row['judge']}; agreement with people on {agreement['n']} answers: {said}; "
                    f"cost {cost.get('cost', 0):.4f} {cost.get('currency', '')}".rstrip()
                )
        return "\n".join(lines)


class Cost(FoilworksCommand):
    help = "show what rungs and stress tests would cost, without running them"
    example = (
        "foilworks evaluate cost vlm:Qwen/Qwen2.5-VL-7B-Instruct --release 3\n"
        "  foilworks evaluate cost 'endpoint:lab/MODEL' --release 3 --rungs with_subtitles,claims"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", metavar="SPEC", help="model, such as fake:, clip:ID, endpoint:NAME/MODEL")
        parser.add_argument("--release", required=True, metavar="ID", help="id, hash or name of the release")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        _add_controls(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        return _costs(_release(options), options["model"], options)

    def render(self, result: dict[str, Any]) -> str:
        rows = [(row["rung"], *[row[name] for name in COUNTS]) for row in result["rungs"]]
        total = ("all", *[result["total"][name] for name in COUNTS])
        lines = [table(("rung", *COUNTS), [*rows, total]), cost_line(result)]
        return "\n".join([*lines, *(f"{name}: {why}" for name, why in result["cannot"].items())])


class Command(CommandGroup):
    help = "score a release with a model"
    subcommands = {"model": Model, "endpoint": Endpoint, "file": File, "open": Open, "cost": Cost}


def _add_controls(parser: CommandParser) -> None:
    parser.add_argument(
        "--control",
        action="store_true",
        help="also rank each caption among 5 random captions of other videos (Feint6K, Fig. 1b)",
    )
    parser.add_argument(
        "--controls",
        action="store_true",
        help="also score without the clip, with another clip, single, shuffled and reversed frames",
    )
    parser.add_argument(
        "--rungs",
        type=lambda names: [name.strip() for name in names.split(",") if name.strip()],
        default=[],
        metavar="A,B",
        help=f"also score these rungs and stress tests, by name: {', '.join(CHOICES)}",
    )
    parser.add_argument(
        "--frames-tried",
        type=int,
        default=FRAMES_TRIED,
        metavar="N",
        help="with --controls: how many single frames the best one is chosen from, an odd number",
    )


def _release(options: dict[str, Any]) -> Release:
    project = project_by_slug(options["project"]) if options["project"] else None
    return release_named(options["release"], project)


def _costs(release: Release, spec: str, options: dict[str, Any]) -> dict[str, Any]:
    names, has_usual = options["rungs"], options["controls"] or not options["rungs"]
    return rung_costs(release, spec, names, options["frames_tried"], usual=has_usual)


def _results(run: Run) -> dict[str, Any]:
    """Return the metrics of a run, and what only some runs have."""
    results = dict(run_results(run))
    if (answered := answer_figures(run)) is not None:
        results["answers"] = answered
    if (served := figures_of(run)) is not None:
        results["served"] = figures_as_json(served)
    if standard := standard_of(run):
        results["standard"] = dict(standard)
    if "ladder" in run.params:
        results["ladder"] = ladder_results(run)
    if ladder := ladder_of_run(run):
        results["sentences"] = sentences(ladder["overall"])
    if tests := stress_of_run(run):
        results["stress"] = tests
    if gaps := [row for row in gaps_of(run.release) if row.run == run]:
        results["gap"] = gaps[0].found
    return results


def _files(given: list[str]) -> dict[str, Path]:
    """Return {rung: file} of NAME=SCORES."""
    pairs = [one.partition("=") for one in given]
    for name, mark, path in pairs:
        if not (name and mark and path):
            raise EvaluationError(f"--rung {name}: it names no rung or no file; write --rung shuffled=SCORES")
    return {name: Path(path) for name, _, path in pairs}


def _two_clips(found: dict[str, Any]) -> str:
    """Show text, video and group score of the items of two clips."""
    if found["overall"] is None:
        return f"no item of two clips has scores on both clips ({found['incomplete']} on one)"
    groups = [*found["subtests"].items(), ("overall", found["overall"])]
    rows = [(name, *[group[key] for key in TWO_CLIPS]) for name, group in groups]
    chance = ("chance", *[found["overall"]["chance"].get(key) for key in TWO_CLIPS])
    more = f"\n{found['incomplete']} items of two clips have scores on one clip only" if found["incomplete"] else ""
    return table(("items of two clips", *TWO_CLIPS), [*rows, chance]) + more


def _served(found: dict[str, Any]) -> str:
    """Describe outcomes and cost of a run through an endpoint."""
    rows = [
        (name.replace("_", " "), row["n"], row["share"], row["share_ci"]) for name, row in found["outcomes"].items()
    ]
    usage = found["usage"]
    tokens = f"{usage['prompt_tokens']} tokens in, {usage['completion_tokens']} out"
    cost = f", {usage['cost']:.4f} {usage['currency']}".rstrip() if usage["cost"] else ""
    about = f"{usage['requests']} requests, {usage['reused']} cached answers reused;  {tokens}{cost}"
    if not usage["requests"] and not usage["reused"]:
        about = "0 requests: all scores are those of earlier runs of this model"
    return table(("outcome", "questions", "share", "share_ci"), rows) + "\n" + about


def _told(name: str, items: list[Any]) -> str:
    """Say how many items have the problem, and quote the message of the first."""
    first = items[0]
    why = one_line(f"{first['item']}: {first['why']}") if isinstance(first, dict) else str(first)
    return f"{len(items)} {name.replace('_', ' ')}; the first: {why}"
