"""Score with BLIP-2 and its language model (Blip2ForConditionalGeneration): the loss of a caption after each frame.

As the released code of ViLMA (models/image/run_blip2.py): per frame the sum of the negative log-likelihoods of all
tokens but the first, over the number of all tokens; the value is the exponential of its mean over frames.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import Blip2ForConditionalGeneration

from foilworks.core.hub.batching.dual_encoders import check_clips
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.errors import ClipError, HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, context_length, load_pretrained, load_tokenizer


class Blip2Captioner(ReadsWholeTexts):
    """The Scorer of a loaded model."""

    def __init__(self, loaded: Pretrained, tokenizer: Any, pixels: Pixels, frames: int) -> None:
        self.model, self.tokenizer, self.device, self.pixels = loaded.model, tokenizer, loaded.device, pixels
        revision = f"{loaded.revision} frames={frames} loss=caption"
        card = {"category": "image-text"}
        self.info = ModelInfo(loaded.name, revision, ScoreKind.PERPLEXITY, frames=frames, card=card)

    @torch.inference_mode()
    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts for a clip; lower is better. HubError: no clip. ClipError: a text beyond the positions."""
        if clip is None:
            raise HubError(
                f"{self.info.model_id} needs a clip; score it without --controls, or use 'lm:' for texts alone"
            )
        check_clips([clip], [meta or VideoMeta()], self.info)
        model, images = self.model, self.pixels(clip, self.device)
        patches = model.vision_model(pixel_values=images.to(model.vision_model.dtype)).last_hidden_state
        queries = model.query_tokens.expand(len(patches), -1, -1)
        seen = model.qformer(query_embeds=queries, encoder_hidden_states=patches).last_hidden_state
        prefix = model.language_projection(seen.to(model.language_projection.weight.dtype))
        return [self._score(prefix, text) for text in texts]

    def _score(self, prefix: torch.Tensor, text: str) -> Score:
        ids = torch.tensor([self.tokenizer(text)["input_ids"]], device=self.device)
        n_tokens, context = ids.shape[1], context_length(self.model.config)
        if context and prefix.shape[1] + n_tokens > context:
            raise ClipError(
                f"a text has {n_tokens} tokens after {prefix.shape[1]} of the frame; it has {context} positions"
            )
        embeddings = self.model.get_input_embeddings()(ids).expand(len(prefix), -1, -1)
        inputs = torch.cat([prefix.to(embeddings.dtype), embeddings], dim=1)
        logits = self.model.language_model(inputs_embeds=inputs).logits[:, prefix.shape[1] : -1].float()
        targets = ids[:, 1:].expand(len(prefix), -1).unsqueeze(2)
        sums = torch.log_softmax(logits, dim=2).gather(2, targets).sum(dim=(1, 2))
        loss = float(-sums.mean()) / n_tokens
        return Score(float(torch.tensor(loss).exp()), ScoreKind.PERPLEXITY, {"loss": loss, "tokens": n_tokens})


def load_captioner(config: Any, name: str, frames: int, *, device: str, dtype: str) -> Blip2Captioner:
    """Load a model with a decoder as its language model (OPT). HubError: it has another one, or does not load."""
    if not config.use_decoder_only_language_model:
        raise HubError(f"{name}: its language model is not a decoder; choose a BLIP-2 with OPT, such as blip2-opt-2.7b")
    loaded = load_pretrained(
        Blip2ForConditionalGeneration, name, slug="blip2", device=device, dtype=dtype, config=config
    )
    pixels = Pixels.of(name, config.vision_config.image_size)
    return Blip2Captioner(loaded, load_tokenizer(name), pixels, frames)
