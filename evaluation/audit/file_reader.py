"""Read a benchmark file of any form, record by record, without a project or a database."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from evaluation.audit.answers import AmbiguousAnswersError, AnswerStyles
from evaluation.audit.exports import WHOLE, released
from evaluation.audit.forms import Draft, draft_of, record_of_draft
from evaluation.audit.joining import answers_of
from evaluation.audit.nested_records import flattened
from evaluation.audit.raw_records import TABLES, header_of, raw_records, stem_of_parts
from evaluation.audit.records import AuditRecord
from evaluation.errors import EvaluationError
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES
from foilworks.core.corpus.import_formats.parsing.column_roles import SURE, question_about, roles_of
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content
from foilworks.core.corpus.import_formats.registry import BENCHMARK, IMPORTERS
from foilworks.core.corpus.records import SPLITS, BadRecord, ItemRecord
from foilworks.core.corpus.rules.hard_foils import Candidates, HardFoil, hard_foils, may_have_nearest, stated_hard_foil
from foilworks.core.text.registry import Entry, load, lookup, parse_params

# Found by the names of columns.
BY_NAMES = "columns"
KNOWN_HEADERS = {
    "feint6k": {"video_id", "sentence"},
    "contrast": {"clip", "ending0", "ending1", "label"},
    "vinoground": {"index", "pos_cap", "neg_cap"},
}
MAX_BAD_SHOWN = 20
# Records whose values show what the columns are.
MAX_SAMPLE = 50
# Fields of imports -> roles of audits.
_ROLE_OF_FIELD = {"caption": "right", "foils": "wrongs", "candidates": "options", "source_id": "video"}
# What differs between problems of one kind: quoted values and numbers.
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
# Records that wait until the file's way of writing answers is known.
MAX_WAITING = 5_000


@dataclass
class Source:
    """A file to audit and how to read it. `limits`: those of Parquet files (foilworks.core.corpus.limits); `params`:
    of the format.

    `answers`: a second file, with the answers by id. `subtest`: that of records without one, if not the file's name.
    """

    path: Path
    form: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    limits: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    answers: Path | None = None
    subtest: str = ""

    @property
    def name(self) -> str:
        """Return the name of the file, with that of its folder if the folder is a subtest."""
        return f"{self.subtest}/{self.path.name}" if self.subtest else self.path.name


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

    def add_all(self, of_file: "Problems") -> None:
        """Note the problems of one of the files."""
        for example, n in zip(of_file.examples, of_file.counts, strict=True):
            self.add(example, n)
        self.n += of_file.n - sum(of_file.counts)

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


def form_of(source: Source) -> str:
    """Return the format: the given one, one that the file's columns identify, or `columns`."""
    if source.form:
        return source.form
    if source.columns or source.answers or source.path.suffix.lower() not in TABLES:
        return BY_NAMES
    names = set(header_of(source.path)[1])
    return next((form for form, columns in KNOWN_HEADERS.items() if names >= columns), BY_NAMES)


def read_all(sources: Sequence[Source], problems: Problems) -> Iterator[AuditRecord]:
    """Yield the records of all files of a benchmark, one file after the other.

    Of several files, one that cannot be read to its end is left out whole and noted in `problems`. One that leaves open
    what its answers mean is read last: the other files then decide.

    CorpusError or EvaluationError: the only file cannot be read.
    """
    if len(sources) == 1:
        yield from read_benchmark(sources[0], problems)
        return
    styles = AnswerStyles()
    open_sources: list[Source] = []
    for source in sources:
        yield from _whole_file(source, problems, styles, open_sources)
    for source in open_sources:
        yield from _whole_file(source, problems, styles)


def _whole_file(
    source: Source, problems: Problems, styles: AnswerStyles, open_sources: list[Source] | None = None
) -> list[AuditRecord]:
    """Return the records of one file of several; none if it fails, be it at its last record.

    `open_sources`: takes the file if it leaves open what its answers mean; without it, the file is left out then.
    """
    file_problems = Problems()
    try:
        records = list(read_benchmark(source, file_problems, styles))
    except (CorpusError, EvaluationError) as error:
        if open_sources is not None and isinstance(error, AmbiguousAnswersError):
            open_sources.append(source)
        else:
            problems.files.append(f"{error}; this file is left out")
        return []
    problems.add_all(file_problems)
    return records


def read_benchmark(
    source: Source, problems: Problems, styles_of_files: AnswerStyles | None = None
) -> Iterator[AuditRecord]:
    """Yield the records with their hard foils; those that cannot be read are noted in `problems`.

    `styles_of_files`: how the files read before write their answers; this file's answers are added to it.

    Where the nearest foil is the hard one, the records come last: that needs all of them. CorpusError: the file as a
    whole cannot be read. EvaluationError: unknown format.
    """
    waiting: list[tuple[AuditRecord, Candidates]] = []
    for record, candidates in _read(source, problems, styles_of_files):
        if candidates is not None and stated_hard_foil(candidates) is None and may_have_nearest(candidates):
            waiting.append((record, candidates))
        else:
            yield _with_hard_foil(record, stated_hard_foil(candidates) if candidates else None)
    hard_indices = hard_foils(candidates for _, candidates in waiting)
    for (record, _), hard in zip(waiting, hard_indices, strict=True):
        yield _with_hard_foil(record, hard)


def _with_hard_foil(record: AuditRecord, hard: HardFoil | None) -> AuditRecord:
    return record if hard is None else replace(record, hard=hard.index, hard_source=hard.source)


def _read(
    source: Source, problems: Problems, styles_of_files: AnswerStyles | None
) -> Iterator[tuple[AuditRecord, Candidates | None]]:
    """Yield each record with what the rule of hard foils reads of it; None for a question."""
    form = form_of(source)
    if form == BY_NAMES:
        yield from _read_by_names(source, problems, styles_of_files)
        return
    for number, outcome in enumerate(_outcomes(source, form), 1):
        if isinstance(outcome, BadRecord):
            problems.add(str(outcome))
        elif isinstance(outcome, ItemRecord) and outcome.foils:
            record = _record_of_item(outcome, source, number)
            yield record, Candidates(record.subtest, record.right, record.wrongs, outcome.extra, outcome.facts)
        elif isinstance(outcome, ItemRecord):
            problems.add(f"{source.path}:{outcome.line}: foils: there is none; give at least one foil per item")
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


def _record_of_item(item: ItemRecord, source: Source, number: int) -> AuditRecord:
    facts = {**item.facts, **item.extra}
    position, question = facts.get("label"), facts.get("question")
    is_position = isinstance(position, int) and not isinstance(position, bool) and 0 <= position <= len(item.foils)
    return AuditRecord(
        item.caption,
        tuple(item.foils),
        item.line or number,
        id=item.id,
        subtest=item.subtest or source.subtest or source.path.stem,
        split=item.video.split or _split_of(source),
        video=item.video.source_id or item.video.file or item.video.key,
        clip=item.video.key,
        group=item.pair,
        question=question if isinstance(question, str) else "",
        position=int(position) if is_position and position is not None else None,
        licence=str(facts.get("license") or facts.get("licence") or ""),
    )


def _split_of(source: Source) -> str:
    """Return the split that the name of the file or of its folder says."""
    names = (stem_of_parts(source.path), source.subtest)
    return next((name for name in names if name in SPLITS), "")


def _read_by_names(
    source: Source, problems: Problems, styles_of_files: AnswerStyles | None
) -> Iterator[tuple[AuditRecord, Candidates | None]]:
    styles, waiting, is_known = AnswerStyles(before=styles_of_files), list[tuple[Draft, Mapping[str, Any]]](), False
    for draft, fields in _drafts(source, problems):
        if not is_known:
            draft.note(styles)
        waiting.append((draft, fields))
        if is_known or len(waiting) >= MAX_WAITING:
            is_known = True
            yield from _records_of_drafts(source, waiting, styles, problems)
            waiting.clear()
    yield from _records_of_drafts(source, waiting, styles, problems)
    if styles_of_files is not None:
        styles_of_files.add(styles)


def _records_of_drafts(
    source: Source, waiting: Sequence[tuple[Draft, Mapping[str, Any]]], styles: AnswerStyles, problems: Problems
) -> Sequence[tuple[AuditRecord, Candidates | None]]:
    """Return the records of all drafts, or none of them: a file that leaves its answers open is not half read."""
    records: list[tuple[AuditRecord, Candidates | None]] = []
    for draft, fields in waiting:
        try:
            record = record_of_draft(draft, styles)
        except ProblemError as error:
            problems.add(_problem_line(source, draft.where, error))
        except AmbiguousAnswersError as error:
            raise AmbiguousAnswersError(f"{source.path}: {error}") from error
        else:
            records.append((record, _candidates(record, fields)))
    return records


def _with_roles(source: Source) -> Source:
    """Return the source with the columns of its roles, if no record has known names and its values show them.

    CorpusError: a person must choose one of the columns.
    """
    if source.columns or source.answers:
        return source
    sample = [fields for _line, fields, _own_fields in islice(_fields(source, Problems()), MAX_SAMPLE)]
    if any(_is_readable(fields) for fields in sample):
        return source
    roles = roles_of(sample)
    columns = {
        _ROLE_OF_FIELD.get(field, field): "+".join(guess.columns)
        for field, guess in roles.items()
        if guess.confidence >= SURE and _ROLE_OF_FIELD.get(field, field) in ROLES
    }
    if columns.keys() >= {"right", "wrongs"} or columns.keys() >= {"options", "answer"}:
        return replace(source, columns=columns)
    if question := question_about(roles):
        raise CorpusError(f"{source.path}: columns: {question}; choose one, such as --column right=NAME")
    return source


def _is_readable(fields: Mapping[str, Any]) -> bool:
    try:
        draft_of(fields, 0, {}, {})
    except ProblemError:
        return False
    return True


def _drafts(source: Source, problems: Problems) -> Iterator[tuple[Draft, Mapping[str, Any]]]:
    source = _with_roles(source)
    defaults = {"subtest": source.subtest or stem_of_parts(source.path), "split": _split_of(source)}
    answers = None
    if source.answers:
        answers = answers_of(source.answers, raw_records(source.answers, source.limits), source.columns)
    for line, fields, own_fields in _fields(source, problems):
        try:
            all_fields = fields if answers is None else answers.joined(fields, own_fields, source.columns)
            own_fields = {**defaults, **{name: value for name, value in own_fields.items() if value}}
            yield draft_of(all_fields, line, source.columns, own_fields), all_fields
        except ProblemError as error:
            problems.add(_problem_line(source, line, error))
        except CorpusError as error:
            raise CorpusError(f"{source.path}:{line}: {error}") from error


def _fields(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, Any], dict[str, str]]]:
    for raw in raw_records(source.path, source.limits):
        try:
            if raw.problem:
                raise ProblemError(raw.field, raw.problem, "correct the line")
            check_content(raw.value)
            for fields, own_fields in flattened(raw.value, raw.key, source.columns):
                yield raw.line, fields, own_fields
        except ProblemError as error:
            problems.add(_problem_line(source, raw.line, error))


def _problem_line(source: Source, line: int, error: ProblemError) -> str:
    return f"{source.path}:{line}: {error.field}: {error.problem}; {error.fix}"


def _candidates(record: AuditRecord, fields: Mapping[str, Any]) -> Candidates | None:
    if record.question or record.position is not None:
        return None
    facts = fields.get("facts")
    return Candidates(record.subtest, record.right, record.wrongs, fields, facts if isinstance(facts, Mapping) else {})
