"""Answers of instruction models kept in files, for trials that have no run: a second trial asks nothing again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hub.interfaces import ChatReply, ModelInfo


class FileAnswers:
    """One small file an answer, named by its key, below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        found = {}
        for key in keys:
            try:
                row = json.loads(self._path(key).read_text(encoding="utf-8"))
                found[key] = ChatReply(row["text"], cut=row["cut"], revision=row["revision"])
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError):
                # Half a file, of a trial that was broken off: it is asked for again.
                continue
        return found

    def keep(self, found: Mapping[str, ChatReply], info: ModelInfo) -> None:
        for key, reply in found.items():
            if reply.failure:
                continue
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            row = {"text": reply.text, "cut": reply.cut, "revision": reply.revision, "model": info.model_id}
            half = path.with_suffix(".part")
            half.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
            half.replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
