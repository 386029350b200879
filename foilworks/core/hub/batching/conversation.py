"""Render prompts in a model's own chat template, insert the video, and split them into tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import load_tokenizer
from foilworks.core.hub.loading.processor_files import chat_template
from foilworks.core.text.open_thoughts import empty_thought, open_thought


class Conversation:
    """One model's template and tokenizer. `marks`: what its template writes for a video.

    `template_options`: what the template gets beside the conversation. `closes_thoughts`: a thought that the template
    leaves open is closed, so that the answer begins at once; `opened_by`: (opening, closing) tag of a model that begins
    its answers with a thought by itself.
    """

    def __init__(
        self,
        argument: str,
        marks: Sequence[str] = (),
        template: str = "",
        tokenizer: Any = None,
        media_type: str = "video",
        template_options: Mapping[str, Any] | None = None,
        closes_thoughts: bool = False,
    ) -> None:
        self.tokenizer = load_tokenizer(argument) if tokenizer is None else tokenizer
        self.marks, self._media_type = marks, media_type
        self._options, self.closes_thoughts = template_options or {}, closes_thoughts
        self.opened_by = ("", "")
        self.closed_any = False
        template_text = chat_template(argument, self.tokenizer) or template
        if not template_text:
            raise HubError(
                f"{argument}: it has no chat template; copy chat_template.jinja, or choose a model that has one"
            )
        self._template, self._name = template_text, argument
        # As Llama's: every text begins a word, and an added space would be a token of its own.
        self.spaces_itself = self.plain_ids("a a") == 2 * self.plain_ids("a")

    def prompt(self, text: str, *, video: int = 0, system: str = "", examples: Sequence[tuple[str, str]] = ()) -> str:
        """Render the conversation up to the model's answer. `video`: how many media the question is about.

        HubError: a template that fails or omits the video."""
        turns: list[dict[str, Any]] = [_turn("system", system)] if system else []
        for question, answer in examples:
            turns += [_turn("user", question), _turn("assistant", answer)]
        turns.append(_turn("user", text, self._media_type, int(video)))
        try:
            rendered = self.tokenizer.apply_chat_template(
                turns, chat_template=self._template, tokenize=False, add_generation_prompt=True, **self._options
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            raise HubError(f"{self._name}: its chat template fails ({error}); copy it again") from error
        if video and self.marks and not any(mark in rendered for mark in self.marks):
            marks = " or ".join(self.marks)
            raise HubError(f"{self._name}: its chat template writes no {marks} for a video; choose another template")
        rendered = str(rendered)
        closing = self._empty_thought(rendered, text) if self.closes_thoughts else ""
        self.closed_any = self.closed_any or bool(closing)
        return rendered + closing

    def open_thought(self, rendered: str, text: str) -> tuple[str, str]:
        """Return the tags of the thought that the template leaves open after `text`; two empty texts if it does not."""
        return open_thought(rendered.rpartition(text.strip())[2])

    def _empty_thought(self, rendered: str, text: str) -> str:
        _, closing = self.open_thought(rendered, text)
        if closing:
            return empty_thought(rendered, "", closing)
        return empty_thought(rendered, *self.opened_by) if self.opened_by[0] else ""

    def plain_ids(self, text: str) -> list[int]:
        """Return the token ids of a text without a start or end token."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def with_video(self, rendered: str, texts: Sequence[str]) -> str:
        """Replace the marks of the media in the rendered prompt by `texts`. HubError: there are fewer marks."""
        mark = next(mark for mark in self.marks if mark in rendered)
        between = rendered.split(mark, len(texts))
        if len(between) != len(texts) + 1:
            raise HubError(
                f"{self._name}: its chat template writes {len(between) - 1} {mark} for {len(texts)} pictures; choose "
                "another template, or use frames=1"
            )
        return "".join(before + text for before, text in zip(between, [*texts, ""], strict=True))

    def prefix_ids(self, rendered: str) -> list[int]:
        """Return the token ids of a rendered prompt; a start token is added only if the template did not write it."""
        bos = self.tokenizer.bos_token
        ids = self.plain_ids(rendered)
        adds = self.tokenizer("", add_special_tokens=True)["input_ids"][:1]
        starts = bos is not None and not rendered.startswith(bos) and adds == [self.tokenizer.bos_token_id]
        return [self.tokenizer.bos_token_id, *ids] if starts else ids

    def continued_ids(self, rendered: str, text: str) -> list[int]:
        """Return the token ids of an answer after the rendered prompt, with a space between if there is none."""
        goes_on = not rendered or rendered[-1].isspace() or self.spaces_itself
        return self.plain_ids(text if goes_on else f" {text}")

    def first_tokens(self, sides: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return, per side, the distinct tokens that its words begin with. Tokens that every side begins with
        distinguish none, such as a space that is a token of its own, and are skipped."""
        rows = [[ids for word in words if (ids := self.plain_ids(word))] for words in sides]
        while len(rows) > 1 and (shared := set.intersection(*({ids[0] for ids in side} for side in rows))):
            shortened_rows = [[ids[ids[0] in shared :] for ids in side] for side in rows]
            shortened_rows = [[ids for ids in side if ids] for side in shortened_rows]
            if not all(shortened_rows):
                break
            rows = shortened_rows
        return [sorted({ids[0] for ids in side}) for side in rows]


def _turn(role: str, text: str, media_type: str = "", n_media: int = 0) -> dict[str, Any]:
    return {"role": role, "content": [{"type": media_type}] * n_media + [{"type": "text", "text": text}]}
