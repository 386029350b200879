"""Show stored states, phrases and labels in the reader's language."""

import re
from collections.abc import Iterable

from django import template
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from foilworks.core.text.scripts import language_tag

register = template.Library()
CODE = re.compile(r"`+([^`]+)`+")

# Stored states and phrases of progress that pages name differently.
SHOWN = {
    "set aside": _("excluded"),
    "asking": _("querying"),
    "choosing": _("selecting"),
    "looked at the first sources": _("first sources previewed"),
    "asking the model": _("querying the model"),
    "asking the teacher": _("querying the teacher"),
    "items of the file": _("items in the file"),
    "reading the release before": _("scoring the release before training"),
    "reading the release after": _("scoring the release after training"),
    "reading the train split": _("reading the training split"),
    "filming": _("rendering videos"),
    "pending": _("not decided yet"),
    "distinct texts": _("texts scored"),
    "requeued": _("returned to editing"),
    "warn": _("warning"),
    "superseded": _("replaced by an edit"),
    # Why agreement has no value.
    "no unit has two votes": _("no item counted here has two votes"),
    "all votes fall into one category, so that agreement by chance is certain": _(
        "all votes are in one category, so alpha is undefined"
    ),
}
# Stored states and phrases of progress: in English, shown in the reader's language.
WORDS = SHOWN.keys() | frozenset(
    (
        # Candidates, items, foils.
        _("generated"),
        _("filtered out"),
        _("queued"),
        _("editing"),
        _("in review"),
        _("returned"),
        _("accepted"),
        _("dropped"),
        _("superseded"),
        _("in validation"),
        _("valid"),
        _("invalid"),
        _("disputed"),
        _("requeued"),
        _("retracted"),
        _("pending"),
        # Tasks, slots, votes, jobs.
        _("open"),
        _("done"),
        _("cancelled"),
        _("free"),
        _("leased"),
        _("counted"),
        _("surplus"),
        _("undone"),
        _("waiting"),
        _("running"),
        _("failed"),
        _("partly"),
        # Problems that a run lists.
        _("missing media"),
        _("unreadable"),
        _("refused"),
        _("not finite"),
        _("not in file"),
        _("not in release"),
        _("wrong number of texts"),
        _("truncated texts"),
        _("equal after truncation"),
        _("truncation unknown"),
        _("cannot see it"),
        _("model refused"),
        _("answer unparsable"),
        _("no answer"),
        # Progress of a job.
        _("measuring two steps"),
        _("evaluating the release before"),
        _("evaluating the release after"),
        _("reading captions"),
        _("reading votes"),
        _("drawing foils"),
        _("generating foils"),
        _("choosing"),
        _("loading the model"),
        _("loss"),
        _("preview done"),
        _("generating captions"),
        _("asking the model"),
        _("decoding frames"),
        _("texts to score"),
        _("distinct texts"),
        _("computing"),
        _("counting"),
        _("encoding videos"),
        _("describing frames"),
        _("extracting concepts"),
        _("loading the encoder"),
        _("comparing sentences with descriptions"),
        _("embedding texts"),
        _("measuring"),
        _("nine models on objects in sequence"),
        _("writing"),
        _("pairs of texts"),
        _("reading"),
        _("records"),
        _("storing"),
        _("pairs stored"),
        _("videos"),
        _("votes"),
        _("checking"),
        # Stages of work; what votes say.
        _("edit"),
        _("review"),
        _("validation"),
        _("baseline"),
        _("unseen"),
        _("objects"),
        _("qualification"),
        _("caption"),
        _("foil"),
        _("both"),
        _("neither"),
        _("cannot tell"),
        # Verdicts of audits.
        _("fail"),
        _("reversed"),
        _("nothing found so far"),
        _("nothing found"),
        # What differs between the captions of a pair.
        _("opposite"),
        _("count"),
        _("colour"),
        _("gender"),
        _("participant"),
        _("object"),
        _("action"),
        _("order of words"),
        _("direction of time"),
        _("order of events"),
        # Whether a run follows its paper to the letter.
        _("corrected"),
        _("paper"),
        # Settings of reports: which words a divergence counts, how a tie counts, groups of numbers.
        _("words"),
        _("changed"),
        _("half"),
        _("strict"),
        _("optimistic"),
        _("first"),
        _("over 10"),
    )
)


@register.filter
def in_words(code: str) -> str:
    """Return `in_review` as "in review", in the reader's language; in "generating foils: 3 of 4", up to the colon."""
    spaced = str(code).replace("_", " ")
    phrase, colon, detail = spaced.partition(": ")
    return f"{gettext(SHOWN.get(phrase, phrase))}{colon}{detail}" if phrase in WORDS else spaced


@register.filter
def translated(text: str) -> str:
    """Translate a text of the code's tables, such as a method's label; a text without a translation stays."""
    return gettext(text) if text else ""


@register.filter
def with_code(text: str) -> SafeString:
    """Return the text for a page, with `names` between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S308  # nosec


@register.filter
def translated_list(texts: Iterable[str]) -> str:
    """Texts in the reader's language, sorted and with commas, such as a person's roles."""
    return ", ".join(sorted(gettext(text) for text in texts))


@register.simple_tag
def learn_more(page: str) -> SafeString:
    """A link to the page of docs/ that explains more: `{% learn_more "docs/how-to/score.md#results" %}`.

    tests/foilworks/test_help.py opens every target.
    """
    path, _hash, anchor = page.partition("#")
    name = path.removeprefix("docs/").removesuffix(".md")
    address = reverse("help_page", args=[name]) + (f"#{anchor}" if anchor else "")
    # Links of one page need names that differ.
    page_words = name.rpartition("/")[2].replace("-", " ")
    form = '<a class="learn-more" href="{}">{}<span class="visually-hidden" translate="no">: {}</span></a>'
    return format_html(form, address, gettext("Learn more"), page_words)


@register.simple_tag
def stimulus(text: str | Iterable[tuple[str, str]]) -> SafeString:
    """Return the attributes of an element that shows a judged text, or its segments: browsers must not translate it.

    work.js notices when it changes all the same.
    """
    words = text if isinstance(text, str) else "".join(segment for _kind, segment in text)
    return format_html('dir="auto" translate="no" lang="{}" data-stimulus', language_tag(words))
