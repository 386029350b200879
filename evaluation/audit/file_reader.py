"""Read a benchmark file of any form, record by record, without a project or a database."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaluation.analyses.questions import candidates, text_record
from evaluation.audit.exports import WHOLE, released
from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.answer_styles import AnswerStyles
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.text_files import BY_NAMES, Source, form_of, read_in_turn, read_texts
from foilworks.core.corpus.import_formats.registry import BENCHMARK, IMPORTERS
from foilworks.core.corpus.records import BadRecord, ItemRecord, TextRecord
from foilworks.core.corpus.rules.hard_foils import Candidates, HardFoil, hard_foils, may_have_nearest, stated_hard_foil
from foilworks.core.text.registry import Entry, load, lookup, parse_params

MAX_BAD_SHOWN = 20
# What differs between problems of one kind: quoted values and numbers.
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


@dataclass
class Problems:
    """Records that could not be read: their number, the first of each kind, and how many the kind has.

    `files`: why a whole file is left out, a line per file; how many records it has is unknown.
    """

    n: int = 0
    files: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    _kinds: dict[str, int] = field(default_factory=dict)

    def add(self, problem: str, n: int = 1) -> None:
        """Note n problems of a kind. They are of one kind if they differ only in their line and in what they quote."""
        self.n += n
        kind = _VARIABLE.sub("", problem)
        if kind in self._kinds:
            self.counts[self._kinds[kind]] += n
        elif len(self.examples) < MAX_BAD_SHOWN:
            self._kinds[kind] = len(self.examples)
            self.examples.append(problem)
            self.counts.append(n)

    def refusal(self, path: Path) -> EvaluationError:
        """Return the error of files without a readable record; `path` is the first of them."""
        first = next(iter([*self.examples, *self.files]), f"{path}: record: there is none")
        return EvaluationError(f"{first}; no record could be read")

    @property
    def lines(self) -> list[str]:
        """Return the files that are left out, then the first problem of each kind, with the number of the others."""
        return self.files + [
            f"{example} (and {n - 1:,} more like it)" if n > 1 else example
            for example, n in zip(self.examples, self.counts, strict=True)
        ]


def formats() -> dict[str, Entry]:
    """Return the formats whose records are items."""
    return {slug: entry for slug, entry in IMPORTERS.items() if entry.kind in {"", BENCHMARK}}


def read_all(sources: Sequence[Source], problems: Problems, *, with_open: bool = False) -> Iterator[TextRecord]:
    """Yield the records of all files of a benchmark, one file after the other; the problems are noted.

    `with_open`: also yield questions with an open answer, which have no wrong text; otherwise they are problems.
    Where the nearest foil is the hard one, the records of a file come last: that needs all of them. CorpusError or
    EvaluationError: the only file cannot be read, or the format is unknown.
    """

    def leave_out(_source: Source, problem: str) -> None:
        problems.files.append(f"{problem}; this file is left out")

    def read(source: Source, styles: AnswerStyles | None) -> Iterator[TextRecord | str]:
        return _with_hard_foils(_read(source, styles, with_open))

    yield from _noted(read_in_turn(sources, read, leave_out), problems)


def _noted(outcomes: Iterable[TextRecord | str], problems: Problems) -> Iterator[TextRecord]:
    for outcome in outcomes:
        if isinstance(outcome, str):
            problems.add(outcome)
        else:
            yield outcome


def _with_hard_foils(outcomes: Iterable[tuple[TextRecord, Candidates | None] | str]) -> Iterator[TextRecord | str]:
    waiting: list[tuple[TextRecord, Candidates]] = []
    for outcome in outcomes:
        if isinstance(outcome, str):
            yield outcome
            continue
        record, candidates = outcome
        if candidates is not None and stated_hard_foil(candidates) is None and may_have_nearest(candidates):
            waiting.append((record, candidates))
        else:
            yield _with_hard_foil(record, stated_hard_foil(candidates) if candidates else None)
    hard_indices = hard_foils(candidates for _, candidates in waiting)
    for (record, _), hard in zip(waiting, hard_indices, strict=True):
        yield _with_hard_foil(record, hard)


def _with_hard_foil(record: TextRecord, hard: HardFoil | None) -> TextRecord:
    return record if hard is None else replace(record, hard=hard.index, hard_source=hard.source)


def _read(
    source: Source, styles: AnswerStyles | None, with_open: bool
) -> Iterator[tuple[TextRecord, Candidates | None] | str]:
    """Yield each record with what the rule of hard foils reads of it, None for a question; or a problem."""
    form = form_of(source)
    if form == BY_NAMES:
        for texts in read_texts(source, styles):
            if isinstance(texts, RawRecord) and isinstance(texts.value, TextRecord) and with_open:
                yield texts.value, None
            elif isinstance(texts, RawRecord):
                yield f"{source.path}:{texts.line}: {texts.field}: {texts.problem}; {texts.fix}"
            else:
                yield texts[0], _candidates(*texts)
        return
    for number, outcome in enumerate(_outcomes(source, form), 1):
        if isinstance(outcome, BadRecord):
            yield str(outcome)
        elif isinstance(outcome, ItemRecord) and outcome.foils:
            subtest = source.subtest or source.path.stem
            record = text_record(outcome, number, subtest, source.split, str(source.path))
            yield record, candidates(record, outcome)
        elif isinstance(outcome, ItemRecord):
            yield f"{source.path}:{outcome.line}: foils: there is none; give at least one foil per item"
        elif not hasattr(outcome, "problem"):
            raise EvaluationError(f"{source.path}: format {form} has no items; choose a format with captions and foils")


def _outcomes(source: Source, form: str) -> Iterator[Any]:
    if form == WHOLE:
        return released(source.path)
    entry = lookup(IMPORTERS, form, "format")
    module, params = load(entry), parse_params(entry, source.params)
    if getattr(module, "TAKES_LIMITS", False):
        params = {**params, "limits": source.limits}
    outcomes: Iterator[Any] = module.read(source.path, params=params)
    return outcomes


def _candidates(record: TextRecord, fields: Mapping[str, Any]) -> Candidates | None:
    if record.question or record.position is not None:
        return None
    facts = fields.get("facts")
    return Candidates(record.subtest, record.right, record.wrongs, fields, facts if isinstance(facts, Mapping) else {})
