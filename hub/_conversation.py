"""Prompts in a model's own chat template: rendered, with the video's place filled in, cut into tokens."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from hub._pretrained import load_tokenizer
from hub._processor_files import chat_template
from hub.errors import HubError


class Conversation:
    """One model's template and tokenizer. `marks`: what its template writes where a video stands."""

    def __init__(
        self, argument: str, marks: Sequence[str] = (), template: str = "", tokenizer: Any = None, shown: str = "video"
    ) -> None:
        self.tokenizer = load_tokenizer(argument) if tokenizer is None else tokenizer
        self.marks, self._shown = marks, shown
        found = chat_template(argument, self.tokenizer) or template
        if not found:
            raise HubError(
                f"{argument}: it has no chat template; copy chat_template.jinja, or choose a model that has one"
            )
        self._template, self._name = found, argument

    def prompt(
        self, text: str, *, video: bool = False, system: str = "", examples: Sequence[tuple[str, str]] = ()
    ) -> str:
        """The conversation up to where the model answers. HubError: a template that fails or forgets the video."""
        turns: list[dict[str, Any]] = [_turn("system", system)] if system else []
        for asked, answered in examples:
            turns += [_turn("user", asked), _turn("assistant", answered)]
        turns.append(_turn("user", text, self._shown if video else ""))
        try:
            rendered = self.tokenizer.apply_chat_template(
                turns, chat_template=self._template, tokenize=False, add_generation_prompt=True
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            raise HubError(f"{self._name}: its chat template fails ({error}); copy it again") from error
        if video and not any(mark in rendered for mark in self.marks):
            wanted = " or ".join(self.marks)
            raise HubError(f"{self._name}: its chat template writes no {wanted} for a video; choose another template")
        return str(rendered)

    def with_video(self, rendered: str, text: str) -> str:
        """The rendered prompt with `text` where the video stands."""
        mark = next(mark for mark in self.marks if mark in rendered)
        return rendered.replace(mark, text, 1)

    def prefix_ids(self, rendered: str) -> list[int]:
        """Token ids of a rendered prompt; a start token is added only where the template did not write it."""
        bos = self.tokenizer.bos_token
        ids: list[int] = self.tokenizer(rendered, add_special_tokens=False)["input_ids"]
        adds = self.tokenizer("", add_special_tokens=True)["input_ids"][:1]
        starts = bos is not None and not rendered.startswith(bos) and adds == [self.tokenizer.bos_token_id]
        return [self.tokenizer.bos_token_id, *ids] if starts else ids

    def continued_ids(self, rendered: str, text: str) -> list[int]:
        """Token ids of an answer that goes on after the rendered prompt; a space between where there is none."""
        spaced = text if not rendered or rendered[-1].isspace() else f" {text}"
        ids: list[int] = self.tokenizer(spaced, add_special_tokens=False)["input_ids"]
        return ids


def _turn(role: str, text: str, shown: str = "") -> dict[str, Any]:
    return {"role": role, "content": [*([{"type": shown}] if shown else []), {"type": "text", "text": text}]}
