"""Render prompts in a model's own chat template, insert the video, and split them into tokens."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import load_tokenizer
from foilworks.core.hub.loading.processor_files import chat_template


class Conversation:
    """One model's template and tokenizer. `marks`: what its template writes for a video."""

    def __init__(
        self,
        argument: str,
        marks: Sequence[str] = (),
        template: str = "",
        tokenizer: Any = None,
        media_type: str = "video",
        thinks: bool = True,
    ) -> None:
        self.tokenizer = load_tokenizer(argument) if tokenizer is None else tokenizer
        self.marks, self._media_type = marks, media_type
        # Else templates of models that reason begin the answer with thoughts, and a caption would be scored as one.
        self._options = {} if thinks else {"enable_thinking": False}
        template_text = chat_template(argument, self.tokenizer) or template
        if not template_text:
            raise HubError(
                f"{argument}: it has no chat template; copy chat_template.jinja, or choose a model that has one"
            )
        self._template, self._name = template_text, argument
        # As Llama's: every text begins a word, and an added space would be a token of its own.
        self.spaces_itself = self._ids("a a") == 2 * self._ids("a")

    def prompt(
        self, text: str, *, video: bool = False, system: str = "", examples: Sequence[tuple[str, str]] = ()
    ) -> str:
        """Render the conversation up to the model's answer. HubError: a template that fails or omits the video."""
        turns: list[dict[str, Any]] = [_turn("system", system)] if system else []
        for question, answer in examples:
            turns += [_turn("user", question), _turn("assistant", answer)]
        turns.append(_turn("user", text, self._media_type if video else ""))
        try:
            rendered = self.tokenizer.apply_chat_template(
                turns, chat_template=self._template, tokenize=False, add_generation_prompt=True, **self._options
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            raise HubError(f"{self._name}: its chat template fails ({error}); copy it again") from error
        if video and not any(mark in rendered for mark in self.marks):
            marks = " or ".join(self.marks)
            raise HubError(f"{self._name}: its chat template writes no {marks} for a video; choose another template")
        return str(rendered)

    def with_video(self, rendered: str, text: str) -> str:
        """Replace the video's mark in the rendered prompt by `text`."""
        mark = next(mark for mark in self.marks if mark in rendered)
        return rendered.replace(mark, text, 1)

    def prefix_ids(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt; a start token is added only if the template did not write it."""
        bos = self.tokenizer.bos_token
        ids = self._ids(rendered)
        adds = self.tokenizer("", add_special_tokens=True)["input_ids"][:1]
        starts = bos is not None and not rendered.startswith(bos) and adds == [self.tokenizer.bos_token_id]
        return [self.tokenizer.bos_token_id, *ids] if starts else ids

    def continued_ids(self, rendered: str, text: str) -> list[int]:
        """Return the token ids of an answer after the rendered prompt, with a space between if there is none."""
        goes_on = not rendered or rendered[-1].isspace() or self.spaces_itself
        return self._ids(text if goes_on else f" {text}")

    def first_tokens(self, sides: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return, per side, the distinct tokens that its words begin with. Tokens that every side begins with
        distinguish none, such as a space that is a token of its own, and are skipped."""
        rows = [[ids for word in words if (ids := self._ids(word))] for words in sides]
        while len(rows) > 1 and (shared := set.intersection(*({ids[0] for ids in side} for side in rows))):
            shortened_rows = [[ids[ids[0] in shared :] for ids in side] for side in rows]
            shortened_rows = [[ids for ids in side if ids] for side in shortened_rows]
            if not all(shortened_rows):
                break
            rows = shortened_rows
        return [sorted({ids[0] for ids in side}) for side in rows]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def _turn(role: str, text: str, media_type: str = "") -> dict[str, Any]:
    return {"role": role, "content": [*([{"type": media_type}] if media_type else []), {"type": "text", "text": text}]}
