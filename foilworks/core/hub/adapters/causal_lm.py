"""Score texts without video by causal language models (GPT-2, OPT … by AutoModelForCausalLM)."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from foilworks.core.hub.batching.packed_texts import PackedLM
from foilworks.core.hub.batching.text_limits import reads_at_limit
from foilworks.core.hub.batching.token_rows import batched_sums, masked, mean_log_likelihood
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_text_model, longest_input

# Tokens that test whether a loaded model can be packed.
TRIED = 5


class CausalLM:
    """The Scorer of a loaded model. The value is the mean log-likelihood per token; exp(-value) is the perplexity.

    A start token (the end token if the model has none) precedes each text, so that its first word counts.
    """

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if start is None:
            raise HubError(f"{loaded.name}: its tokenizer has neither a start nor an end token; set one in its files")
        self._start = int(start)
        self._longest = longest_input(tokenizer, loaded.model.config)
        self._packed = PackedLM.where_equal(loaded.model, range(min(TRIED, loaded.model.config.vocab_size)))
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "text"}
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts. `parts`: sum and mean of log-likelihoods in nats, tokens. A text without tokens scores 0."""
        unique_texts, indices = distinct(texts)
        rows = [self._encoded(text) for text in unique_texts]
        sums = self._totals(rows)
        return [mean_log_likelihood(sums[at], len(rows[at]) - 1) for at in indices]

    def score_as_tokenized(self, texts: Sequence[str]) -> list[Score]:
        """Score texts as the model's own tokenizer makes them, possibly without a start token (GPT-2: without, OPT:
        with). Sums all tokens but the first, which has no context; `tokens` counts all."""
        unique_texts, indices = distinct(texts)
        rows = [self.tokenizer(text)["input_ids"][: self._longest] or [self._start] for text in unique_texts]
        sums = self._totals(rows)
        return [mean_log_likelihood(sums[at], len(rows[at])) for at in indices]

    def at_limit(self, texts: Sequence[str], *, as_tokenized: bool = False) -> dict[str, TextRead]:
        """Report texts at the limit; `as_tokenized`: for `score_as_tokenized`, which may add no start token."""

        def encode(batch: list[str]) -> list[list[int]]:
            rows: list[list[int]] = self.tokenizer(batch, add_special_tokens=as_tokenized)["input_ids"]
            return rows if as_tokenized else [[self._start, *ids] for ids in rows]

        return reads_at_limit(texts, self._longest, encode, lambda _text, ids: ids[: self._longest])

    def _totals(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """The summed log-likelihood of each row's tokens after its first."""
        return self._packed.sums(rows) if self._packed else batched_sums(rows, self.device, self._sums)

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return [self._start, *ids][: self._longest]

    @torch.inference_mode()
    def _sums(self, rows: Sequence[Sequence[int]]) -> list[float]:
        ids, mask = (tensor.to(self.device) for tensor in masked(rows, self._start))
        logits = self.model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        costs = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        return (-(costs * mask[:, 1:]).sum(1)).tolist()


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> CausalLM:
    """Load the causal language model of a hub id or folder."""
    loaded, tokenizer = load_text_model(AutoModelForCausalLM, argument, slug="lm", device=device, dtype=dtype)
    return CausalLM(loaded, tokenizer)
