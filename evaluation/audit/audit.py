"""Audit a benchmark file: read it once, measure, and return one JSON document (docs/how-to/audit.md)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from evaluation.analyses.questions import questions_of
from evaluation.analyses.sampling import SAMPLE_ITEMS, Sample
from evaluation.audit import checks, exports
from evaluation.audit.check_texts import TEXTS
from evaluation.audit.divergence import divergence_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.gathering import Counts, FileStatistics, gather
from evaluation.audit.measures import measures_of
from evaluation.audit.model_probe import Scorer, solve_by_model, texts_for_model
from evaluation.audit.open_questions import as_result as as_open_result
from evaluation.audit.open_questions import solve_open, worst_of
from evaluation.audit.records import VERDICTS, Finding, without_labels, worst
from evaluation.audit.selection_record import selection_of
from evaluation.audit.shortcuts import shortcuts_of
from evaluation.audit.transcripts import of_transcripts
from evaluation.audit.tuned_probe import Tuning, tune_folds
from evaluation.audit.without_video import as_result, item_scores
from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats import hf
from foilworks.core.corpus.import_formats.parsing.raw_records import PARQUET, files_in
from foilworks.core.corpus.import_formats.parsing.text_files import Source, form_of
from foilworks.core.corpus.import_formats.parsing.text_lines import guessed_encoding
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.solution import Selection, Solution
from foilworks.core.solver.solve import Progress, certify, first_view

# Of the JSON document; a change of a field's meaning raises it.
SCHEMA = 2
# Verdicts of subtests that the whole file's verdict counts.
MAX_SUBTESTS_SHOWN = 200


@dataclass(frozen=True)
class Options:
    """`items`: size of the sample that is solved; `seed` draws it; `max_pairs`: refuse larger files (0: no limit).

    `models`: name -> a scorer of texts. `is_certified`: repeat and permute; `progress` gets each state, and `state` is
    the one to resume from (`solver.solve.certify`). `tuning`: a language model that learns from texts. `videos`: a
    folder with the files of the clips; `transcripts`: one with what is spoken in them.
    """

    items: int = SAMPLE_ITEMS
    seed: int = 0
    max_pairs: int = 0
    models: Mapping[str, Scorer] = field(default_factory=dict)
    is_certified: bool = False
    progress: Progress | None = None
    state: dict[str, Any] | None = None
    tuning: Tuning | None = None
    videos: Path | None = None
    transcripts: Path | None = None


def audit(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """Return the audit of one benchmark in one or more files.

    EvaluationError or CorpusError: a file cannot be read, has no items, or more pairs than allowed.
    """
    statistics, shown = _gather(sources, options)
    sampled = statistics.sample.overall()
    solution = _solve(statistics.sample, options, selection_of([source.path for source in sources]))
    open_results = solve_open(statistics.open_sample.overall(), options.seed)
    findings = _of_file(statistics, sampled, solution, shown, options)
    rows = list(_of_subtests(statistics, options)) if len(statistics.counts) > 1 else []
    all_findings = [*findings, *(finding for row in rows for finding in row)]
    solved = as_result(solution, sampled) if solution else None
    kinds = {row["kind"]: row for row in solved["kinds"]} if solved else {}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "files": [_file_facts(source) for source in sources],
        "items": statistics.overall.items,
        "pairs": statistics.overall.pairs,
        "questions": statistics.overall.questions,
        "options": checks.sizes_of(statistics.overall.options),
        "hard_foils": dict(statistics.hard_foils),
        "sample": {"max_items": options.items, "seed": options.seed, "items": len(sampled)},
        "verdict": max(
            [worst(all_findings), worst_of(open_results), *([solution.headline.verdict] if solution else [])],
            key=VERDICTS.index,
        ),
        "records": {
            "options": statistics.overall.items,
            "open": statistics.open_sample.n,
            "unread": shown.n,
        },
        "without_video": solved,
        "shortcuts": [asdict(row) for row in shortcuts_of(solution, sampled)] if solution else [],
        "open_answers": as_open_result(open_results),
        "findings": [as_json(finding) for finding in findings],
        "subtests": [
            _subtest_as_json(name, counts, kinds.get(name), row)
            for (name, counts), row in zip(statistics.counts.items(), rows, strict=False)
        ],
        "item_scores": item_scores(solution, sampled) if solution else [],
    }
    return {**document, "measures": measures_of(document)}


def _gather(sources: Sequence[Source], options: Options) -> tuple[FileStatistics, Problems]:
    """Return what is counted, and the problems without names of folders. EvaluationError: no record could be read."""
    problems = Problems()
    records = _limit_pairs(read_all(sources, problems, with_open=True), options.max_pairs)
    statistics = gather(records, Sample(options.seed, options.items))
    if not statistics.overall.items and not statistics.open_sample.n:
        raise problems.refusal(sources[0].path)
    examples, files = (_without_folders(lines, sources) for lines in (problems.examples, problems.files))
    return statistics, replace(problems, examples=examples, files=files)


def _subtest_as_json(
    name: str, counts: Counts, solved: dict[str, Any] | None, findings: Sequence[Finding]
) -> dict[str, Any]:
    return {
        "name": name,
        "items": counts.items,
        "pairs": counts.pairs,
        "without_video": solved,
        "findings": [as_json(finding) for finding in findings],
    }


def _solve(sample: Sample, options: Options, selection: Selection | None) -> Solution | None:
    """Return what a solver finds in the sampled records; None if there are none.

    A subtest of which the sample has few is solved on a sample of equal parts, as in the gate.
    """
    if not sample.n:
        return None
    questions, answers = questions_of(sample.overall())
    if options.is_certified:
        try:
            solution = certify(
                questions, answers, options.seed, progress=options.progress, state=options.state, selection=selection
            )
        except (ValueError, TypeError, KeyError) as error:
            raise EvaluationError(f"the certificate cannot continue: {error}") from error
    else:
        solution = first_view(questions, answers, options.seed, selection)
    few = sample.few()
    if not few:
        return solution
    of_parts = first_view(*questions_of(sample.equal_parts()), options.seed, selection)
    kinds = {kind.kind: kind for kind in solution.kinds} | {
        kind.kind: kind for kind in of_parts.kinds if kind.kind in few
    }
    return replace(solution, kinds=[kinds[name] for name in sorted(kinds)])


def sources_of(source: Source) -> list[Source]:
    """Return the files to read: those of an export or of a data set's folder, or the file itself.

    EvaluationError: an export without items to audit. CorpusError: a folder that is neither.
    """
    export_files = None if source.form or source.columns or source.answers else exports.files_of(source.path)
    if export_files is not None:
        return [replace(source, path=path, form=form) for path, form in export_files]
    if source.form or not source.path.is_dir():
        return [source]
    files = files_in(source.path)
    first, subtest = files[0]
    if first.suffix.lower() == PARQUET and not subtest and hf.has_our_columns(first, source.limits):
        return [replace(source, form="hf")]
    answers = source.answers.resolve() if source.answers else None
    return [replace(source, path=path, subtest=name) for path, name in files if path.resolve() != answers]


def _without_folders(problems: Sequence[str], sources: Sequence[Source]) -> list[str]:
    """Return the problems with the names of files, not their folders: results are shown to others."""
    for source in sources:
        problems = [problem.replace(str(source.path), source.name) for problem in problems]
    return list(problems)


def _limit_pairs(records: Iterator[TextRecord], most: int) -> Iterator[TextRecord]:
    n = 0
    for record in records:
        n += max(1, len(record.wrongs))
        if most and n > most:
            raise EvaluationError(
                f"the file has more than {most:,} pairs; run `foilworks audit FILE` on your own computer instead"
            )
        yield record


def _file_facts(source: Source) -> dict[str, Any]:
    """Return name, format, hash and origin. A folder has no hash of its own, an export has that of its manifest."""
    facts = {"name": source.name, "format": form_of(source), "sha256": "", **source.origin}
    if source.path.is_file():
        with source.path.open("rb") as file:
            facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        if encoding := guessed_encoding(source.path):
            facts["encoding"] = encoding
    if facts["format"] == exports.WHOLE:
        facts["manifest"] = str(exports.manifest_of(source.path).get("manifest_sha256", ""))
    return facts


def _of_file(
    statistics: FileStatistics,
    sampled: Sequence[TextRecord],
    solution: Solution | None,
    problems: Problems,
    options: Options,
) -> list[Finding]:
    if not statistics.overall.items:
        return [checks.of_fields(statistics, problems)]
    return [
        checks.of_file_tier(solution),
        *_models(sampled, options),
        *_clips(sampled, options),
        *_transcripts(sampled, options),
        *_tuned(sampled, options),
        checks.of_divergence(
            divergence_of(sampled, options.seed), len(without_labels(sampled)), "", _missing_reason(sampled)
        ),
        checks.of_positions(statistics.overall),
        *([checks.of_labels(statistics.overall)] if statistics.overall.labels else []),
        checks.of_cues(statistics.overall),
        checks.of_edits(statistics.overall),
        checks.of_same_texts(statistics),
        checks.of_duplicates(statistics),
        checks.of_contradictions(statistics),
        checks.of_leakage(statistics),
        checks.of_balance(statistics),
        checks.of_languages(statistics),
        checks.of_fields(statistics, problems),
        checks.of_licences(statistics),
    ]


def _of_subtests(statistics: FileStatistics, options: Options) -> Iterator[list[Finding]]:
    for name, sampled in islice(statistics.sample.subtests(), MAX_SUBTESTS_SHOWN):
        counts = statistics.counts[name]
        yield [
            checks.of_divergence(
                divergence_of(sampled, options.seed), len(without_labels(sampled)), name, _missing_reason(sampled)
            ),
            checks.of_positions(counts, name),
            *([checks.of_labels(counts, name)] if counts.labels else []),
            checks.of_cues(counts, name),
            checks.of_edits(counts, name),
        ]


def _missing_reason(records: Sequence[TextRecord]) -> str:
    """Return why right and wrong texts are not compared; "" if they are."""
    return checks.ONLY_LABELS if records and not without_labels(records) else ""


def _models(records: Sequence[TextRecord], options: Options) -> list[Finding]:
    findings = []
    texts = list(dict.fromkeys(text for record in records for text in texts_for_model(record)))
    for name, score in options.models.items():
        scores, size = dict(zip(texts, score(texts), strict=True)), getattr(score, "n_parameters", None)
        findings.append(checks.of_model(solve_by_model(records, name, scores, size)))
        of_subtests: dict[str, list[TextRecord]] = {}
        for record in records:
            of_subtests.setdefault(record.subtest, []).append(record)
        if len(of_subtests) > 1:
            findings += [
                checks.of_model(solve_by_model(group, name, scores, size), subtest)
                for subtest, group in of_subtests.items()
            ]
    return findings


def _clips(records: Sequence[TextRecord], options: Options) -> list[Finding]:
    if options.videos is None:
        return []
    # Imported on request: it imports a decoder.
    from evaluation.audit.clip_side import of_clips

    return [of_clips(records, options.videos, options.seed)]


def _transcripts(records: Sequence[TextRecord], options: Options) -> list[Finding]:
    has_some = options.transcripts is not None or any(record.transcript for record in records)
    return [of_transcripts(records, options.transcripts, options.seed)] if has_some else []


def _tuned(records: Sequence[TextRecord], options: Options) -> list[Finding]:
    if options.tuning is None or not records:
        return []
    sample = Sample(options.seed, options.tuning.items)
    for record in records:
        sample.add(record)
    return checks.of_tuned(tune_folds(*questions_of(sample.overall()), options.tuning, options.seed))


def as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON, with what it means and what to do."""
    texts = TEXTS[finding.check]
    return {**asdict(finding), "title": texts.title, "means": texts.means, "fix": texts.fix}
