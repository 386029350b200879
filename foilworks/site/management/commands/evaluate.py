"""`foilworks evaluate`: score a release with a model."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.board.gaps import gaps_of
from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_run
from evaluation.ladder.wording import sentences
from evaluation.score_files.score_readers import AUTO, FORMS
from evaluation.scoring.actions.start_run import BUDGET, DTYPES, start_run
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import project_named, release_named, run_results
from evaluation.scoring.rung_results import ladder_results
from evaluation.scoring.rungs import CONTROLS, FRAMES_TRIED
from evaluation.scoring.served.figures import figures_as_json, figures_of
from evaluation.scoring.standard_results import standard_of
from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.columns import add_columns, ignored_line
from foilworks.site.management.text_tables import table

LEGEND = (
    "T: share of items whose caption scores above every foil; P: the same of their proficiency items; P+T: of both; "
    "_ci: 95 % interval; ties: share of items with a tie"
)
COLUMNS = ("n", "T", "T_ci", "P", "P+T", "ties")
GAP = ("public", "public_ci", "private", "private_ci", "gap", "gap_ci")
RUNG = ("n", "T", "T_ci")
RANKED = (("rcad", "rank among foils (RCAD)"), ("control", "rank among other captions"))
TWO_CLIPS = ("n", "text", "text_ci", "video", "video_ci", "group", "group_ci", "ties")
STANDARD = ("n", "choices", "R@1", "R@1_ci")
RANKS = ("n", "R@1", "R@2", "R@3", "mean_rank", "median_rank")


class Command(FoilworksCommand):
    help = "score a release with a model"
    example = (
        "foilworks evaluate --release 3 --model clip:openai/clip-vit-base-patch32 --device auto\n"
        "  foilworks evaluate --release 3 --model file:scores.jsonl --sync --json\n"
        "  foilworks evaluate --release 3 --model tiny:models/temporal --controls --sync\n"
        "  foilworks evaluate --release 3 --model file:main.json --proficiency able.json --protocol vilma-2024-code\n"
        "  foilworks evaluate --release 3 --model 'endpoint:lab/MODEL?mode=pairs' --max-requests 5000 --sync"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--release", required=True, metavar="ID", help="id, hash or name of the release")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument(
            "--model", required=True, metavar="SPEC", help="such as fake:, tiny:FOLDER, endpoint:NAME/MODEL"
        )
        parser.add_argument(
            "--proficiency",
            type=Path,
            metavar="SCORES",
            help="with file: scores of the proficiency items (ViLMA's second file)",
        )
        parser.add_argument("--protocol", default="foilworks", choices=sorted(PROTOCOLS))
        parser.add_argument("--device", default="auto", metavar="D", help="device: auto, cpu, cuda or cuda:N")
        parser.add_argument(
            "--dtype",
            default=DTYPES[0],
            choices=DTYPES,
            help="number format of the model's weights; auto: bfloat16 for vlm on a GPU, else float32",
        )
        parser.add_argument("--label", default="", help="name of the run in tables and charts")
        parser.add_argument(
            "--control",
            action="store_true",
            help="also rank each caption among 5 random captions of other videos (Feint6K, Fig. 1b)",
        )
        parser.add_argument(
            "--standard",
            action="store_true",
            help="also rank each clip's caption among the captions of all clips (dual encoders only)",
        )
        _add_rungs(parser)
        for name, what, kind in (("requests", "N", int), ("tokens", "N", int), ("cost", "X", float)):
            parser.add_argument(f"--max-{name}", type=kind, metavar=what, help=f"with endpoint: max {name} of the run")
        parser.add_argument(
            "--form",
            default="",
            choices=sorted(FORMS.keys() - {AUTO}),
            help="with file: format of the scores; detected from the file if left out",
        )
        add_columns(parser)
        parser.add_argument(
            "--sync", action="store_true", help="score now and print the result instead of queueing a job"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_named(options["project"]) if options["project"] else None
        release = release_named(options["release"], project)
        run = start_run(
            None,
            release,
            options["model"],
            protocol=options["protocol"],
            device=options["device"],
            dtype=options["dtype"],
            label=options["label"],
            control=options["control"],
            standard=options["standard"],
            controls=options["controls"],
            frames_tried=options["frames_tried"],
            rung_files=_files(options["rung"]),
            proficiency=options["proficiency"],
            columns=options["columns"],
            form=options["form"],
            budget={name: options[f"max_{name}"] for name in BUDGET if options[f"max_{name}"] is not None},
        )
        assert run.job is not None
        result = {"run": run.pk, "release": release.pk, "model": run.label, "job": str(run.job.pk)}
        if options["sync"]:
            result["state"] = run_now(run.job).state
            run.refresh_from_db()
            ignored = run.problems.get("ignored_columns", [])
            if ignored:
                self.say(ignored_line(ignored))
            served = figures_of(run)
            about = {"served": figures_as_json(served)} if served is not None else {}
            about |= {"standard": dict(found)} if (found := standard_of(run)) else {}
            about |= {"ladder": ladder_results(run)} if "ladder" in run.params else {}
            about |= {"sentences": sentences(parts["overall"])} if (parts := ladder_of_run(run)) else {}
            about |= {"gap": gaps[0].found} if (gaps := [row for row in gaps_of(release) if row.run == run]) else {}
            return {**result, **run_results(run), "problems": run.problems, "ignored_columns": ignored, **about}
        self.say_if_no_worker(run.job)
        return {**result, "state": run.job.state}

    def render(self, result: dict[str, Any]) -> str:
        if "overall" not in result:
            return f"run {result['run']} of {result['model']} is queued (job {result['job']})"
        if result["overall"] is None:
            problems = "; ".join(_told(name, items) for name, items in result["problems"].items())
            return f"run {result['run']}: no item was scored ({problems or 'the release is empty'})"
        groups = [*result["subtests"].items(), ("overall", result["overall"])]
        shown = table(("", *COLUMNS), [(name, *[group[key] for key in COLUMNS]) for name, group in groups])
        shown += f"\n{LEGEND}"
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
        if pairs := result["two_clips"]:
            shown += "\n\n" + _two_clips(pairs)
        if result.get("gap"):
            shown += "\n\n" + table(GAP, [[result["gap"][name] for name in GAP]])
        if "served" in result:
            shown += "\n\n" + _served(result["served"])
        return "\n".join([shown, *(_told(name, items) for name, items in result["problems"].items())])


def _add_rungs(parser: CommandParser) -> None:
    parser.add_argument(
        "--controls",
        action="store_true",
        help="also score without the clip, with another clip, single, shuffled and reversed frames",
    )
    parser.add_argument(
        "--frames-tried",
        type=int,
        default=FRAMES_TRIED,
        metavar="N",
        help="with --controls: how many single frames the best one is chosen from, an odd number",
    )
    parser.add_argument(
        "--rung",
        action="append",
        default=[],
        metavar="NAME=SCORES",
        help=f"with file: a score file of one rung; repeat for others. Rungs: {', '.join(CONTROLS)}",
    )


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
