"""Read the weights of a TorchScript archive, such as OpenAI's published CLIP files, without running anything in it.

torch.load refuses such files if it may load weights only, and torch.jit.load prepares their code. The archive is a zip:
`data.pkl` describes modules and tensors, `data/N` are the bytes of a tensor. A copy without the code is a file that
torch.load reads, with a plain object in place of every module.
"""

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

MODULES, MARKS, CONSTANTS = "__torch__.", "torch.jit._pickle.", "constants.pkl"


class _Part:
    """A module of the archive: its attributes."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state


def is_torchscript(path: Path) -> bool:
    """Return whether the file is a TorchScript archive."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(PurePosixPath(name).name == CONSTANTS for name in archive.namelist())


def read_torchscript(path: Path) -> dict[str, Tensor]:
    """Return the tensors of the archive's module, named as in its state.

    ValueError, or an error of torch.load: something else is in it.
    """
    copy = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w") as weights:
        for entry in archive.infolist():
            _, *inside = PurePosixPath(entry.filename).parts
            if inside[:1] != ["code"] and inside != [CONSTANTS]:
                weights.writestr(entry.filename, archive.read(entry))
    copy.seek(0)
    stand_ins = [(_stand_in(name), name) for name in get_unsafe_globals_in_checkpoint(copy)]
    copy.seek(0)
    with safe_globals(stand_ins):
        # bandit B614: nothing but tensors and plain containers is made.
        return dict(_named_tensors(torch.load(copy, map_location="cpu", weights_only=True), ""))  # nosec


def _stand_in(name: str) -> Callable[..., Any]:
    if name.startswith(MODULES):
        return _Part
    if name == f"{MARKS}restore_type_tag":
        return _untagged
    if name.startswith(f"{MARKS}build_"):
        return list
    raise ValueError(f"{name} is no part of weights")


def _untagged(value: Any, _tag: str) -> Any:
    return value


def _named_tensors(module: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    for name, value in vars(module).items():
        if isinstance(value, Tensor):
            yield prefix + name, value
        elif isinstance(value, _Part):
            yield from _named_tensors(value, f"{prefix}{name}.")
