"""Dates and numbers on pages are those of the reader's language, each by one rule.

German stands for a language with other number formats, which are Django's own.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.template import Context, Template
from django.utils import translation

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
WHEN = datetime(2026, 3, 9, 14, 5, 7, tzinfo=UTC)


def shown(text: str, language: str, **values: object) -> str:
    with translation.override(language):
        return Template("{% load numbers timing utd %}" + text).render(Context(values))


@pytest.mark.parametrize(
    ("form", "english"),
    [
        ("j M Y", "9 Mar 2026"),
        ("j M Y, H:i", "9 Mar 2026, 14:05"),
        ("j M", "9 Mar"),
        ("j F Y", "9 March 2026"),
        ("Y-m-d H:i", "2026-03-09 14:05"),
    ],
)
def test_dates(form, english):
    assert shown("{{ when|date:'" + form + "' }}", "en", when=WHEN) == english


def test_a_moment_is_in_utc_and_says_so():
    text = "{{ when|moment:'j M Y, H:i' }}"
    head = '<time datetime="2026-03-09T14:05:07Z" data-moment="j M Y, H:i">'
    assert shown(text, "en", when=WHEN) == f"{head}9 Mar 2026, 14:05 UTC</time>"
    in_kolkata = WHEN.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert shown(text, "en", when=in_kolkata) == f"{head}9 Mar 2026, 14:05 UTC</time>"
    assert shown("{{ when|moment:'H:i'|default:'–' }}", "en", when=None) == "–"


def test_no_template_shows_a_time_without_its_zone():
    """`date` writes days; a time of day goes through `moment`."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html")}
    times = r"""\|(?:date|time)(?::["'][^"']*(?:H|DATETIME)[^"']*["'])"""
    assert [name for name, text in texts.items() if re.search(times, text)] == []


@pytest.mark.parametrize(
    ("text", "value", "english", "german"),
    [
        ("{{ v|share }}", 0.143, "14.3 %", "14,3 %"),
        ("{{ v|shift }}", -0.0279, "−2.79 pp", "−2,79 pp"),
        ("{{ v|decimal }}", -1.5, "−1.500", "−1,500"),
        ("{{ v|decimal }}", None, "–", "–"),
        ("{{ v|count }}", 12345, "12,345", "12.345"),
        (
            "{{ v|interval }}",
            (-0.04, 0.5),
            '<span class="ci">[−0.040, 0.500]</span>',
            '<span class="ci">[−0,040; 0,500]</span>',
        ),
        (
            "{{ v|share_interval }}",
            (0.1, 0.5),
            '<span class="ci">[10.0, 50.0] %</span>',
            '<span class="ci">[10,0; 50,0] %</span>',
        ),
        ("{{ v|p_value }}", 0.0004, "&lt; .001", "&lt; ,001"),
        ("{{ v|duration }}", 0.42, "0.4 s", "0,4 s"),
        ("{{ v|points }}", 0.6333, "63.3", "63,3"),
        ("{{ v|floatformat:2 }}", 23.21, "23.21", "23,21"),
    ],
)
def test_numbers(text, value, english, german):
    assert (shown(text, "en", v=value), shown(text, "de", v=value)) == (english, german)
