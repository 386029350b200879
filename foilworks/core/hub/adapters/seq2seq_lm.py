"""Score texts without video by encoder-decoders (T5, BART by AutoModelForSeq2SeqLM): a text is read and reproduced.

The perplexities of a caption and of its foil are compared, the lower one wins (ViLMA, Sec. A.1). The model reads the
text, and the loss is that of writing the same text, as in `model(input_ids, labels=input_ids)`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.batching.token_rows import batched_sums, mean_log_likelihood
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_pretrained, load_tokenizer, longest_input

IGNORED = -100


class Seq2SeqLM:
    """The Scorer of a loaded model. The value is the mean log-likelihood per token; exp(-value) is the perplexity."""

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        self._longest = longest_input(tokenizer, loaded.model.config)
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "text"}
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts. `parts`: sum and mean of log-likelihoods in nats, tokens, including special ones."""
        unique_texts, indices = distinct(texts)
        rows = [self.tokenizer(text, truncation=True, max_length=self._longest)["input_ids"] for text in unique_texts]
        sums = batched_sums(rows, self.device, self._sums)
        scores = [mean_log_likelihood(total, len(row)) for total, row in zip(sums, rows, strict=True)]
        return [scores[at] for at in indices]

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return reads_of_tokenizer(self.tokenizer, texts, self._longest)

    @torch.inference_mode()
    def _sums(self, rows: Sequence[Sequence[int]]) -> list[float]:
        longest = max(1, *map(len, rows))
        ids = torch.full((len(rows), longest), self.tokenizer.pad_token_id or 0, dtype=torch.int64)
        labels = torch.full_like(ids, IGNORED)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = labels[at, : len(row)] = torch.tensor(row, dtype=torch.int64)
        mask = (labels != IGNORED).long()
        ids, labels, mask = (tensor.to(self.device) for tensor in (ids, labels, mask))
        logits = self.model(input_ids=ids, attention_mask=mask, labels=labels).logits.float()
        costs = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), labels, reduction="none", ignore_index=IGNORED
        )
        return (-costs.sum(1)).tolist()


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> Seq2SeqLM:
    """Load the encoder-decoder of a hub id or folder."""
    loaded = load_pretrained(AutoModelForSeq2SeqLM, argument, slug="seq2seq", device=device, dtype=dtype)
    return Seq2SeqLM(loaded, load_tokenizer(argument))
