"""Run models outside transformers (CLIP4Clip, VideoCLIP, LanguageBind, InternVideo): programs with their own
environment.

FOLDER/foilworks.json of `external:FOLDER` says how the program is started. It answers JSON lines;
docs/reference/models.md has the protocol and an example. A clip that the program fails on is listed and the next one
starts it again; when it fails on several in a row, the run stops.
"""

import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.adapters._subprocess_lines import LinesError, Program
from foilworks.core.hub.errors import ClipError, HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, TextRead, VideoMeta
from foilworks.core.text.quoting import quoted

MANIFEST = "foilworks.json"
PROTOCOL = 1
PYTHON = "{python}"
START_S, ANSWER_S = 600.0, 300.0
# After as many clips in a row without an answer, the program is broken, not the clips.
MAX_FAILURES = 3
TEXTS_PER_QUESTION = 1000
EMBEDDER, SCORER = "embedder", "scorer"


@dataclass(frozen=True)
class Manifest:
    """How to start a program: `command` in its folder, `environment` added to a small one, time limits in seconds."""

    name: str
    folder: Path
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    start_s: float = START_S
    answer_s: float = ANSWER_S


class External:
    """A started program, asked one question at a time and started again after it ended."""

    def __init__(self, manifest: Manifest, device: str) -> None:
        self.manifest, self._device = manifest, device
        self._program: Program | None = None
        # Clips that it failed on since its last answer: each clip of a failed batch is retried once.
        self._failed: set[str] = set()
        self._n_questions = 0
        self._folder = Path(tempfile.mkdtemp(prefix="foilworks-external-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        try:
            first_line = self._start()
            self.info, self.interface = _model_info(self.manifest.name, first_line)
            self._limits_texts = first_line.get("text_limit") is True
        except HubError:
            self.close()
            raise

    def ask(self, op: str, clip_key: str, **question: Any) -> dict[str, Any]:
        """Return the answer to {"op": op, ...}. ClipError: it failed on a clip; HubError: on several in a row, or on
        texts."""
        try:
            if self._program is None:
                self._start()
            assert self._program is not None
            self._n_questions += 1
            answer = self._program.ask({"id": self._n_questions, "op": op, **question}, self.manifest.answer_s)
            if answer.get("id") != self._n_questions:
                self.close()
                raise LinesError(
                    f"{self.manifest.name}: it answered question {quoted(answer.get('id'))} where "
                    f"{self._n_questions} was asked"
                )
        except LinesError as error:
            self._program = None
            self._failed.add(clip_key)
            if not clip_key or len(self._failed) >= MAX_FAILURES:
                raise HubError(
                    f"{error}; fix the program, then start the run again; it continues where it stopped"
                ) from error
            raise ClipError(f"{error} (clip '{clip_key}')") from error
        self._failed.clear()
        if "error" in answer:
            message = str(answer["error"])[:300]
            if clip_key:
                raise ClipError(f"{self.manifest.name}: clip '{clip_key}': {message}")
            raise HubError(f"{self.manifest.name}: {message}")
        return answer

    def video(self, clip: Frames | None, meta: VideoMeta | None) -> dict[str, Any] | None:
        """Describe the clip for a question: frames in a .npy file, their times, and the video's own file."""
        if clip is None:
            return None
        path = self._folder / "frames.npy"
        np.save(path, clip, allow_pickle=False)
        video_meta = meta or VideoMeta()
        return {
            "frames": str(path),
            "times": list(video_meta.times),
            "key": video_meta.key,
            "path": os.fspath(video_meta.path),
            "start": video_meta.start,
            "end": video_meta.end,
        }

    def numbers(
        self, answer: Mapping[str, Any], name: str, shape: tuple[int | None, ...], clip_key: str
    ) -> NDArray[Any]:
        """Return `answer[name]` as float64 of `shape` (None: any length). ClipError or HubError if it is something
        else."""
        try:
            values = np.asarray(answer.get(name), np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        fits = values.ndim == len(shape) and all(w is None or w == n for n, w in zip(values.shape, shape, strict=True))
        if fits:
            return values
        dimensions = " x ".join("n" if n is None else str(n) for n in shape)
        why = f"{self.manifest.name}: its answer holds no '{name}' of {dimensions} numbers"
        raise ClipError(f"{why} (clip '{clip_key}')") if clip_key else HubError(f"{why}; fix the program")

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        """Implement `LimitsTexts.at_limit`: ask a program whose first line has `"text_limit": true`; otherwise None."""
        if not self._limits_texts:
            return None
        unique_texts, texts_at_limit = list(dict.fromkeys(texts)), {}
        for start in range(0, len(unique_texts), TEXTS_PER_QUESTION):
            batch = unique_texts[start : start + TEXTS_PER_QUESTION]
            for row in self.ask("at_limit", "", texts=batch).get("texts") or []:
                try:
                    text = batch[int(row["place"])]
                    texts_at_limit[text] = TextRead(int(row["tokens"]), int(row["limit"]), str(row["kept"]))
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    why = f"{self.manifest.name}: 'texts' of its answer to at_limit has {quoted(row)}"
                    raise HubError(f"{why}; give place, tokens, limit and kept") from error
        return texts_at_limit

    def close(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _start(self) -> dict[str, Any]:
        manifest = self.manifest
        environment = {**manifest.environment, "FOILWORKS_DEVICE": self._device, "FOILWORKS_PROTOCOL": str(PROTOCOL)}
        program = Program(manifest.name, manifest.command, manifest.folder, environment)
        first_line = program.ask(None, manifest.start_s)
        self._program = program
        return first_line


class ExternalScorer:
    """The Scorer of a program whose interface is "scorer"."""

    def __init__(self, external: External) -> None:
        self.external, self.info = external, external.info

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        return self.external.at_limit(texts)

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Return one score per text; null becomes NaN, which the run lists."""
        if not texts:
            return []
        clip_key = meta.key if meta else ""
        video = self.external.video(clip, meta)
        answer = self.external.ask("score", clip_key, video=video, texts=list(texts), mode=mode)
        values = self.external.numbers(answer, "scores", (len(texts),), clip_key)
        return [Score(float(value), self.info.kind) for value in values]


class ExternalEmbedder:
    """The Embedder of a program whose interface is "embedder"; rows are flat, the score is their product."""

    def __init__(self, external: External) -> None:
        self.external, self.info = external, external.info

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        return self.external.at_limit(texts)

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        rows = []
        for clip, clip_meta in zip(clips, meta, strict=True):
            answer = self.external.ask("encode_video", clip_meta.key, video=self.external.video(clip, clip_meta))
            rows.append(self.external.numbers(answer, "vector", (None,), clip_meta.key))
        return _rows(rows)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, 1), np.float32)
        answer = self.external.ask("encode_text", "", texts=list(texts))
        return self.external.numbers(answer, "vectors", (len(texts), None), "").astype(np.float32)

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product, of unit rows if the kind is the cosine. HubError: vectors of two lengths."""
        if videos.shape[1:] != texts.shape[1:]:
            raise HubError(
                f"{self.external.manifest.name}: its vector of a clip has {videos.shape[1]} numbers, of a text "
                f"{texts.shape[1]}; give one length"
            )
        if self.info.kind == ScoreKind.COSINE:
            videos, texts = (
                rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (videos, texts)
            )
        return (videos @ texts.T).astype(np.float32)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> ExternalScorer | ExternalEmbedder:
    """Start the program of `FOLDER/foilworks.json`. HubError: no such folder, a bad manifest, it does not start."""
    external = External(read_manifest(argument), device)
    return ExternalEmbedder(external) if external.interface == EMBEDDER else ExternalScorer(external)


def read_manifest(argument: str) -> Manifest:
    """Read the manifest. HubError names the file and the field."""
    if not argument:
        raise HubError(f"'external:' names no folder; write external:FOLDER, the folder that holds {MANIFEST}")
    folder = Path(argument)
    path = folder / MANIFEST
    if not path.is_file():
        raise HubError(f"{path}: missing; an external model is a folder with this file (docs/reference/models.md)")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise HubError(f"{path}: not readable as JSON ({error}); correct it") from error
    field_names = {"command", "environment", "start_timeout_s", "timeout_s"}
    if not isinstance(raw, dict) or set(raw) - field_names:
        extra = ", ".join(sorted(set(raw) - field_names)) if isinstance(raw, dict) else "no JSON object"
        raise HubError(f"{path}: {extra}: unknown; it takes {', '.join(sorted(field_names))}")
    command, environment = raw.get("command"), raw.get("environment", {})
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise HubError(f'{path}: command: not a list of texts; write ["python", "serve.py"]')
    if not isinstance(environment, dict) or not all(isinstance(value, str) for value in environment.values()):
        raise HubError(f'{path}: environment: not names with texts; write {{"NAME": "value"}}')
    seconds = {
        name: raw.get(name, default) for name, default in (("start_timeout_s", START_S), ("timeout_s", ANSWER_S))
    }
    for name, value in seconds.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 86_400:
            raise HubError(f"{path}: {name}: {quoted(value)} is not a number of seconds below a day; correct it")
    arguments = tuple(sys.executable if word == PYTHON else word for word in command)
    return Manifest(
        folder.resolve().name,
        folder.resolve(),
        arguments,
        environment,
        seconds["start_timeout_s"],
        seconds["timeout_s"],
    )


def _model_info(name: str, first_line: Mapping[str, Any]) -> tuple[ModelInfo, str]:
    """Return the ModelInfo of the program's first line."""

    def wrong(key: str, fix: str) -> HubError:
        return HubError(f"{name}: its first line says {key}: {quoted(first_line.get(key))}; write {fix}")

    if "error" in first_line:
        raise HubError(f"{name}: {str(first_line['error'])[:300]}")
    if first_line.get("protocol") != PROTOCOL:
        raise wrong("protocol", str(PROTOCOL))
    for key in ("model_id", "revision"):
        if not isinstance(first_line.get(key), str) or not first_line[key]:
            raise wrong(key, "a text")
    interface, kind, frames, size = (first_line.get(key) for key in ("interface", "kind", "frames", "size"))
    if interface not in (EMBEDDER, SCORER):
        raise wrong("interface", f"{EMBEDDER} or {SCORER}")
    if kind not in tuple(ScoreKind):
        raise wrong("kind", ", ".join(ScoreKind))
    if isinstance(frames, bool) or not isinstance(frames, int) or not 0 <= frames <= 1024:
        raise wrong("frames", "a whole number to 1024, 0 for a model of text alone")
    is_valid_size = size is None or (
        isinstance(size, list) and len(size) == 2 and all(isinstance(n, int) for n in size)
    )
    if not is_valid_size or (interface == EMBEDDER and not frames):
        raise wrong(
            "size" if not is_valid_size else "frames", "[height, width] or null" if not is_valid_size else "1 or more"
        )
    info = ModelInfo(
        first_line["model_id"],
        first_line["revision"],
        ScoreKind(kind),
        frames=frames,
        size=tuple(size) if size else None,
        needs_video=frames > 0,
        # It gets the times of the frames, and the file; one that ignores them says so.
        reads_times=first_line.get("reads_times") is not False,
        card={"category": "video" if frames else "text", **(first_line.get("card") or {})},
    )
    return info, interface


def _rows(rows: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
    if len({len(row) for row in rows}) > 1:
        raise HubError(
            f"its vectors are of {', '.join(sorted({str(len(row)) for row in rows}))} numbers; give one length"
        )
    return np.array(rows, np.float32) if rows else np.zeros((0, 1), np.float32)
