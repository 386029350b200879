"""What researchers write as guidelines: read as Markdown, and never able to run, load or fetch anything."""

import re

import pytest

from annotation.rules.guidelines import render_guideline


def test_lists_of_plus_and_minus_are_good_and_bad_examples():
    html = render_guideline("Change the verb.\n+ folds: unfolds\n-folds: eats\n\nAfter them, *text* goes on.")
    assert '<li class="example example-good"><strong>Good:</strong> folds: unfolds</li>' in html
    assert '<li class="example example-bad"><strong>Bad:</strong> folds: eats</li>' in html
    assert "<p>After them, <em>text</em> goes on.</p>" in html


def test_other_lists_are_lists_and_a_minus_before_a_number_is_text():
    html = render_guideline("* one\n* two\n\n1. first\n\n-5 degrees")
    assert "<ul>\n<li>one</li>\n<li>two</li>\n</ul>" in html
    assert html.count("<li>") == 3
    assert "example" not in html
    assert "<p>-5 degrees</p>" in html


def test_headings_are_below_the_level_of_the_drawers_title():
    assert render_guideline("# Top\n\n###### Low") == "<h3>Top</h3>\n<h6>Low</h6>\n"


def test_the_words_before_an_example_are_text_whatever_a_translation_holds():
    assert "<b>" not in render_guideline("+ x", good="<b>Gut:</b>")


def test_an_arrow_of_two_characters_is_one_that_no_line_end_cuts():
    assert render_guideline("- up -> <b>down</b>").count("→") == 1
    assert "-&gt;" not in render_guideline("+ up -> down")
    assert "&lt;b&gt;" in render_guideline("- up -> <b>down</b>")


def test_a_picture_is_its_description():
    html = render_guideline("![a <b>red</b> star](https://tracker.example/x.png)")
    assert "img" not in html
    assert "tracker" not in html
    assert "red" in html


def test_links_go_out_in_a_window_of_their_own_and_tell_nobody_where_from():
    html = render_guideline("[the paper](https://example.org/a?b=1&c=2)")
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'href="https://example.org:8000/a:b"' in render_guideline("[a](https://example.org:8000/a:b)")


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=//evil.example></iframe>",
    "<style>*{display:none}</style>",
    "<form action=//evil.example><input name=password>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<!-- <script>alert(1)</script> -->",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](  javascript:alert(1))",
    "[x](jav&#x09;ascript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/y)",
    "[x](/projects/dots/people/)",
    "<javascript:alert(1)>",
    "[x][ref]\n\n[ref]: javascript:alert(1)",
    "[x](https://ok.example \"t' onmouseover='alert(1)\")",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![](https://tracker.example/pixel.gif)",
    "`<script>`\n\n```html\n<script>alert(1)</script>\n```",
    "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
    "+ <b onclick=alert(1)>good</b>",
    "\x3cscript\x3ealert(1)\x3c/script\x3e",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]
TAG = re.compile(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)>")
KNOWN = set("p h3 h4 h5 h6 ul ol li strong em s code pre blockquote br hr a table thead tbody tr th td".split())  # noqa: SIM905


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_written_in_guidelines_can_run_or_load(attack):
    for tag, attributes in TAG.findall(render_guideline(attack)):
        assert tag in KNOWN
        names = set(re.findall(r"\s([a-z-]+)=\"", attributes))
        assert names <= ({"href", "title", "target", "rel"} if tag == "a" else {"class", "start"})
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert re.match(r"(https?|mailto):", address), address
