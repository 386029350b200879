"""Turn what a notebook has into the files that the readers of the commands read: there is one way to read."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypedDict, Unpack

from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.arrow_values import plain
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.text_files import ROLE_OF_FIELD, Source
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.quoting import quoted
from foilworks.library.hub import SCHEME, Download, download

# A path, an address `hf://datasets/…`, rows, a data frame, a data set; several of them by name are one benchmark.
Data: TypeAlias = str | os.PathLike[str] | Iterable[Any]
# Columns of `datasets` that decode files.
MEDIA = frozenset({"Image", "Video", "Audio", "Pdf", "Nifti", "Mesh"})


class ReadOptions(TypedDict, total=False):
    """How to read a benchmark; all can be left out.

    `format`: one of docs/reference/formats.md, "" to detect it. `columns`: role -> column, as of `--column`. `answers`:
    the answers by id, if the data has none. `params`: of the format. `limits`: of Parquet files.

    >>> import foilworks
    >>> options: foilworks.ReadOptions = {"columns": {"right": "yes", "wrongs": "no"}}
    >>> foilworks.read([{"yes": "a dog jumps", "no": "a dog sleeps"}], **options).items[0].right
    'a dog jumps'
    """

    format: str
    columns: Mapping[str, str]
    answers: Data | None
    params: Mapping[str, Any]
    limits: TableLimits


@contextmanager
def opened_sources(data: Data, **reading: Unpack[ReadOptions]) -> Iterator[list[Source]]:
    """Yield the sources of a benchmark; files of rows exist inside the block only.

    EvaluationError: a role is unknown, or a record is not an object. CorpusError: a folder has no files.
    """
    from evaluation.audit.audit import sources_of

    columns = {ROLE_OF_FIELD.get(role, role): name for role, name in (reading.get("columns") or {}).items()}
    if unknown := sorted(columns.keys() - {*ROLES, "prediction"}):
        raise EvaluationError(f"columns: {', '.join(unknown)} is not a role; choose from: {', '.join(ROLES)}")
    answers = reading.get("answers")
    with opened_files(data) as files, opened_files([] if answers is None else answers, "answers") as (*of_answers,):
        if not files:
            raise EvaluationError("data: record: there is none; give at least one record")
        yield [
            source
            for file in files
            for source in sources_of(
                Source(
                    file.path,
                    reading.get("format", ""),
                    {role: name for role, name in columns.items() if role in ROLES},
                    reading.get("limits") or TableLimits(),
                    reading.get("params") or {},
                    of_answers[0].path if of_answers else None,
                    subtest=file.subtest,
                    origin=file.origin,
                )
            )
        ]


@contextmanager
def opened_files(data: Data, name: str = "data") -> Iterator[list[Download]]:
    """Yield the files of the data. Rows are written to `name.jsonl` in a folder that ends with the block."""
    with TemporaryDirectory(prefix="foilworks-") as folder:
        try:
            yield list(_files(data, Path(folder), name))
        except ActionableError as error:
            # The file of rows is not the reader's.
            error.args = (str(error).replace(f"{folder}{os.sep}", ""),)
            raise


def _files(data: Data, folder: Path, name: str) -> Iterator[Download]:
    if isinstance(data, str) and data.startswith(SCHEME):
        yield download(data)
    elif isinstance(data, str | os.PathLike):
        yield Download(Path(data), {})
    elif isinstance(data, Mapping):
        for key, values in data.items():
            if not isinstance(key, str) or Path(key).name != key or isinstance(values, str):
                raise EvaluationError(f"{quoted(str(key))}: is no name of a subtest; give rows as a list of dicts")
            # A file of rows has the name of its subtest.
            named = _files(values, folder, key)
            yield from (file if file.path.parent == folder else file._replace(subtest=key) for file in named)
    elif hasattr(data, "dtype") and hasattr(data, "tofile"):
        yield Download(_array_file(data, folder / f"{name}.npy"), {})
    elif not isinstance(data, Iterable) and not hasattr(data, "iter_rows"):
        raise EvaluationError(f"{name}: is {quoted(type(data).__name__)}; give paths, rows or a data frame")
    else:
        rows = iter(rows_of(data))
        first = next(rows, None)
        if isinstance(first, str | os.PathLike):
            for path in chain([first], rows):
                yield from _files(path, folder, name)
        elif first is not None:
            yield Download(_rows_file(chain([first], rows), folder / f"{name}.jsonl"), {})


def rows_of(data: Iterable[Any]) -> Iterable[Any]:
    """Return the rows of a data frame of polars or pandas, of a `datasets.Dataset`, or of any iterable.

    Missing values are None. Columns of media are left out. A named index of pandas is a column.
    """
    frame: Any = data
    if hasattr(frame, "iter_rows"):
        rows: Iterable[Any] = frame.iter_rows(named=True)
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        frame = frame.reset_index() if any(frame.index.names) else frame
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    elif hasattr(frame, "remove_columns"):
        media = [name for name, kind in (frame.features or {}).items() if type(kind).__name__ in MEDIA]
        rows = frame.remove_columns(media)
    else:
        rows = data
    return rows


def _rows_file(rows: Iterable[Any], path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping):
                raise EvaluationError(
                    f"record {number}: is {type(row).__name__}, not a dict; give each record as a dict of its fields"
                )
            fields = {name: value for name, value in row.items() if not isinstance(value, bytes)}
            file.write(json.dumps(plain(_without_arrays(fields))) + "\n")
    return path


def _without_arrays(value: Any) -> Any:
    """Return the value with lists and numbers of Python in place of those of NumPy."""
    if isinstance(value, Mapping):
        return {name: _without_arrays(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _array_file(array: Any, path: Path) -> Path:
    import numpy as np

    np.save(path, array, allow_pickle=False)
    return path
