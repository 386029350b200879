"""Audit, read and prune a benchmark: what `foilworks audit` and `foilworks prune` do."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from evaluation.analyses.sampling import SAMPLE_ITEMS
from evaluation.audit.records import MAX_TRAINED, VERDICTS
from evaluation.audit.without_video import sentence
from evaluation.errors import EvaluationError
from foilworks.core.corpus.records import TextRecord
from foilworks.library.inputs import Data, ReadOptions, opened_files, opened_sources
from foilworks.library.results import Bar, Result, Row

if TYPE_CHECKING:
    from evaluation.audit.model_probe import Scorer
    from foilworks.core.corpus.import_formats.parsing.text_files import Source
    from foilworks.core.solver.letter_choices import Learner

CHECK_COLUMNS = ("title", "check", "subtest", "verdict", "value", "interval", "chance", "n", "means", "fix")
ITEM_COLUMNS = ("id", "subtest", "question", "right", "wrongs", "position", "video", "split", "licence", "where")


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """The result of `audit`. Tables: `checks`, one row per check and subtest; `items`, one row per solved item.

    >>> import foilworks
    >>> result = foilworks.audit([{"caption": "a dog jumps", "foil": "a dog sleeps", "video": "v"}])
    >>> list(result.tables())
    ['checks', 'items']
    """

    HIDDEN = frozenset({"check", "means", "fix"})

    @property
    def verdict(self) -> str:
        """Return the worst verdict: one of `evaluation.audit.records.VERDICTS`."""
        return str(self.document["verdict"])

    def summary(self) -> str:
        """Return the verdict and what a solver answers without the videos."""
        return f"{sentence(self.document)} Verdict: {self.verdict.replace('_', ' ')}.".strip()

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the checks, and the scores of the items."""
        of_subtests = [finding for subtest in self.document["subtests"] for finding in subtest["findings"]]
        checks = [
            {name: finding[name] for name in CHECK_COLUMNS} for finding in [*self.document["findings"], *of_subtests]
        ]
        return {"checks": checks, "items": self.document["item_scores"]}

    def bars(self) -> Sequence[Bar]:
        """Return the shares that are answered without the videos, per tier and subtest."""
        solved = self.document["without_video"] or {"tiers": {}, "kinds": []}
        rows = [*solved["tiers"].items(), *((row["kind"], row) for row in solved["kinds"])]
        rows += [(f"{row['kind']}, {row['metric']}", row) for row in self.document["open_answers"]]
        return [Bar(name, row["value"], row["interval"], row["chance"]) for name, row in rows]


@dataclass(frozen=True, repr=False)
class Pruning(Result):
    """The result of `prune`. Table: `items`, one row per item with its action, reason and proposed repair.

    `removed`: the ids of the items that leave, or their row numbers if they have none.

    >>> import foilworks
    >>> rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(9)]
    >>> result = foilworks.prune(rows)
    >>> result["verdict"], len(result.tables()["items"])
    ('no_fair_subset', 9)
    """

    review: Sequence[Row] = ()
    removed: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return the verdict, and how many items are selected."""
        result = self.document
        n, n_kept, bound = result["n"], result["n_kept"], result["bound"]
        if result["verdict"] == "no_fair_subset":
            why = (
                f"At most {bound:,} of {n:,} items can be kept: of more, the solver's held-out answers are right too "
                "often."
            )
            if result["curve"]:
                why += f" The selection reached {n_kept:,} items."
            return f"No fair subset, so nothing is written. {why} Repair the items instead."
        if result["verdict"] == "too_few":
            return f"Too few: {n_kept:,} of {n:,} items are kept, which are too few to certify that they are fair."
        return f"Fair: {n_kept:,} of {n:,} items are kept (bound: {bound:,})."

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the items, those that are answered most surely first."""
        return {"items": self.review}

    def bars(self) -> Sequence[Bar]:
        """Return the shares that are answered without the videos, before and after."""
        rows = (("all items", self.document["before"]), ("kept items", self.document["after"]))
        return [Bar(name, row["value"], row["interval"], row["chance"]) for name, row in rows if row]


@dataclass(frozen=True, repr=False)
class Benchmark(Result):
    """The result of `read`. Table: `items`, one row per item.

    `items`: the records; `problems`: why others could not be read, one line per kind.

    >>> import foilworks
    >>> benchmark = foilworks.read([{"caption": "a dog jumps", "foil": "a dog sleeps"}, {"caption": "a dog jumps"}])
    >>> len(benchmark), len(benchmark.problems)
    (1, 1)
    """

    items: tuple[TextRecord, ...] = ()
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def summary(self) -> str:
        """Return the numbers of items, subtests and problems."""
        n_subtests = len({item.subtest for item in self.items})
        return f"{len(self.items):,} items, {n_subtests:,} subtests, {len(self.problems):,} kinds of problems"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the items."""
        return {"items": self.document["items"]}


def audit(
    data: Data,
    *,
    sample: int = SAMPLE_ITEMS,
    seed: int = 0,
    models: "Mapping[str, Scorer] | None" = None,
    rungs: Mapping[str, Data] | None = None,
    with_partly: bool = False,
    videos: Path | None = None,
    transcripts: Path | None = None,
    certify: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    train: "Learner | None" = None,
    train_state: Path | None = None,
    train_items: int = MAX_TRAINED,
    **reading: Unpack[ReadOptions],
) -> Audit:
    """Audit a benchmark: can it be answered without the videos? (docs/how-to/audit.md).

    `data`: n records as paths, `hf://datasets/…`, lists of dicts, or data frames; several by name are subtests.
    `sample`: max items that are solved, drawn by `seed`. `models`: name -> a function from texts to scores, (n,) higher
    is likelier. `rungs`: rung -> predictions with this much of the clip, `full` among them; `with_partly` accepts rungs
    of which over a tenth is unreadable. `videos`: a folder with the clips' files, whose encoding, length and direction
    are a check of their own; `transcripts`: one with what is spoken. `certify`: a file of a certificate to continue;
    `progress` gets (steps done, steps). `train`: a model that also learns from at most `train_items` texts
    (`option_letters.LetterModel`); `train_state`: a folder to continue from. `reading`: `ReadOptions`. Shares are 0..1.
    EvaluationError, CorpusError: the data cannot be read; the message says what to do.

    >>> import foilworks
    >>> captions = ["a man opens the door", "a girl lifts a cup", "two dogs run uphill", "a boat turns left"] * 10
    >>> rows = [{"caption": text, "foil": text + " again", "video": f"v{n}"} for n, text in enumerate(captions)]
    >>> result = foilworks.audit(rows)
    >>> result["items"], result.verdict
    (40, 'fail')
    """
    from evaluation.audit import audit as audits
    from evaluation.audit.tuned_probe import Tuning

    _check_folders({"files of the clips": videos, "transcripts": transcripts})
    _check_sizes(sample, train_items)
    state, report = _certificate(certify, progress)
    tuning = Tuning(train, train_state, train_items, progress=progress) if train else None
    options = audits.Options(
        sample, seed, 0, models or {}, certify is not None, report, state, tuning, videos, transcripts
    )
    with opened_sources(data, **reading) as sources:
        document = audits.audit(sources, options)
        if rungs:
            _add_ladder(document, sources, rungs, reading.get("columns") or {}, with_partly)
    return Audit(document)


def _check_folders(folders: Mapping[str, Path | None]) -> None:
    for content, folder in folders.items():
        if folder is not None and not folder.is_dir():
            raise EvaluationError(f"{folder}: is not a folder; give the folder with the {content}")


def _check_sizes(sample: int, train_items: int) -> None:
    if sample < 1:
        raise EvaluationError("sample: must be at least 1; give the number of items to solve")
    if not 1 <= train_items <= MAX_TRAINED:
        raise EvaluationError(f"train items: must be from 1 to {MAX_TRAINED}; give another number")


def _certificate(
    path: Path | None, progress: Callable[[int, int], None] | None
) -> tuple[dict[str, Any] | None, Callable[[int, int, dict[str, Any]], None] | None]:
    """Return the state to continue from, and what stores the state after each step."""
    if path is None:
        return None, None
    from foilworks.core.solver.passes import check_state

    state = None
    if path.exists():
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            check_state(state)
        except (OSError, ValueError) as error:
            raise EvaluationError(f"{path}: is no state of a certificate; choose another file") from error

    def store(done: int, total: int, state: dict[str, Any]) -> None:
        # Whole or not at all: an interrupted write must not lose the steps before it.
        partial = path.with_name(f"{path.name}.part")
        try:
            partial.write_text(json.dumps(state), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise EvaluationError(f"{path}: cannot be written ({error.strerror}); choose another --certify") from error
        if progress is not None:
            progress(done, total)

    return state, store


def _add_ladder(
    document: dict[str, Any],
    sources: "Sequence[Source]",
    rungs: Mapping[str, Data],
    columns: Mapping[str, str],
    with_partly: bool,
) -> None:
    from evaluation.audit import audit as audits
    from evaluation.audit import ladder
    from evaluation.audit.file_reader import Problems, read_all
    from evaluation.audit.measures import measures_of

    items = ladder.by_id(read_all(sources, Problems()))
    document["ladder"] = ladder.ladder_of(read_rungs(rungs, items, columns), items, with_partly=with_partly)
    document["measures"] = measures_of(document)
    findings = ladder.findings_of(document["ladder"])
    document["findings"] += [audits.as_json(finding) for finding in findings]
    document["verdict"] = max([document["verdict"], *(finding.verdict for finding in findings)], key=VERDICTS.index)


def read_rungs(
    rungs: Mapping[str, Data], items: Mapping[str, TextRecord], columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return the answers of each rung, read by `evaluation.audit.ladder.read_rung`."""
    from evaluation.audit import ladder

    own_columns = {role: name for role, name in columns.items() if role in {"id", "prediction"}}
    answers = {}
    for rung, data in rungs.items():
        with opened_files(data, rung) as files:
            if len(files) != 1:
                raise EvaluationError(f"{rung}: {len(files)} files of predictions; give one")
            answers[rung] = ladder.read_rung(files[0].path, items, own_columns)
    return answers


def prune(
    data: Data,
    *,
    seed: int = 0,
    predictions: Sequence[Data] = (),
    lists: Path | None = None,
    out: Path | None = None,
    **reading: Unpack[ReadOptions],
) -> Pruning:
    """Select items whose texts do not tell the answers (docs/how-to/audit.md#prune).

    `data`: n records as for `audit`. `seed`: of the draws. `predictions`: of two or more models, to compare their ranks
    on the selected items with random sets. `lists`: a folder for the review list and the removed ids. `out`: a new file
    of the same ending, or a folder, for the selected records. Nothing is written if there is no fair subset.

    EvaluationError, CorpusError: the data cannot be read, or a target cannot be written.

    >>> import foilworks
    >>> words = ["left", "right", "up", "down"]
    >>> rows = [{"caption": f"a boat turns {words[n % 4]}", "foil": f"a boat turns {words[n // 4 % 4 - 1]}",
    ...          "id": str(n), "video": f"v{n}"} for n in range(48) if words[n % 4] != words[n // 4 % 4 - 1]]
    >>> result = foilworks.prune(rows)
    >>> len(result.removed) + result["n_kept"] == result["n"] == len(rows)
    True
    """
    from evaluation.audit import ladder, pruning
    from foilworks.version import __version__

    columns = reading.get("columns") or {}
    with opened_sources(data, **reading) as sources:
        files = pruning.prune_files(sources, seed)
        review = pruning.review_rows(files)
        result = pruning.as_result(files, review)
        if predictions:
            items = ladder.by_id(files.records)
            models = read_rungs({f"model {n}": model for n, model in enumerate(predictions, 1)}, items, columns)
            result["rank_correlation"] = pruning.rank_correlation([model.credits for model in models.values()], files)
        if result["verdict"] == "no_fair_subset":
            return Pruning({**result, "lists": None, "out": None, "review": review}, review)
        if lists:
            pruning.write_lists(files, review, lists)
        target = pruning.apply(files, out, __version__) if out else None
    document = {**result, "lists": lists and str(lists), "out": target and str(target)}
    return Pruning(document, review, files.selection.removed)


def read(data: Data, **reading: Unpack[ReadOptions]) -> Benchmark:
    """Read the items of a benchmark as audits and imports read them (docs/reference/formats.md).

    `data`: n records as for `audit`. `position` counts options from 0; None if the data does not order them.

    EvaluationError, CorpusError: the data cannot be read, or a person must say what a column is.

    >>> import foilworks
    >>> benchmark = foilworks.read([{"question": "What opens?", "options": ["a door", "a box"], "answer": "B"}])
    >>> benchmark.items[0].right, benchmark.items[0].wrongs
    ('a box', ('a door',))
    """
    from evaluation.audit.file_reader import Problems, read_all

    problems = Problems()
    with opened_sources(data, **reading) as sources:
        records = tuple(replace(record, address=None) for record in read_all(sources, problems))
        files = [{"name": source.name, **source.origin} for source in sources]
    rows = [{name: getattr(record, name) for name in ITEM_COLUMNS} for record in records]
    return Benchmark({"files": files, "items": rows, "problems": problems.lines}, records, tuple(problems.lines))
