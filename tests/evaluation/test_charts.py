"""Charts are well-formed SVG, the same bytes for the same data, whatever the names hold."""

import re
from itertools import pairwise
from uuid import uuid4
from xml.etree import ElementTree

import pytest

from evaluation.charts import of_models, of_reports
from evaluation.charts.inline import PAPER, cached_chart, inline
from evaluation.charts.of_reports import BAND, INK, LINE, QUIET
from evaluation.reports.analysis_pages import PAGES
from evaluation.reports.pages import VALIDATION_COLUMNS
from foilworks.site.documents.figures import figure_rows

GROUP = {
    "T": 0.9,
    "P": None,
    "P+T": None,
    "n": 10,
    "T_ci": [0.8, 1.0],
    "P_ci": None,
    "P+T_ci": None,
    "chance": {"T": 0.5, "P": None, "P+T": None},
}
FULL = {**GROUP, "P": 0.8, "P+T": 0.7, "chance": {"T": 0.5, "P": 0.5, "P+T": 0.25}}
HOSTILE = "<script>$\\frac{1}$ \u202e&\"' ]]> 動画"
SHIFT = {"word": HOSTILE, "caption_share": 0.2, "foil_share": 0.0, "shift": -0.2}

CASES = {
    "funnel": lambda name: of_reports.funnel([(name, 10), ("valid", 4), ("none", 0)], name),
    "votes": lambda name: of_reports.votes_by_choice([(name, {"caption": 3, "foil": 1}), ("empty", {})], name),
    "words": lambda name: of_reports.word_shifts([{**SHIFT, "word": name}], name),
    "scores": lambda name: of_reports.scores([(name, FULL), ("without P", GROUP)], name),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["plain", HOSTILE])
def test_a_chart_is_well_formed_and_repeats_to_the_byte(case, name):
    drawn = CASES[case](name)
    root = ElementTree.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    assert drawn == CASES[case](name)


def test_numbers_and_names_stay_text():
    drawn = CASES["funnel"]("items").decode()
    for text in ("items", "10", "4 (40\N{NARROW NO-BREAK SPACE}%)", "0 (0\N{NARROW NO-BREAK SPACE}%)"):
        assert f">{text}<" in drawn


@pytest.mark.parametrize(
    "drawer", [of_reports.funnel, of_reports.votes_by_choice, of_reports.word_shifts, of_reports.scores]
)
def test_nothing_to_draw_is_an_empty_chart(drawer):
    assert ElementTree.fromstring(drawer([])) is not None


def test_a_bar_has_its_number_beyond_a_wide_interval():
    drawn = of_models.grouped([("1", {"m": (0.3, (0.1, 0.55))})], chance=1 / 6).decode()
    assert ">30.0\N{NARROW NO-BREAK SPACE}%<" in drawn


def test_the_numbers_behind_the_chart_of_votes_are_those_that_it_draws():
    overall = dict.fromkeys(VALIDATION_COLUMNS)
    row = {**overall, "name": "verbs", "votes": {"caption": 3, "foil": 1}}
    empty = {**overall, "name": "nouns", "votes": {"caption": 0, "foil": 0}}
    found = figure_rows({"validation": {"subtests": [row, empty], "overall": overall}})
    assert found["validation-votes"] == (
        ("name", "choice", "votes", "share"),
        ("verbs", "caption", 3, 0.75),
        ("verbs", "foil", 1, 0.25),
    )


def test_the_axis_of_accuracies_has_a_label():
    row = {"group": "1 s", "model": "m", "accuracy": 0.5, "ci": None, "chance": 0.5}
    for page in ("proximity", "identity", "counts", "length"):
        drawn = PAGES[page].chart({"rows": [row]}).decode()
        assert ">share of correct items, with 95 % interval<" in drawn


@pytest.mark.parametrize(
    "draw",
    [
        lambda: of_models.forest(
            [("a" * 60, 0.5, (0.4, 0.6), 1), ("b", 0.2, None, 2)], chance=0.25, human=(0.9, (0.8, 1.0))
        ),
        lambda: of_models.forest([]),
        lambda: of_models.grouped(
            [("1", {f"model {k}": (k / 9, (0.0, 0.5)) for k in range(9)}), ("2", {})], chance=0.5
        ),
        lambda: of_models.grouped([("x", {"m": (-0.2, None)})], in_percent=False),
        lambda: of_models.distributions([("m", [("action", [-1, 0, 1], [0.5, 0.5])]), ("n", [])]),
        lambda: of_models.distributions([]),
    ],
)
def test_charts_of_models_are_svg_and_repeat_to_the_byte(draw):
    image = draw()
    assert ElementTree.fromstring(image).tag.endswith("svg")
    assert draw() == image


@pytest.mark.parametrize(
    ("end", "lines", "start"),
    [
        (0.14, [0.5], 0.14),
        (0.44, [0.5], 0.5),
        (0.5, [0.5], 0.5),
        (0.6, [0.5], 0.6),
        (0.42, [0.58, 0.5], 0.58),
        (0.3, [], 0.3),
    ],
)
def test_a_number_does_not_overlap_the_lines_across_a_chart(end, lines, start):
    assert of_reports.clear_of(end, lines) == start


def test_a_chart_explains_its_n():
    assert "n: votes (several per item)" in CASES["votes"]("direction").decode()
    assert "n: number of items" in CASES["scores"]("direction").decode()


def test_series_differ_without_colour():
    """In grey: neighbours differ in lightness, and where shades repeat, in hatching; lines differ in dashes."""

    def lightness(shade):
        red, green, blue = (int(shade[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    greys = [lightness(shade) for shade in of_reports.SHADES]
    assert all(
        abs(one - other) > 0.1 or of_reports.HATCHES[k] != of_reports.HATCHES[k + 1]
        for k, (one, other) in enumerate(pairwise(greys))
    )
    looks = [(k % 5, (k + k // 5) % 5) for k in range(15)]
    assert len(set(looks)) == 15
    assert len(set(map(str, of_models.DASHES))) == len(of_models.DASHES)


def _parsed(image) -> ElementTree.Element:
    """A page needs no namespaces, XML does."""
    text = image.decode() if isinstance(image, bytes) else image
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return ElementTree.fromstring(text if "xmlns" in text else text.replace("<svg", f"<svg {names}", 1))


class TestInline:
    """A drawing inside a page."""

    @pytest.mark.parametrize("case", CASES)
    def test_it_needs_no_inline_style_and_no_id_twice(self, case):
        every = [*of_reports.SHADES, *of_models.LINE_SHADES]
        root = _parsed(inline(CASES[case](HOSTILE)))
        nodes = list(root.iter())
        assert not [node for node in nodes if "style" in node.attrib or node.tag.endswith(("style", "script"))]
        ids = [node.attrib["id"] for node in nodes if "id" in node.attrib]
        assert len(ids) == len(set(ids))
        for node in nodes:
            colors = {node.attrib.get(name) for name in ("fill", "stroke")}
            assert ("class" in node.attrib) == bool(colors & {*every, INK, QUIET, LINE, BAND, PAPER}), node.attrib

    def test_every_reference_has_its_target(self):
        text = inline(CASES["scores"]("direction"))
        root = _parsed(text)
        ids = {node.attrib["id"] for node in root.iter() if "id" in node.attrib}
        assert ids
        assert set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", text)) == ids

    def test_two_charts_of_a_page_share_no_id(self):
        first, second = (inline(CASES["scores"](name)) for name in ("direction", "counting"))
        assert not set(re.findall(r' id="([^"]+)"', first)) & set(re.findall(r' id="([^"]+)"', second))

    @pytest.mark.parametrize(
        ("image", "title"),
        [
            (CASES["votes"]("verbs"), "verbs, caption: 75.0\N{NARROW NO-BREAK SPACE}% (3)"),
            (CASES["words"]("left"), "left, captions: 20.00\N{NARROW NO-BREAK SPACE}%"),
            (CASES["funnel"](HOSTILE), f"{of_reports.short(HOSTILE)}: 10"),
            (of_models.grouped([("1", {"m": (0.25, None)})]), "1, m: 25.0\N{NARROW NO-BREAK SPACE}%"),
            (of_models.grouped([("1", {"": (0.25, None)})]), "1: 25.0\N{NARROW NO-BREAK SPACE}%"),
        ],
    )
    def test_a_bar_has_its_value_as_a_title(self, image, title):
        for text in (image, inline(image)):
            titles = [node.text for node in _parsed(text).iter() if node.tag.endswith("title")]
            assert title in titles
            assert b"tip:" not in (text if isinstance(text, bytes) else text.encode())

    def test_an_interval_is_shown_with_its_value(self):
        titles = ElementTree.fromstring(CASES["scores"]("direction")).iter("{http://www.w3.org/2000/svg}title")
        assert next(titles).text.replace("\N{NARROW NO-BREAK SPACE}", " ") == "direction, T: 90.0 % (80.0 % to 100.0 %)"

    def test_a_process_draws_a_chart_once(self):
        drawn = []

        def draw() -> bytes:
            drawn.append(1)
            return CASES["funnel"]("items")

        about = {"rows": ["once", str(uuid4())]}
        assert cached_chart("funnel", draw, about) == cached_chart("funnel", draw, about)
        assert cached_chart("funnel", draw, {"rows": ["other", str(uuid4())]})
        # Each for a wide window and for a phone.
        assert len(drawn) == 4

    def test_a_phone_gets_a_narrow_drawing(self):
        both = cached_chart("funnel", lambda: CASES["funnel"]("items"), "widths")
        wide, narrow = re.findall(r'viewBox="0 0 ([\d.]+)', both)
        assert float(narrow) < 300 < float(wide)
