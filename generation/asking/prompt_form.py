"""The form of a prompt; its examples are written as plain lines: a caption, its foils below it, a blank line."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from generation.asking.prompts import QUESTION, Example, Prompt


class PromptForm(forms.Form):
    slug = forms.SlugField(label=_("Name"), max_length=40, help_text=_("Small letters, digits and dashes."))
    system = forms.CharField(
        label=_("Instruction"), required=False, widget=forms.Textarea(attrs={"rows": 8}), max_length=20_000
    )
    question = forms.CharField(
        label=_("Question"),
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=5_000,
        initial=QUESTION,
        help_text=_("{caption} is where the caption stands, {k} where the number of foils stands."),
    )
    examples = forms.CharField(
        label=_("Examples"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        max_length=50_000,
        help_text=_("A caption, below it its foils, one a line; a blank line before the next caption."),
    )

    def clean_examples(self) -> list[Example]:
        return parse_examples(self.cleaned_data["examples"])


def parse_examples(text: str) -> list[Example]:
    """ValidationError names the caption that has no foil."""
    found: list[Example] = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [" ".join(line.split()) for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if len(lines) == 1:
            raise forms.ValidationError(_("“%(caption)s” has no foil below it.") % {"caption": lines[0]})
        found.append((lines[0], tuple(lines[1:])))
    return found


def as_initial(prompt: Prompt) -> dict[str, Any]:
    """A prompt as the form shows it."""
    blocks = ["\n".join((caption, *foils)) for caption, foils in prompt.examples]
    return {"system": prompt.system, "question": prompt.question, "examples": "\n\n".join(blocks)}
