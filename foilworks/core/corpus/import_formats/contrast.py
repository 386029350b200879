"""`contrast`: multiple choice as in the contrast sets for MSR-VTT (contrast sets, Sec. 4.1): tab-separated
`clip, ending0 … ending4, label` and sometimes `c_label`.

`label` is the number of the true ending, the others are its foils in the order of the file. `label`, `c_label` (the
ending that the contrast set put there) and further columns are kept, so that the endings can be put in order again.
`made_by` (machine or person) becomes a fact of each item, which the distribution of verbs compares.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    given_dataset,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.quoting import quoted

_ENDING = re.compile(r"ending[0-9]+")
LABELS = ("label", "c_label")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a contrast set. CorpusError when the file as a whole cannot be read, or its endings have gaps."""
    subtest, names = default_subtest(path, params), Names()
    raw = read_rows(path, ["clip", "ending0", "ending1", "label"], TAB, names=("clip", *LABELS))
    yield from read_records(path, raw, lambda record: _parse(path, record, subtest, params, names), own_ids=False)


def _parse(path: Path, raw: RawRecord, subtest: str, params: Mapping[str, Any], names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    clip = checked_id("clip", fields.label("clip", MAX_ID))
    columns = _endings(path, raw.value)
    endings = tuple(check_sentence(name, fields.get(name)) for name in columns)
    labels = {name: _number(fields, name, len(endings)) for name in LABELS if fields.get(name) is not None}
    if "label" not in labels:
        raise ProblemError("label", "is missing", f"give the number of the true ending, 0 to {len(endings) - 1}")
    truth, dataset = labels["label"], given_dataset(params)
    name = names.name(clip, (endings, truth))
    return ItemRecord(
        id=checked_id("clip", f"{subtest}:{name}"),
        subtest=subtest,
        video=VideoRecord(
            key=clip_key(dataset, clip, None, None, "sec"),
            file=fields.media_name("clip"),
            source_dataset=dataset,
            source_id=clip,
        ),
        caption=endings[truth],
        foils=endings[:truth] + endings[truth + 1 :],
        facts={"made_by": made_by} if (made_by := params.get("made_by")) else {},
        extra={**labels, **fields.without(frozenset({"clip", *LABELS, *columns}))},
        line=raw.line,
    )


def _endings(path: Path, row: Mapping[str, Any]) -> list[str]:
    """The columns of the endings: ending0, ending1 … without a gap."""
    endings = [name for name in row if _ENDING.fullmatch(name)]
    columns = [f"ending{number}" for number in range(len(endings))]
    if set(columns) != set(endings):
        missing = ", ".join(name for name in columns if name not in endings)
        raise CorpusError(f"{path}:1: header: has no column {missing}; number the endings from 0 up")
    return columns


def _number(fields: Fields, name: str, n_endings: int) -> int:
    text = str(fields.get(name)).strip()
    if not re.fullmatch(r"[0-9]{1,3}", text) or int(text) >= n_endings:
        fix = f"give the number of an ending, 0 to {n_endings - 1}"
        raise ProblemError(name, f"is {quoted(text)}", fix)
    return int(text)
