"""Hold imported descriptions on disk while files are read: one file may have all concepts, or one each."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Texts = Mapping[str, Sequence[str]]
Frames = list[dict[str, str]]


class DescribedVideos(Mapping[str, Frames]):
    """{video: [{concept: text} per frame]} in a temporary database, in the order of the first file."""

    def __init__(self) -> None:
        # An empty name is a private database in a temporary file, which SQLite deletes.
        self._rows = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._rows.execute("CREATE TABLE videos (place INTEGER PRIMARY KEY, name TEXT UNIQUE, texts TEXT)")
        self._rows.execute("BEGIN")

    def close(self) -> None:
        self._rows.close()

    def add(self, video: str, texts: Texts) -> None:
        """Add texts by concept; a later one replaces an earlier one of the same concept."""
        row = self._rows.execute("SELECT texts FROM videos WHERE name = ?", [video]).fetchone()
        own: dict[str, Any] = {**(json.loads(row[0]) if row else {}), **texts}
        self._rows.execute(
            "INSERT INTO videos (name, texts) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET texts = excluded.texts",
            [video, json.dumps(own)],
        )

    def __getitem__(self, video: str) -> Frames:
        row = self._rows.execute("SELECT texts FROM videos WHERE name = ?", [video]).fetchone()
        if row is None:
            raise KeyError(video)
        return by_frame(json.loads(row[0]))

    def __iter__(self) -> Iterator[str]:
        for (name,) in self._rows.execute("SELECT name FROM videos ORDER BY place"):
            yield name

    def __len__(self) -> int:
        return int(self._rows.execute("SELECT count(*) FROM videos").fetchone()[0])

    def uneven(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the videos whose concepts have different numbers of frames, with these numbers."""
        for name, texts in self._rows.execute("SELECT name, texts FROM videos ORDER BY place"):
            counts = {len(frames) for frames in json.loads(texts).values()}
            if len(counts) != 1:
                yield name, sorted(counts) or [0]


def by_frame(texts: Texts) -> Frames:
    return [dict(zip(texts, frame, strict=True)) for frame in zip(*texts.values(), strict=True)]
