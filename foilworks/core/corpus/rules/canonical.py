"""One spelling for a record, so that equal content always has an equal hash.

A release is content-addressed: its hash must not depend on the order in which a database returned rows, on the
order of keys, or on whitespace. Text is hashed as it is: no Unicode normalisation, because two captions that
differ in one code point are two captions.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

from foilworks.core.text.spill import Spill


def canonical_line(record: Mapping[str, object]) -> str:
    """The record as one line of JSON: keys sorted at every level, no spaces, text unescaped, no line feed inside.

    Raises ValueError for what has no one spelling, NaN, infinity or a lone surrogate (not encodable as UTF-8), and
    TypeError for a key that is not text (JSON would turn 1 and "1" into the same key).
    """
    _refuse_keys_other_than_text(record)
    line = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    line.encode()
    return line


def content_hash(records: Iterable[Mapping[str, object]]) -> str:
    """SHA-256 (64 hex digits) over the canonical lines of the records, sorted by id, each ended by a line feed.

    Every record has a text `id` (TypeError otherwise), and no two have the same (ValueError otherwise).
    """
    digest = hashlib.sha256()
    with Spill() as lines:
        for record in records:
            key = record.get("id")
            if not isinstance(key, str):
                raise TypeError(f"a record of a release has no text id: {str(record)[:120]}")
            if lines.setdefault(key, canonical_line(record)) is not None:
                raise ValueError(f"two records of a release have the same id {key!r}")
        for line in lines.by_key():
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _refuse_keys_other_than_text(value: object) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"a key of a canonical record must be text, not {key!r}")
            _refuse_keys_other_than_text(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_keys_other_than_text(inner)
