"""`foilworks audit`: find out whether a benchmark can be solved without its videos. Needs no project, no database."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.analyses.sampling import SAMPLE_ITEMS
from evaluation.audit.finding_text import SHOWN, and_more, lines_of, n_unlisted
from evaluation.audit.item_files import csv_of
from evaluation.audit.ladder import parse_rungs
from evaluation.audit.pages import file_of
from evaluation.audit.records import MAX_TRAINED, VERDICTS
from evaluation.audit.summary import markdown_of
from evaluation.audit.without_video import note, sentence
from evaluation.errors import EvaluationError
from foilworks import library
from foilworks.core.projects.templatetags.wording import in_words
from foilworks.core.text.quoting import quoted
from foilworks.site.management.base import FoilworksCommand, parse_set_options, table
from foilworks.site.management.file_options import add_benchmark_options, read_options, whole_number

OF_SUBTESTS = ("divergence", "cues")
MARKS = {
    "nothing_found": " ",
    "nothing_found_so_far": " ",
    "cannot_tell": "?",
    "warn": "!",
    "reversed": "r",
    "fail": "x",
}
NOT_RUN = "not run"
# Parameters of the audit itself, with their usual values.
OWN_PARAMS = {"sample": SAMPLE_ITEMS, "seed": 0, "partly": 0, "train": 0}
# Those that are folders.
FOLDERS = ("train_state", "videos")
NEVER = "never"


class Command(FoilworksCommand):
    help = "audit a benchmark file: can it be solved without the video? Needs no project and no database"
    example = (
        "foilworks audit swap_att.json replace_att.json --html audit.html\n"
        "  foilworks audit questions.csv --column right=true_caption,wrongs=neg1+neg2\n"
        "  foilworks audit test.jsonl --model lm:gpt2 --fail-on fail\n"
        "  foilworks audit test.jsonl --predictions full.jsonl --rung shuffled=shuffled.jsonl"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        self.parser = parser
        add_benchmark_options(
            parser,
            f"parameter of the audit or of the format; repeatable. sample: max items that are solved (default "
            f"{SAMPLE_ITEMS}); seed: of the sample and of the folds (default 0); partly: 1 uses files of predictions "
            "although more than a tenth of their answers cannot be read; train: items on which the first --model is "
            f"also tuned, at most {MAX_TRAINED} (default 0); train_state: folder from which the same command continues "
            "that; videos: folder with the files of the clips, to check whether their size, length, encoder or "
            "direction answer the items",
        )
        parser.add_argument(
            "--model",
            action="append",
            default=[],
            dest="models",
            metavar="SPEC",
            help="also try a text-only model, such as lm:FOLDER; repeatable",
        )
        parser.add_argument(
            "--transcripts",
            type=Path,
            metavar="FOLDER",
            help="also solve with what is spoken: .srt, .vtt, .txt or .json files by the names of the clips. A column "
            "with transcripts is --column transcript=NAME",
        )
        parser.add_argument(
            "--predictions",
            action="append",
            default=[],
            dest="rungs",
            type="full={}".format,
            metavar="FILE",
            help="scores or predictions of a model with the full clip: --rung full=FILE",
        )
        parser.add_argument(
            "--rung",
            action="append",
            default=[],
            dest="rungs",
            metavar="NAME=FILE",
            help="the same with less of the clip: no_clip, best_frame, shuffled, …; repeatable",
        )
        self._add_results(parser)

    def _add_results(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--certify",
            type=Path,
            metavar="STATE",
            help="repeat the folds and permute answers: only this can say “nothing found”. STATE is a file; the same "
            "command continues from it",
        )
        parser.add_argument("--items", type=Path, metavar="CSV", help="also write how far each item is answered")
        parser.add_argument("--html", type=Path, metavar="OUT", help="also write one HTML page with charts")
        parser.add_argument("--markdown", type=Path, metavar="OUT", help="also write a summary in Markdown")
        parser.add_argument(
            "--fail-on",
            default=NEVER,
            choices=(NEVER, *VERDICTS[2:]),
            help="exit with status 1 if a check has this verdict or a worse one (default never)",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        self.fail_on = options["fail_on"]
        params = parse_set_options(options["set"])
        sample, seed, with_partly, train_items = (whole_number(self.parser, params, *row) for row in OWN_PARAMS.items())
        train_state, videos = (Path(name) if (name := params.pop(row, "")) else None for row in FOLDERS)
        if sample < 1:
            self.parser.error("--set sample must be at least 1")
        if train_items and not options["models"]:
            self.parser.error("--set train needs the --model that it tunes")
        if train_state and not train_items:
            self.parser.error("--set train_state needs --set train=N")
        learner = _learner(options["models"][0]) if train_items else None
        rungs = parse_rungs(options["rungs"])
        result = dict(
            library.audit(
                options["files"],
                sample=sample,
                seed=seed,
                models=_scorers(options["models"]),
                rungs=rungs,
                with_partly=bool(with_partly),
                videos=videos,
                transcripts=options["transcripts"],
                certify=options["certify"],
                progress=lambda done, total: self.say(f"step {done} of {total}"),
                train=learner,
                train_state=train_state,
                train_items=train_items or MAX_TRAINED,
                **read_options(self.parser, params, **options),
            ).document
        )
        if options["html"]:
            _write(options["html"], file_of(result), "--html")
        if options["markdown"]:
            _write(options["markdown"], markdown_of(result), "--markdown")
        if options["items"]:
            _write(options["items"], csv_of(result["item_scores"]), "--items")
        return result

    def exit_status(self, result: dict[str, Any]) -> int:
        fails = self.fail_on != NEVER and VERDICTS.index(result["verdict"]) >= VERDICTS.index(self.fail_on)
        return 1 if fails else 0

    def render(self, result: dict[str, Any]) -> str:
        findings = [finding for finding in result["findings"] if not finding["subtest"]]
        self._say_skipped(findings)
        head = ("check", "verdict", "value", "95 % interval", "chance", "n")
        files = ", ".join(f"{file['name']} ({file['format']})" for file in result["files"][:SHOWN])
        if more := and_more(len(result["files"]) - SHOWN):
            files += f" {more}"
        meaning = "\n".join(filter(None, [sentence(result), note(result)]))
        parts = [f"{files}: {result['items']:,} items, {result['pairs']:,} pairs", table(head, map(_row, findings))]
        if n_hard := sum(result["hard_foils"].values()):
            parts.append(f"{n_hard:,} items count with their hard foil only")
        if result["without_video"]:
            rows = [(name, *_solved(row)) for name, row in result["without_video"]["tiers"].items()]
            parts.insert(1, table(("tier", "verdict", "value", "95 % interval", "chance", "n"), rows))
        if result["open_answers"]:
            rows = [(f"{row['kind']}, {row['metric']}", *_solved(row)) for row in result["open_answers"]]
            parts.insert(1, table(("open answers", "verdict", "value", "95 % interval", "best constant", "n"), rows))
        if result["subtests"]:
            shown = (*OF_SUBTESTS, *(["labels"] if any(finding["check"] == "labels" for finding in findings) else []))
            lines = [_of_subtest(subtest, shown) for subtest in result["subtests"]]
            parts.append(table(("subtest", "items", "without video", "p (Holm)", *shown), lines))
        parts += [told for finding in findings if (told := _told(finding))]
        return "\n\n".join([*([meaning] if meaning else []), *parts, f"verdict: {in_words(result['verdict'])}"])

    def _say_skipped(self, findings: Sequence[Mapping[str, Any]]) -> None:
        details = next((finding["details"] for finding in findings if finding["check"] == "fields"), {})
        shown = details.get("problems", [])[:SHOWN]
        for problem in shown:
            self.say(f"warning: skipped: {problem}")
        if more := and_more(n_unlisted(details)):
            self.say(f"warning: {more} records were skipped")


def _scorers(specs: Sequence[str]) -> dict[str, Any]:
    if not specs:
        return {}
    # Imported on request: it imports a model library.
    from evaluation.blind.scoring import TextScorer

    return {spec: TextScorer(spec) for spec in specs}


def _learner(spec: str) -> Any:
    kind, _, name = spec.partition(":")
    if kind != "lm" or not name:
        raise EvaluationError(f"--set train: {quoted(spec)} is not a causal language model; give lm:HUB_ID_OR_FOLDER")
    # Imported on request: it imports a model library.
    from foilworks.core.hub.training.option_letters import LetterModel

    return LetterModel(name)


def _row(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    verdict = NOT_RUN if finding["value"] is None else in_words(finding["verdict"])
    return (_title(finding), verdict, *(finding[name] for name in ("value", "interval", "chance", "n")))


def _told(finding: Mapping[str, Any]) -> str:
    """Return what a check counted, unless it is fine and read everything, and what to do if it fails."""
    is_fine = finding["value"] is not None and finding["verdict"] in {"nothing_found", "nothing_found_so_far"}
    if is_fine and not (finding["details"] or {}).get("n_unread"):
        return ""
    said = [*lines_of(finding), *([finding["fix"]] if finding["verdict"] == "fail" else [])]
    return f"{_title(finding)}: {' '.join(said)}" if said else ""


def _title(finding: Mapping[str, Any]) -> str:
    details = finding["details"] or {}
    beside = details.get("rung") or details.get("probe")
    return f"{finding['title']} ({beside})" if beside else str(finding["title"])


def _of_subtest(subtest: Mapping[str, Any], shown: Sequence[str]) -> tuple[Any, ...]:
    by_check = {finding["check"]: finding for finding in subtest["findings"]}
    solved = subtest["without_video"] or {"value": None, "p_holm": None}
    return (
        *(subtest["name"], subtest["items"], solved["value"], solved["p_holm"]),
        *(_cell(by_check.get(check)) for check in shown),
    )


def _solved(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (in_words(row["verdict"]), *(row[name] for name in ("value", "interval", "chance", "n")))


def _cell(finding: Mapping[str, Any] | None) -> str:
    if finding is None or finding["value"] is None:
        return "-"
    return f"{finding['value']:.3f} {MARKS.get(finding['verdict'], ' ')}"


def _write(path: Path, text: str, option: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EvaluationError(
            f"{quoted(str(path))}: cannot be written ({error.strerror}); choose another {option}"
        ) from error
