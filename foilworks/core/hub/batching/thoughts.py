"""Cut what a model generated into its thought and its answer."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.text.model_answers import without_thoughts
from foilworks.core.text.open_thoughts import count_closed_thoughts


@dataclass(frozen=True)
class Generated:
    """`thought`: the tokens before the answer; `answer_tokens`: how many follow. `text`: all of it, with the tag that
    the prompt opened. `is_open`: the thought does not end; `was_cut`: the answer does not end."""

    thought: list[int]
    answer_tokens: int
    text: str
    is_open: bool
    was_cut: bool


def cut_generated(
    tokenizer: Any, output_ids: Sequence[int], ends: Sequence[int], opening: str, max_tokens: int
) -> Generated:
    """Cut the tokens that a model generated, at most `max_tokens`.

    `ends`: tokens that end an answer; `opening`: the tag of the thought that the prompt left open, if any.
    """
    end = next((at for at, token_id in enumerate(output_ids) if token_id in ends), len(output_ids))
    ids = list(output_ids[:end])
    text = opening + _spelled(tokenizer, ids)
    n_closed = count_closed_thoughts(text)

    def closed_before(n: int) -> int:
        return count_closed_thoughts(opening + _spelled(tokenizer, ids[:n]))

    n_thought = bisect_left(range(len(ids)), n_closed, key=closed_before) if n_closed else 0
    while 0 < n_thought < len(ids) and _spelled(tokenizer, ids[n_thought : n_thought + 1]).isspace():
        n_thought += 1
    is_open = without_thoughts(text)[1]
    n_thought = len(ids) if is_open else n_thought
    return Generated(ids[:n_thought], len(ids) - n_thought, text, is_open, end >= max_tokens)


def _spelled(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))
