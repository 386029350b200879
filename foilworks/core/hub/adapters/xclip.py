"""Score with X-CLIP, whose text side depends on the clip (`prompts_generator`): not a plain dual encoder.

A clip's row is its vector and the patch features that the text is prompted with; a text's row is its own vector.
`score` prompts the text with the clip.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from foilworks.core.hub.batching.dual_encoders import Tokens, check_clips, encoded, plain
from foilworks.core.hub.batching.equal_frames import frame_numbers
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, load_pretrained, load_tokenizer
from foilworks.core.text.batches import batched

CLIPS_PER_BATCH = 8
# Texts that are prompted with one clip at a time: (texts, patches) attention.
TEXTS_PER_SCORE = 256


class XClip:
    """The Embedder of a loaded model. Video rows are (1 + patches, d), text rows (d,); the score is their cosine."""

    def __init__(self, loaded: Pretrained, tokenizer: Any, pixels: Pixels) -> None:
        self.model, self.tokenizer, self.device, self.pixels = loaded.model, tokenizer, loaded.device, pixels
        self._tokens = Tokens(tokenizer, loaded.model.config, full_length=False, device=loaded.device)
        self._dtype = next(loaded.model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision}{self._tokens.mark}",
            ScoreKind.COSINE,
            # Its cross-frame attention was built for exactly this number.
            frames=loaded.model.config.vision_config.num_frames,
            card={"category": "video"},
        )

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Encode n clips of exactly `info.frames` frames as (n, 1 + patches, d).

        The tower does not know the order of frames: the same frames in another order go through it once, and a clip
        that repeats one frame costs one frame.
        """
        check_clips(clips, meta, self.info)
        frame_ids, _ = frame_numbers(clips)
        base: dict[tuple[int, ...], int] = {}
        for at, row in enumerate(frame_ids):
            base.setdefault(tuple(sorted(row)), at)
        encodings: dict[int, NDArray[np.float32]] = {}
        for group in _by_length(base.values(), frame_ids, self.info.frames):
            tower_output = self._tower([clips[at][:k] for at, k in group], group[0][1])
            for number, (at, _) in enumerate(group):
                twins = [index for index, row in enumerate(frame_ids) if base[tuple(sorted(row))] == at]
                orders = torch.tensor([[frame_ids[at].index(frame) for frame in frame_ids[index]] for index in twins])
                by_frame, patches = (tensor[number][orders.to(self.device)] for tensor in tower_output)
                encodings |= zip(twins, plain(self._video_encodings(by_frame, patches)), strict=True)
        return np.stack([encodings[at] for at in range(len(clips))])

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as (m, d), not yet prompted, not normalised."""
        return encoded(texts, self._tokens, lambda batch: plain(self.text_rows(batch)))

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return self._tokens.at_limit(texts)

    @torch.inference_mode()
    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the (n, m) cosines in float32 of (n, 1 + patches, d) and (m, d), each text prompted by each clip."""
        scores = np.zeros((len(videos), len(texts)), np.float32)
        for at, row in enumerate(videos):
            clip_row = torch.from_numpy(np.ascontiguousarray(row)).to(self.device)
            for begin in range(0, len(texts), TEXTS_PER_SCORE):
                text_batch = torch.from_numpy(np.ascontiguousarray(texts[begin : begin + TEXTS_PER_SCORE])).to(
                    self.device
                )
                prompt = self.model.prompts_generator(
                    text_batch[None].to(self._dtype), clip_row[None, 1:].to(self._dtype)
                )[0]
                cosines = torch.nn.functional.cosine_similarity(text_batch + prompt.float(), clip_row[:1], dim=1)
                scores[at, begin : begin + TEXTS_PER_SCORE] = plain(cosines)
        return scores

    def text_rows(self, texts: Sequence[str]) -> torch.Tensor:
        """Return m texts as (m, d), not yet prompted, with gradients if they are enabled."""
        return self.model.get_text_features(**self._tokens(texts)).pooler_output

    def video_rows(self, clips: Sequence[Frames]) -> torch.Tensor:
        """Return (n, 1 + patches, d), as XCLIPModel.forward does with `pixel_values`."""
        return self._video_encodings(*self._tower(clips, self.info.frames))

    def _tower(self, clips: Sequence[Frames], k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors (n, k, d) and patches (n, k, patches, d) of the frames of n clips of k frames."""
        n, model = len(clips), self.model
        pixels = torch.cat([self.pixels(clip, self.device) for clip in clips]).to(self._dtype)
        with _frames(model.vision_model, k):
            vision_output = model.vision_model(pixel_values=pixels)
        by_frame = model.visual_projection(vision_output.pooler_output).view(n, k, -1)
        patches = (
            model.prompts_visual_layernorm(vision_output.last_hidden_state[:, 1:]) @ model.prompts_visual_projection
        )
        return by_frame, patches.view(n, k, *patches.shape[1:])

    def _video_encodings(self, by_frame: torch.Tensor, patches: torch.Tensor) -> torch.Tensor:
        video_features = self.model.mit(by_frame).pooler_output
        return torch.cat([video_features[:, None], patches.mean(1)], dim=1)


@contextmanager
def _frames(tower: Any, k: int) -> Iterator[None]:
    """Let the tower's attention between frames take k frames a clip. Of equal frames, one gives the same result."""
    layers = list(tower.encoder.layers)
    built = [layer.num_frames for layer in layers]
    try:
        for layer in layers:
            layer.num_frames = k
        yield
    finally:
        for layer, before in zip(layers, built, strict=True):
            layer.num_frames = before


def _by_length(clips: Iterable[int], frame_ids: Sequence[Sequence[int]], k: int) -> Iterator[Sequence[tuple[int, int]]]:
    """Yield batches of (clip, how many of its first frames to show): 1 of a clip that repeats its first, else k."""
    groups: dict[int, list[tuple[int, int]]] = {}
    for at in clips:
        length = 1 if len(set(frame_ids[at])) == 1 else k
        groups.setdefault(length, []).append((at, length))
    for length, group in groups.items():
        yield from batched(group, CLIPS_PER_BATCH * k // length)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> XClip:
    """Load the X-CLIP of a hub id or folder. HubError: it does not load, or is not an X-CLIP."""
    loaded = load_pretrained(AutoModel, argument, slug="xclip", device=device, dtype=dtype)
    if not hasattr(loaded.model, "prompts_generator"):
        raise HubError(f"{argument}: {type(loaded.model).__name__} is not an X-CLIP; choose another adapter for it")
    pixels = Pixels.of(argument, loaded.model.config.vision_config.image_size)
    return XClip(loaded, load_tokenizer(argument), pixels)
