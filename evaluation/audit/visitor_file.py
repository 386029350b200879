"""Audit the files of a visitor, in a child process that imports what this module loads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foilworks.core.text.errors import ActionableError


class VisitorAudit(NamedTuple):
    """`result`: the audit, or None and the `problem`. `rows`: the first records. `columns`: role -> column."""

    result: dict[str, Any] | None
    problem: str
    rows: list[dict[str, Any]]
    columns: Mapping[str, str]


def audit_uploaded(paths: Sequence[Path], form: str, columns: Mapping[str, str] | None, max_pairs: int) -> VisitorAudit:
    """Audit a benchmark of one or more files with at most `max_pairs` pairs, or only read its first records.

    `columns`: what a person chose, {} for what the values show, None to audit nothing.
    """
    # Imported in the child process: web processes do not load scikit-learn.
    from evaluation.audit import audit
    from foilworks.core.corpus.import_formats.parsing import text_files
    from foilworks.core.corpus.import_formats.parsing.table_sample import small_rows

    rows: list[dict[str, Any]] = []
    try:
        sources = [
            source for path in paths for source in audit.sources_of(text_files.Source(path, form, columns or {}))
        ]
        first = sources[0]
        if text_files.form_of(first) == text_files.BY_NAMES:
            rows = small_rows(text_files.sample_of_texts(text_files.Source(first.path)))
            columns = columns if columns is None else text_files.with_roles(first).columns
        if columns is None:
            return VisitorAudit(None, "", rows, {})
        return VisitorAudit(audit.audit(sources, audit.Options(max_pairs=max_pairs)), "", rows, columns)
    except ActionableError as error:
        return VisitorAudit(None, str(error), rows, columns or {})
