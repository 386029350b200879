"""Report which texts reach a model's limit, and what the model reads of them. No torch."""

import hashlib
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from foilworks.core.hub.interfaces import LimitsTexts, TextRead

Ids = Sequence[int]
Text = TypeVar("Text", bound=Hashable)
TEXTS_PER_BATCH = 1000


class ReadsWholeTexts:
    """`LimitsTexts` of a model without a limit."""

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return {}


def reads_at_limit(
    texts: Iterable[Text], limit: int, encode: Callable[[list[Text]], Sequence[Ids]], keep: Callable[[Text, Ids], Ids]
) -> dict[Text, TextRead]:
    """Map each text (or pair of texts) of `limit` tokens and more to what is read of it.

    `encode`: texts -> all their tokens, special ones included. `keep`: a text and its tokens -> the tokens that the
    model reads.
    """
    unique_texts, reads_by_text = list(dict.fromkeys(texts)), {}
    for start in range(0, len(unique_texts), TEXTS_PER_BATCH):
        batch = unique_texts[start : start + TEXTS_PER_BATCH]
        for text, ids in zip(batch, encode(batch), strict=True):
            if len(ids) >= limit:
                read_ids = array("q", keep(text, ids)).tobytes()
                reads_by_text[text] = TextRead(len(ids), limit, hashlib.sha256(read_ids).hexdigest()[:32])
    return reads_by_text


def reads_of_tokenizer(
    tokenizer: Any, texts: Iterable[str], limit: int, spell: Callable[[str], str] = str
) -> dict[str, TextRead]:
    """Apply `reads_at_limit` to a tokenizer that cuts texts itself. `spell`: how a text is changed before it is
    tokenized."""
    return reads_at_limit(
        texts,
        limit,
        lambda batch: tokenizer([spell(text) for text in batch])["input_ids"],
        lambda text, _ids: tokenizer(spell(text), truncation=True, max_length=limit)["input_ids"],
    )


class CutTexts:
    """Collect the texts that a model cuts: `found`."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.found: dict[str, TextRead] = {}

    def seen(self, texts: Sequence[str]) -> None:
        if isinstance(self._model, LimitsTexts):
            reads = self._model.at_limit(texts) or {}
            self.found.update((text, read) for text, read in reads.items() if read.is_cut)

    def facts(self) -> dict[str, Any] | None:
        return facts_of(self.found)


def facts_of(reads_by_text: Mapping[str, TextRead]) -> dict[str, Any] | None:
    """Return {"n", "limit", "longest" in tokens, "first" texts}; None if no text is cut or the model cannot say."""
    if not reads_by_text:
        return None
    reads = list(reads_by_text.values())
    longest = max(read.tokens for read in reads)
    return {"n": len(reads), "limit": reads[0].limit, "longest": longest, "first": [*reads_by_text][:5]}
