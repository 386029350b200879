"""Find the thought that a rendered prompt or the beginning of an answer leaves open, and what closes it. Pure."""

import re

from foilworks.core.text.model_answers import CLOSES, OPENS

# Tags that are closed by another word than theirs.
_CLOSING = {
    "◁think▷": "◁/think▷",
    "[think]": "[/THINK]",
    "<|start_thinking|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel>thought": "<channel|>",
}


def open_thought(text: str) -> tuple[str, str]:
    """Return (the tag that opens the thought which is open at the end of a text, the tag that closes it), or two empty
    texts."""
    closed = max((match.end() for match in CLOSES.finditer(text)), default=0)
    return _tags(OPENS.search(text, closed))


def opened_at_start(answer: str) -> tuple[str, str]:
    """Return the same for an answer that begins with a thought."""
    return _tags(OPENS.match(answer.lstrip()))


def _tags(opening: re.Match[str] | None) -> tuple[str, str]:
    if opening is None:
        return "", ""
    tag = opening.group()
    return tag, _CLOSING.get(tag.casefold(), f"</{tag[1:]}")


def count_closed_thoughts(text: str) -> int:
    """Count the tags that close a thought."""
    return sum(1 for _ in CLOSES.finditer(text))


def empty_thought(prompt: str, opening: str, closing: str) -> str:
    """Return what makes the thought after a prompt an empty one, in the form of Qwen3's template.

    `opening`: the tag, if the prompt does not have it.
    """
    begun = f"{opening}\n" if opening else "" if prompt.endswith("\n") else "\n"
    return f"{begun}\n{closing}\n\n"
