"""Documents drawn from the declared shapes of strangers' files: each is read, or refused in one line.

Every shape of the product has a row, so a shape that is added is tried as well.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.score_files import harness_shapes as harness
from evaluation.score_files.score_readers import AUTO, read_given
from evaluation.score_files.scores import Notes
from foilworks.core.corpus.export_formats.parts.manifest_shape import Manifest
from foilworks.core.text.shape import Shape
from foilworks.site.backup import folder as backup
from tests.evaluation.test_harness_logs import AGGREGATE, CHOICE, RECORDS, SAMPLES
from tests.evaluation.test_shapes_of_strangers_files import check, items_of, packed, paths_of, with_value

pytestmark = pytest.mark.django_db
EXAMPLES = 20
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner), max_leaves=6
)
PLAIN = {str: st.text(max_size=9), int: st.integers(), bool: st.booleans(), type(None): st.none()}
PLAIN |= {float: st.floats(allow_nan=False), Any: ANYTHING}


def values(kind: Any) -> st.SearchStrategy:
    """Values of a field of this type."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in {Union, UnionType}:
        return st.one_of(*map(values, arguments))
    if origin is list:
        return st.lists(values(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(st.text(max_size=9), values(arguments[1]), max_size=3)
    return documents(kind)


def documents(shape: type[Shape]) -> st.SearchStrategy:
    """Documents of this shape, with and without the fields that may be missing, and with others."""
    fields = {name: values(field.annotation) for name, field in shape.model_fields.items()}
    required = {name: fields.pop(name) for name, field in shape.model_fields.items() if field.is_required()}
    return st.fixed_dictionaries(required, optional={**fields, "other": ANYTHING})


@st.composite
def almost(draw: Callable, shape: type[Shape]) -> Any:
    """A document of the shape or, as often, one with anything in one of its fields."""
    document = draw(documents(shape))
    paths = list(paths_of(document))
    if not paths or draw(st.booleans()):
        return document
    return with_value(document, draw(st.sampled_from(paths)), draw(ANYTHING))


def _log(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text)
    check(read_given, folder / name, AUTO, RECORDS, notes=Notes())


def _results(document: Any, folder: Path) -> None:
    (folder / "run_results.json").write_text(json.dumps(document))
    _log("run_samples_x.jsonl", CHOICE.read_text(), folder)


def _inspect(header: Any, sample: Any, folder: Path) -> None:
    log = packed(folder / "log.eval", header_json=json.dumps(header), samples__a_json=json.dumps(sample))
    check(read_given, log, AUTO, RECORDS, notes=Notes())


def _aggregate(document: Any, folder: Path) -> None:
    (folder / SAMPLES.name).write_bytes(SAMPLES.read_bytes())
    _log(AGGREGATE.name, json.dumps(document), folder)


def _backup(document: Any, folder: Path) -> None:
    (folder / backup.MANIFEST).write_text(json.dumps(document))
    check(backup.checked_manifest, folder, backup._silent)


HEADER = {"status": "success", "eval": {"model": "m", "task": "t"}}
SAMPLE = {"id": 1, "target": "A", "choices": ["x", "y"], "output": {"completion": "A"}}
# shape -> what reads a file with such a document
READERS: dict[type[Shape], Callable[[Any, Path], None]] = {
    Manifest: lambda document, folder: check(
        items_of, packed(folder / "a.zip", manifest_json=json.dumps(document), items_jsonl="{}")
    ),
    backup.BackupManifest: _backup,
    harness.LmmsSample: lambda document, folder: _log("run_samples_x.jsonl", json.dumps(document), folder),
    harness.LmmsResults: _results,
    harness.InspectHeader: lambda document, folder: _inspect(document, SAMPLE, folder),
    harness.InspectSample: lambda document, folder: _inspect(HEADER, document, folder),
    harness.Sample: lambda document, folder: _log(SAMPLES.name, json.dumps(document), folder),
    harness.Aggregate: _aggregate,
}


def parts_of(kind: Any) -> Iterator[type[Shape]]:
    """The shapes inside a type."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        yield kind
        for field in kind.model_fields.values():
            yield from parts_of(field.annotation)
    for argument in get_args(kind):
        yield from parts_of(argument)


def test_every_shape_of_the_product_is_tried():
    ours = {shape for shape in Shape.__subclasses__() if shape.__module__.partition(".")[0] != "tests"}
    assert {part for shape in READERS for part in parts_of(shape)} == ours


@pytest.mark.parametrize("shape", READERS, ids=lambda shape: shape.__name__)
def test_documents_of_a_shape_are_read_or_refused_in_one_line(shape):
    @settings(max_examples=EXAMPLES, deadline=None, database=None)
    @given(almost(shape))
    def read(document: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            READERS[shape](document, Path(folder))

    read()
