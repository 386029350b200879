"""Fill blanks with spans, and score spans, by text-to-text models (T5 and similar, by AutoModelForSeq2SeqLM).

A blank is the first sentinel of span corruption; the model writes the missing span, up to the second sentinel. Equal
texts run once, and batches are limited by a budget of tokens.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from foilworks.core.hub.batching.text_limits import reads_at_limit
from foilworks.core.hub.batching.token_rows import padded
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Fill, Frames, ModelInfo, Score, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import (
    TOKENS_PER_BATCH,
    Pretrained,
    distinct,
    load_pretrained,
    load_tokenizer,
    longest_input,
    token_batches,
)
from foilworks.core.text.quoting import quoted

SENTINELS = ("<extra_id_0>", "<extra_id_1>")
# The decoder runs once per beam: with many beams, fewer captions run together.
BEAMS_PER_BATCH = 8
IGNORED = -100


class TextToText:
    """The SpanFiller and Scorer of a loaded model.

    As a Scorer it reads a text and writes the same text (ViLMA, Sec. A.1); the value is the mean log-likelihood per
    token.
    """

    blank = SENTINELS[0]

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        self._opens, self._closes = (_sentinel(tokenizer, name, loaded.name) for name in SENTINELS)
        start = loaded.model.config.decoder_start_token_id
        self._start = int(tokenizer.pad_token_id if start is None else start)
        self._longest = longest_input(tokenizer, loaded.model.config)
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "text"}
        )

    def fill_spans(self, texts: Sequence[str], k: int, *, beams: int, longest: int = 8) -> list[list[Fill]]:
        """Implement foilworks.core.hub.interfaces.SpanFiller. HubError: a text without exactly one blank."""
        if k < 1 or beams < k:
            raise HubError(
                f"{k} spans need at least as many beams, not {beams}; give at least one span and as many beams"
            )
        unique_texts, indices = distinct(texts)
        encoded = [self._with_blank(text) for text in unique_texts]
        fill_lists: list[list[Fill]] = [[] for _ in unique_texts]
        budget = max(1, TOKENS_PER_BATCH * BEAMS_PER_BATCH // max(beams, BEAMS_PER_BATCH))
        for batch in token_batches([len(row) for row in encoded], self.device, budget=budget):
            for at, fills in zip(
                batch, self._beam_search([encoded[at] for at in batch], k, beams, longest), strict=True
            ):
                fill_lists[at] = fills
        return [fill_lists[at] for at in indices]

    def span_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the log-probability, in nats, of each (text with one blank, span), including the span's end."""
        unique_pairs, indices = distinct(pairs)
        sources = [self._with_blank(text) for text, _ in unique_pairs]
        targets = [[self._opens, *self._plain(span), self._closes] for _, span in unique_pairs]
        costs = self._costs(sources, targets)
        # The first sentinel is given, not guessed.
        sums = [-float(row[1:].sum()) for row in costs]
        return [sums[at] for at in indices]

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts. `parts`: sum and mean of log-likelihoods in nats, tokens, including the end of the text."""
        unique_texts, indices = distinct(texts)
        rows = [[*self._plain(text)[: self._longest - 1], self.tokenizer.eos_token_id] for text in unique_texts]
        scores = [_score(row) for row in self._costs(rows, rows)]
        return [scores[at] for at in indices]

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        """Report texts at the limit of `score`; a text with a blank is read in a window around it."""
        return reads_at_limit(
            texts,
            self._longest,
            lambda batch: [[*self._plain(text), self.tokenizer.eos_token_id] for text in batch],
            lambda _text, ids: [*ids[: self._longest - 1], self.tokenizer.eos_token_id],
        )

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _with_blank(self, text: str) -> list[int]:
        ids = self._plain(text)
        if ids.count(self._opens) != 1:
            raise HubError(f"{quoted(text)} contains {ids.count(self._opens)} blanks; write {self.blank} exactly once")
        room = self._longest - 1
        if len(ids) > room:
            first = min(max(0, ids.index(self._opens) - room // 2), len(ids) - room)
            ids = ids[first : first + room]
        return [*ids, self.tokenizer.eos_token_id]

    def _padded(self, rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
        return padded(rows, filler).to(self.device)

    def _inputs(self, rows: Sequence[Sequence[int]]) -> dict[str, torch.Tensor]:
        mask = self._padded([[1] * len(row) for row in rows], 0)
        return {"input_ids": self._padded(rows, self.tokenizer.pad_token_id), "attention_mask": mask}

    @torch.inference_mode()
    def _costs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """The cross entropy of each token of each target, in nats."""
        token_costs: list[torch.Tensor] = [torch.empty(0)] * len(sources)
        lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
        for batch in token_batches(lengths, self.device):
            labels = self._padded([targets[at] for at in batch], IGNORED)
            logits = self.model(**self._inputs([sources[at] for at in batch]), labels=labels).logits.float()
            costs = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), labels, reduction="none", ignore_index=IGNORED
            ).cpu()
            for row, at in enumerate(batch):
                token_costs[at] = costs[row, : len(targets[at])]
        return token_costs

    @torch.inference_mode()
    def _beam_search(self, rows: Sequence[Sequence[int]], k: int, beams: int, longest: int) -> list[list[Fill]]:
        first = torch.tensor([[self._start, self._opens]] * len(rows), device=self.device)
        generation = self.model.generate(
            **self._inputs(rows),
            decoder_input_ids=first,
            num_beams=beams,
            num_return_sequences=k,
            do_sample=False,
            max_new_tokens=longest + 1,
            eos_token_id=[self._closes, self.tokenizer.eos_token_id],
            pad_token_id=self.tokenizer.pad_token_id,
            return_dict_in_generate=True,
            output_scores=True,
        )
        steps = self.model.compute_transition_scores(generation.sequences, generation.scores, generation.beam_indices)
        totals = steps.float().sum(1).tolist()
        answers = [self._fill(ids[2:], total) for ids, total in zip(generation.sequences.tolist(), totals, strict=True)]
        return [_best(answers[at * k : at * k + k]) for at in range(len(rows))]

    def _fill(self, ids: Sequence[int], total: float) -> Fill | None:
        """What was written before the second sentinel; None where the model never came to an end."""
        ends = [at for at, token_id in enumerate(ids) if token_id in (self._closes, self.tokenizer.eos_token_id)]
        if not ends:
            return None
        span_ids = ids[: ends[0]]
        if any(token_id in self.tokenizer.all_special_ids for token_id in span_ids):
            return None
        text = " ".join(self.tokenizer.decode(span_ids).split())
        return Fill(text, total) if text else None


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> TextToText:
    """Load the text-to-text model of a hub id or folder."""
    loaded = load_pretrained(AutoModelForSeq2SeqLM, argument, slug="t5", device=device, dtype=dtype)
    return TextToText(loaded, load_tokenizer(argument))


def _sentinel(tokenizer: Any, name: str, model: str) -> int:
    token_id = tokenizer.convert_tokens_to_ids(name)
    if token_id is None or token_id == tokenizer.unk_token_id:
        raise HubError(f"{model}: its tokenizer has no {name}; choose a model trained on span corruption, as T5")
    return int(token_id)


def _best(answers: Sequence[Fill | None]) -> list[Fill]:
    """Each text once, with its best score, the most probable first."""
    best: dict[str, Fill] = {}
    for fill in answers:
        if fill is not None and (fill.text not in best or best[fill.text].log_probability < fill.log_probability):
            best[fill.text] = fill
    return sorted(best.values(), key=lambda fill: (-fill.log_probability, fill.text))


def _score(costs: torch.Tensor) -> Score:
    total = -float(costs.sum())
    mean = total / max(len(costs), 1)
    return Score(mean, ScoreKind.LOG_LIKELIHOOD, {"sum": total, "mean": mean, "tokens": float(len(costs))})
