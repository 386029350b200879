"""Two small video-text dual encoders that a laptop trains in a minute (models, "The demo's models").

`average` sees each frame by itself and takes the mean: it cannot tell a clip from its reversal, whatever it is
trained on. `temporal` runs convolutions over the frames' features in time first. Both share the frame encoder and a
word-level text encoder, and both answer with the cosine in float32.

A model is a folder: `config.json` (architecture and sizes), `vocab.json` (a list of words), `model.safetensors`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from foilworks.core.hub.batching.equal_frames import frame_numbers
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.device import choose_device, choose_dtype
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, VideoMeta
from foilworks.core.text.quoting import quoted
from foilworks.core.text.tokens import words

ARCHITECTURES = ("average", "temporal")
CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocab.json", "model.safetensors"
PADDING, UNKNOWN = "<pad>", "<unk>"


@dataclass(frozen=True)
class TinyConfig:
    """Sizes of one model: `frames` per clip, `size` pixels per side, `width` of the frame features."""

    architecture: str
    name: str
    frames: int = 16
    size: int = 32
    width: int = 64
    dimensions: int = 64
    text_width: int = 64


class FrameEncoder(nn.Module):
    """Encode (n, 3, size, size) as (n, width): what is visible, from the strongest response anywhere, plus where it
    is."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(_block(3, 16, 2), _block(16, 32, 2), _block(32, 48, 1))
        self.what = nn.Linear(48, width)
        self.spots = nn.Conv2d(48, 8, 1)
        self.where = nn.Linear(8 * (size // 4) ** 2, width)

    def forward(self, frames: Tensor) -> Tensor:
        maps = self.layers(frames)
        return self.what(maps.amax(dim=(2, 3))) + self.where(self.spots(maps).flatten(1))


def _block(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), nn.GroupNorm(4, outputs), nn.ReLU(inplace=True)
    )


class OverTime(nn.Module):
    """Encode (n, frames, width) as (n, width): three convolutions along time, then the mean."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(width, 4 * width, 5, padding=2)
        self.second = nn.Conv1d(2 * width, 2 * width, 5, padding=4, dilation=2)
        self.third = nn.Conv1d(2 * width, width, 1)

    def forward(self, features: Tensor) -> Tensor:
        along = features.transpose(1, 2)
        hidden = F.glu(self.first(along), dim=1)
        hidden = hidden + F.relu(self.second(hidden))
        return (along + self.third(hidden)).mean(dim=2)


class TextEncoder(nn.Module):
    """Encode word ids (n, length), 0 = padding, as (n, dimensions): each word with its neighbours, which carry the
    direction ("from left to" differs from "from right to"), then the mean over the words."""

    def __init__(self, vocabulary: int, width: int, dimensions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.phrases = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.out = nn.Linear(2 * width, dimensions)

    def forward(self, ids: Tensor) -> Tensor:
        is_word = (ids != 0).unsqueeze(1)
        phrases = F.relu(self.phrases(self.words(ids).transpose(1, 2))) * is_word
        return self.out(phrases.amax(dim=2))


class TinyVideoText(nn.Module):
    """The dual encoder. Frames are uint8 (n, frames, size, size, 3); both sides are L2-normalised."""

    def __init__(self, config: TinyConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config = config
        self.frame = FrameEncoder(config.width, config.size)
        self.time = OverTime(config.width) if config.architecture == "temporal" else None
        self.video_out = nn.Linear(config.width, config.dimensions)
        self.text = TextEncoder(vocabulary_size, config.text_width, config.dimensions)

    def look(self, clips: Tensor) -> Tensor:
        """Encode every frame independently: (n, frames, width)."""
        pixels = clips.flatten(0, 1).permute(0, 3, 1, 2).contiguous().to(self.video_out.weight.dtype) / 127.5 - 1
        return self.frame(pixels).unflatten(0, clips.shape[:2])

    def sum_up(self, features: Tensor) -> Tensor:
        """Combine (n, frames, width) of `look` into (n, dimensions)."""
        pooled = self.time(features) if self.time is not None else features.mean(dim=1)
        return F.normalize(self.video_out(F.relu(pooled)), dim=1)

    def encode_video(self, clips: Tensor) -> Tensor:
        return self.sum_up(self.look(clips))

    def encode_text(self, ids: Tensor) -> Tensor:
        return F.normalize(self.text(ids), dim=1)


class Words:
    """Word-level vocabulary; ids 0 and 1 are padding and unknown."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(entries)
        self.ids = {entry: i for i, entry in enumerate(self.entries)}

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Words":
        return cls((PADDING, UNKNOWN, *sorted({word for text in texts for word in words(text)})))

    def encode(self, texts: Sequence[str]) -> Tensor:
        """Return (n, longest) int64 ids, padded with 0; a text without a known word is one unknown word."""
        rows = [[self.ids.get(word, 1) for word in words(text)] or [1] for text in texts]
        longest = max((len(row) for row in rows), default=1)
        # One tensor of all rows: a tensor per row costs a tenth of a training.
        padded = [row + [0] * (longest - len(row)) for row in rows]
        return torch.tensor(padded, dtype=torch.int64).reshape(len(rows), longest)


class TinyEmbedder(ReadsWholeTexts):
    """The Embedder of a loaded model."""

    def __init__(
        self, model: TinyVideoText, vocabulary: Words, revision: str, device: torch.device, card: Mapping[str, object]
    ) -> None:
        self.model = model.to(device).eval()
        self.vocabulary = vocabulary
        self.device = device
        config = model.config
        self.info = ModelInfo(
            model_id=config.name,
            revision=revision,
            kind=ScoreKind.COSINE,
            frames=config.frames,
            size=(config.size, config.size),
            card=card,
        )

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        if not clips:
            return np.empty((0, self.model.config.dimensions), np.float32)
        expected_shape = (self.model.config.frames, self.model.config.size, self.model.config.size, 3)
        for clip, clip_meta in zip(clips, meta, strict=True):
            if clip.shape != expected_shape or clip.dtype != np.uint8:
                clip_shape = f"{clip.dtype} {clip.shape}"
                raise HubError(
                    f"clip {quoted(clip_meta.key)}: {self.info.model_id} takes uint8 {expected_shape}, "
                    f"not {clip_shape}; sample it to its frames and size"
                )
        frame_ids, first = frame_numbers(clips)
        distinct = np.stack([clips[at][frame_index] for at, frame_index in first])[:, None]
        features = self.model.look(torch.from_numpy(distinct).to(self.device))[:, 0]
        return self.model.sum_up(features[torch.tensor(frame_ids, device=self.device)]).float().cpu().numpy()

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.model.encode_text(self.vocabulary.encode(texts).to(self.device)).float().cpu().numpy()

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        return videos.astype(np.float32, copy=False) @ texts.astype(np.float32, copy=False).T


def save_model(folder: Path, model: TinyVideoText, vocabulary: Words, card: Mapping[str, object]) -> Path:
    """Write the three files of a model into `folder` (created if missing); return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {**asdict(model.config), "card": dict(card)}
    (folder / CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    (folder / VOCABULARY).write_text(json.dumps(vocabulary.entries) + "\n", encoding="utf-8")
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / WEIGHTS)
    return folder


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> TinyEmbedder:
    """Load the model in the folder `argument`. HubError names the file, the field or the tensors that do not fit."""
    if not argument:
        raise HubError("'tiny:' names no folder; write tiny:FOLDER, the folder that holds config.json")
    folder = Path(argument)
    if not folder.is_dir():
        raise HubError(f"{folder}: there is no such model folder; give the folder that holds {CONFIG}")
    config, card = _read_config(folder / CONFIG)
    vocabulary = _read_vocabulary(folder / VOCABULARY)
    model = TinyVideoText(config, len(vocabulary.entries))
    _read_weights(folder / WEIGHTS, model)
    model = model.to(choose_dtype(dtype))
    return TinyEmbedder(model, vocabulary, _revision(folder), choose_device(device), card)


def _read_json(path: Path) -> object:
    if not path.is_file():
        raise HubError(f"{path}: missing; a tiny model is a folder of {CONFIG}, {VOCABULARY} and {WEIGHTS}")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise HubError(f"{path}: not readable as JSON ({error}); save the model again") from error


def _read_config(path: Path) -> tuple[TinyConfig, Mapping[str, object]]:
    raw = _read_json(path)
    if not isinstance(raw, dict):
        raise HubError(f"{path}: not a JSON object; save the model again")
    card = raw.pop("card", {})
    field_names = {field.name for field in fields(TinyConfig)}
    if missing := sorted(field_names - raw.keys()):
        raise HubError(f"{path}: {', '.join(missing)}: missing; save the model again")
    if unexpected := sorted(raw.keys() - field_names):
        raise HubError(f"{path}: {', '.join(unexpected)}: unknown; this is not a tiny model's configuration")
    if raw["architecture"] not in ARCHITECTURES:
        allowed = ", ".join(ARCHITECTURES)
        raise HubError(f"{path}: architecture: {quoted(raw['architecture'])} is unknown; it is one of: {allowed}")
    if not isinstance(raw["name"], str) or not raw["name"]:
        raise HubError(f"{path}: name: not a text; give the model's name")
    for name in sorted(field_names - {"architecture", "name"}):
        if not isinstance(raw[name], int) or isinstance(raw[name], bool) or not 1 <= raw[name] <= 4096:
            raise HubError(
                f"{path}: {name}: {quoted(raw[name])} is not a whole number from 1 to 4096; save the model again"
            )
    return TinyConfig(**raw), {"category": "video", **(card if isinstance(card, dict) else {})}


def _read_vocabulary(path: Path) -> Words:
    entries = _read_json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise HubError(f"{path}: not a list of words; save the model again")
    if entries[:2] != [PADDING, UNKNOWN]:
        raise HubError(f"{path}: the words do not begin with {PADDING}, {UNKNOWN}; save the model again")
    return Words(entries)


def _revision(folder: Path) -> str:
    """Sixteen hex digits of the three files' bytes: whatever changes a score changes it."""
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in (CONFIG, VOCABULARY, WEIGHTS))).hexdigest()[
        :16
    ]


def _read_weights(path: Path, model: TinyVideoText) -> None:
    """Fill `model` from the file; every tensor must be there by name and shape, and none more."""
    if not path.is_file():
        raise HubError(f"{path}: the weights are missing; train the model again or copy {WEIGHTS} into its folder")
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise HubError(f"{path}: not readable as safetensors ({error}); copy the file again") from error
    expected = model.state_dict()
    problems = [f"missing {name}" for name in sorted(expected.keys() - tensors.keys())]
    problems += [f"unexpected {name}" for name in sorted(tensors.keys() - expected.keys())]
    problems += [
        f"{name} is {tuple(tensors[name].shape)}, not {tuple(expected[name].shape)}"
        for name in sorted(expected.keys() & tensors.keys())
        if tensors[name].shape != expected[name].shape
    ]
    if problems:
        raise HubError(f"{path}: {'; '.join(problems)}; these weights are not of the model that {CONFIG} describes")
    model.load_state_dict(tensors)
