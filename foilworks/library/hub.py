"""Download a data set of the Hugging Face Hub by its address, with its revision and licence."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted

SCHEME = "hf://"
ADDRESS = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^/]+))?(?:/(.*))?")
# Files of a benchmark, the best form first: if a data set has Parquet files, they are the whole of it.
ENDINGS = ((".parquet",), (".jsonl", ".ndjson", ".json", ".csv", ".tsv"))
NO_DATA = frozenset({"dataset_infos.json", "dataset_info.json", "state.json", "config.json"})


class Download(NamedTuple):
    """A file or folder on this computer, and what the hub says of it: `address`, `revision`, `licence`.

    `subtest`: the name that the caller gives it, "" for none.
    """

    path: Path
    origin: Mapping[str, str]
    subtest: str = ""


def download(address: str, *, max_bytes: int = 0) -> Download:
    """Return the files behind `hf://datasets/OWNER/NAME[@REVISION][/PATH]`, from the cache of `huggingface_hub`.

    EvaluationError: another form of address, no client of the hub, no network, no such data set, no file to read, or
    files of more than `max_bytes` (0: no limit).
    """
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise EvaluationError(f"{quoted(address)}: wrong address; write it as hf://datasets/OWNER/NAME@REVISION/PATH")
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise EvaluationError(
            f"{address}: huggingface_hub is not installed; install it with `pip install 'foilworks[hub]'`"
        ) from error
    name, inner = match[1], (match[3] or "").strip("/")
    # The client's own error has two bases: that of the HTTP library of this version, and OSError.
    failures: tuple[type[Exception], ...] = (*HfHubHTTPError.__bases__, OSError, ValueError)
    try:
        info = huggingface_hub.HfApi().dataset_info(name, revision=match[2], files_metadata=bool(max_bytes))
        sizes = {row.rfilename: getattr(row, "size", 0) or 0 for row in info.siblings or []}
        files = _files_of(address, list(sizes), inner)
        if max_bytes and (n_bytes := sum(sizes[file] for file in files)) > max_bytes:
            limit = f"the limit of {max_bytes >> 20} MB"
            raise EvaluationError(f"{address}: has {n_bytes >> 20} MB, more than {limit}; add a path to the address")
        folder = huggingface_hub.snapshot_download(
            name, repo_type="dataset", revision=info.sha, allow_patterns=list(files)
        )
    except failures as error:
        reason = " ".join(str(error).split())[:200]
        raise EvaluationError(
            f"{address}: cannot be downloaded ({reason}); check name, revision and network, or give a file of this "
            "computer"
        ) from error
    origin = {"address": address, "revision": str(info.sha), "licence": _licence(info.card_data)}
    return Download(Path(folder) / inner, origin)


def _licence(card: Any) -> str:
    """Return the licence that the card of a data set names; several with commas, "" for none."""
    licence = (card.get("license") if card is not None else None) or ""
    return ", ".join(map(str, licence)) if isinstance(licence, list) else str(licence)


def _files_of(address: str, names: Sequence[str], inner: str) -> list[str]:
    if inner in names:
        return [inner]
    below = [name for name in names if not inner or name.startswith(f"{inner}/")]
    for endings in ENDINGS:
        if files := [name for name in below if name.lower().endswith(endings) and Path(name).name not in NO_DATA]:
            return files
    raise EvaluationError(f"{address}: has no file in Parquet, JSON, JSON lines, CSV or TSV; check the path")
