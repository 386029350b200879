"""Score with BLIP-2 matching (Blip2ForImageTextRetrieval): each frame and text go through the Q-Former together.

Frames go through the vision tower once. A clip's row is its frames' patch features, a text's row is its token ids.
`frame_logits` combines the two, for every pooling.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import Blip2ForConditionalGeneration, Blip2ForImageTextRetrieval

from foilworks.core.hub.adapters._blip2_captions import Blip2Captioner, load_captioner
from foilworks.core.hub.batching.dual_encoders import check_clips, plain
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, load_config, load_pretrained, load_tokenizer

FRAMES = 8
IMAGES_PER_BATCH = 32
PAIRS_PER_BATCH = 128
PADDING = -1
POOLINGS = ("logits", "probability")


class Blip2Matcher:
    """The Embedder of a loaded model. A clip's rows: (frames, patches, d); a text's row: ids (longest,), padded with
    -1.

    A frame's logit is "match" minus "no match"; the score is the mean over frames of the logit, or of its probability.
    """

    encodes_by_frame = True

    def __init__(self, loaded: Pretrained, tokenizer: Any, pixels: Pixels, *, frames: int, pooling: str) -> None:
        self.model, self.tokenizer, self.device, self.pixels = loaded.model, tokenizer, loaded.device, pixels
        self.pooling = pooling
        n_positions = loaded.model.config.qformer_config.max_position_embeddings - loaded.model.config.num_query_tokens
        self._longest = min(n_positions, tokenizer.model_max_length)
        self._dtype = next(loaded.model.vision_model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames} pooling={pooling}",
            ScoreKind.LOGIT if pooling == "logits" else ScoreKind.P_YES,
            frames=frames,
            card={"category": "image-text"},
        )

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Encode n clips of k frames as (n, k, patches, d)."""
        check_clips(clips, meta, self.info)
        images = torch.cat([self.pixels(clip, self.device) for clip in clips]).to(self._dtype)
        rows = [
            plain(self.model.vision_model(pixel_values=images[at : at + IMAGES_PER_BATCH]).last_hidden_state)
            for at in range(0, len(images), IMAGES_PER_BATCH)
        ]
        patches = np.concatenate(rows)
        return patches.reshape(len(clips), self.info.frames, *patches.shape[1:])

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as (m, longest) token ids in float32, which holds them exactly; -1 after the end."""
        rows = [self.tokenizer(text, truncation=True, max_length=self._longest)["input_ids"] for text in texts]
        # Always as wide as the model takes, so that batches of texts fit together.
        ids = np.full((len(rows), self._longest), PADDING, np.float32)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
        return ids

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return reads_of_tokenizer(self.tokenizer, texts, self._longest)

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the (n, m) scores of (n, k, patches, d) and (m, longest)."""
        logits = self.frame_logits(videos, texts)
        scores = logits if self.pooling == "logits" else 1 / (1 + np.exp(-logits))
        return scores.mean(1).astype(np.float32)

    @torch.inference_mode()
    def frame_logits(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return each frame's logit with each text: (n, k, m)."""
        n, k = videos.shape[:2]
        all_logits = np.zeros((n, k, len(texts)), np.float32)
        ids = torch.from_numpy(texts).long().to(self.device)
        ids = ids[:, : int((ids != PADDING).sum(1).max())] if len(ids) else ids
        for at, video in enumerate(videos):
            # A clip that repeats one frame costs one frame.
            row = video[:1] if (video[1:] == video[:1]).all() else video
            frames = torch.from_numpy(np.ascontiguousarray(row)).to(self.device, self._dtype)
            step = max(1, PAIRS_PER_BATCH // len(row))
            for begin in range(0, len(texts), step):
                id_batch = ids[begin : begin + step]
                logits = self._logits(frames.repeat_interleave(len(id_batch), dim=0), id_batch.repeat(len(row), 1))
                all_logits[at, :, begin : begin + len(id_batch)] = plain(logits.view(len(row), len(id_batch)))
        return all_logits

    def _logits(self, image_features: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Pairs of a frame's (patches, d) and a row of ids; as Blip2ForImageTextRetrieval.forward does."""
        model = self.model
        queries = model.query_tokens.expand(len(ids), -1, -1)
        mask = torch.cat([torch.ones(queries.shape[:2], dtype=torch.long, device=self.device), (ids >= 0).long()], 1)
        hidden = model.qformer(
            query_embeds=model.embeddings(input_ids=ids.clamp(min=0), query_embeds=queries),
            query_length=queries.shape[1],
            attention_mask=mask,
            encoder_hidden_states=image_features,
            encoder_attention_mask=torch.ones(image_features.shape[:2], dtype=torch.long, device=self.device),
        ).last_hidden_state
        logits = model.itm_head(hidden[:, : queries.shape[1]].to(model.itm_head.weight.dtype)).float().mean(1)
        return logits[:, 1] - logits[:, 0]


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> Blip2Matcher | Blip2Captioner:
    """Load `HUB_ID_OR_FOLDER[?frames=8&pooling=logits|probability]`. HubError: it does not load.

    A model with a language model scores by the loss of captions.
    """
    name, options = split_options(argument, {"frames": int, "pooling": POOLINGS})
    pooling = options.get("pooling", "logits")
    config = load_config(name)
    if Blip2ForConditionalGeneration.__name__ in (config.architectures or ()):
        return load_captioner(config, name, options.get("frames", FRAMES), device=device, dtype=dtype)
    loaded = load_pretrained(Blip2ForImageTextRetrieval, name, slug="blip2", device=device, dtype=dtype)
    pixels = Pixels.of(name, loaded.model.config.vision_config.image_size)
    return Blip2Matcher(loaded, load_tokenizer(name), pixels, frames=options.get("frames", FRAMES), pooling=pooling)
