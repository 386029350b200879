"""Read the split of a published file: data sets name it in the file's name, not in its records."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.records import SPLITS
from foilworks.core.text.quoting import quoted

_NAMED = {
    "train": "train",
    "training": "train",
    "trainset": "train",
    "trainlist": "train",
    "trainingset": "train",
    "val": "val",
    "valid": "val",
    "validate": "val",
    "validation": "val",
    "validationset": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
    "testlist": "test",
}


def split_of(path: Path, params: Mapping[str, Any]) -> str:
    """Return the parameter `split`, else the only split that the file's name contains, else "". CorpusError: the
    parameter is not a split."""
    split = str(params.get("split") or "")
    if split not in SPLITS:
        raise CorpusError(f"parameter 'split' is {quoted(split)}; give train, val or test")
    splits = {_NAMED[word] for word in re.findall(r"[a-z]+", path.stem.lower()) if word in _NAMED}
    return split or (splits.pop() if len(splits) == 1 else "")


def named_split(name: Any) -> str:
    """Return the split that a cell of a table names, "" for any other word."""
    return _NAMED.get(name.lower(), "") if isinstance(name, str) else ""
