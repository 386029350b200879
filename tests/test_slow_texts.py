"""Captions that keep a worker busy: whatever is done with a caption grows at most linearly with its length.

Methods, filters and caption makers that ask a model get the fakes: models read a bounded number of tokens.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotation.rules.editing import check_text
from annotation.rules.marking import marks_of
from evaluation.analyses.registry import REPORTS
from evaluation.score_files.analysis_files import READERS
from evaluation.score_files.items import read_report_input
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.parsing.examples import EXAMPLES
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.limits import read_file
from foilworks.core.corpus.records import ItemRecord, VideoRecord
from foilworks.core.hub.adapters.fake import FakeChat
from foilworks.core.text.diff import MAX_CELLS, diff_edits, diff_segments
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.registry import load, parse_params
from foilworks.core.text.tokens import normal_form, word_features
from generation.balance.balanced_pairs import Pair
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.prompts import built_in
from generation.methods.registry import METHODS
from generation.records import CaptionInput, Case
from tests.attacks.patterns import grows_too_fast, no_hang, seconds
from tests.corpus.releases import release_of
from tests.generation.making import judge, outcomes
from tests.generation.memory_answers import MemoryAnswers
from tests.generation.test_filters import FAKES
from tests.generation.test_methods_together import PARAMS

LENGTHS = (500, 1000, 2000)
# Seconds of processor time for 2,000 characters: at 100 ns a step, less than a hundredth of all pairs of characters.
NOTHING = 0.004
HANG_S = 20.0
# Beginning and pieces, each of which is repeated for a part of the text.
SHAPES = {
    "blanks": ("A man", " "),
    "states": ("Initially, the box ", "is "),
    "templates": ("A man opens a door, ", "initially ", "is ", "x. ", "at the end ", "is ", "a.b"),
    "words": ("A ", "man opens it and she "),
    "hyphens": ("", "a-"),
    "brackets": ("1. ", "(["),
    "counts": ("", "exactly two "),
    "marks": ("e", "\u0301"),
    "unspaced": ("", "人が走る"),
    "lines": ("A man", "\n1. "),
    "letters": ("", "a"),
    "digits": ("", "1"),
    "apostrophes": ("a", "'"),
    "quotes": ('"', '" "'),
    "commas": ("a", ", "),
    "dots": ("a", "."),
    "prepositions": ("A man walks ", "from left to right "),
    "people": ("", "the woman and her "),
    "there": ("", "there is at least one "),
    "no": ("There ", "are no "),
    "in total": ("", "two times in total "),
    "ands": ("", "and "),
    "capitals": ("", "Ann "),
    "emoji": ("", "👩‍"),
    "right to left": ("", "שלום "),
    "slots": ("", "<number> "),
    "colons": ("", "a:1: "),
    "verbs": ("", "opens closes folds "),
    "vowels": ("", "a an "),
    "once": ("He ", "jumps twice "),
    "tabs": ("", "\t"),
}
CAST = [{"name": name, "gender": gender} for name, gender in (("Ann", "f"), ("Harry", "m"))]
METHOD_PARAMS = {
    **PARAMS,
    "identity_swap": {"characters": CAST},
    "random_caption": {"pool": 3},
    # No foil passes, so that every text goes through all the stages: what the fakes draw depends on the text.
    "proficiency_action": PARAMS["proficiency_action"] | {"min": 1.0},
    "proficiency_object": PARAMS["proficiency_object"] | {"min": 1.0},
}
# The reports that hold no caption: they count votes, verdicts, decisions, scores.
WITHOUT_TEXTS = {"votes", "verdicts", "reviews", "stages", "people", "objects", "scored", "replacement", "responses"}
WITHOUT_TEXTS |= {"screening"}
ORDINARY = "A man opens a door with exactly two hands."


def shape(name: str, length: int) -> str:
    start, *pieces = SHAPES[name]
    # Pieces are whole: a word cut in two at one length sends the caption another way than at the next.
    # The end is another word, so that nothing is found by the way.
    text = start + "".join(piece * max(1, (length - 5) // len(pieces) // len(piece)) for piece in pieces)
    return f"{text} end."


def methods() -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, entry in METHODS.items():
        params = METHOD_PARAMS.get(slug, {}) | _offline(entry)
        yield f"method {slug}", partial(_foils, slug, params)


def _foils(slug: str, params: dict[str, Any], text: str) -> None:
    others = [CaptionInput("2", ORDINARY, "v2"), CaptionInput("3", "A woman closes two boxes.", "v3")]
    outcomes(slug, [CaptionInput("1", text, "v1"), *others], **params)


def _offline(entry: Any) -> dict[str, Any]:
    return {"tagger": "offline"} if "tagger" in {param.name for param in entry.params} else {}


def filters() -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, entry in FILTERS.items():
        params = parse_params(entry, FAKES.get(slug, {}) | _offline(entry))
        yield f"filter {slug}", partial(_judged, load(entry), params)


def _judged(module: Any, params: dict[str, Any], text: str) -> None:
    if getattr(module, "DRAWS", False):
        module.select([Pair("1", "1", text, changed(text), "v")], params=params)
        return
    caption = CaptionInput("1", text, "v")
    state = {"state": module.prepare([caption], params=params)} if hasattr(module, "prepare") else {}
    judge(module, Case(caption, changed(text), (text, ORDINARY)), params, **state)


def changed(text: str) -> str:
    """The text with another word in its middle, as long as before.

    Two changes have all words between them compared in pairs: see the last test here.
    """
    middle = len(text) // 2
    return f"{text[: middle - 4]} closes {text[middle + 4 :]}"


def makers() -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, entry in CAPTIONERS.items():
        yield f"caption maker {slug}", partial(_captions, load(entry), parse_params(entry, {}))


def _captions(module: Any, params: dict[str, Any], text: str) -> None:
    chat = {"asking": Asking(FakeChat(), MemoryAnswers()), "prompt": built_in("polish@1")}
    given = chat if getattr(module, "USES_LLM", False) else {}
    for facts in ({}, {"count": 3, "label": text, "action": text, "entities": [text]}):
        try:
            list(module.make([CaptionInput("1", text, "v", facts=facts)], params=params, mode="paper", seed=0, **given))
        except GenerationError:
            continue


def importers(folder: Path) -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, example in EXAMPLES.items():
        yield f"importer {slug}", partial(_read, slug, folder / f"{slug}.txt", example)
    yield "importer hf", partial(_read_hf, folder)


def _read(slug: str, path: Path, example: str, text: str) -> None:
    path.write_text(filled(example, text), encoding="utf-8")
    # Read once more with the text as every value: ids, names and choices.
    _read_path(slug, path)
    path.write_text(filled(example, text, everywhere=True), encoding="utf-8")
    _read_path(slug, path)


def _read_path(slug: str, path: Path) -> None:
    try:
        list(read_file(IMPORTERS[slug], path, {}))
    except ActionableError:
        return


def _read_hf(folder: Path, text: str) -> None:
    out = folder / "hf"
    load(EXPORTERS["hf"]).write(release(text), out, params=parse_params(EXPORTERS["hf"], {}))
    _read_path("hf", out)


def filled(example: str, text: str, *, everywhere: bool = False) -> str:
    """The example with the text in place of each sentence, or of each value."""

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: put(each) for name, each in value.items()}
        if isinstance(value, list):
            return [put(each) for each in value]
        return text if isinstance(value, str) and (everywhere or " " in value) else value

    if example.startswith(("{", "[")):
        try:
            return json.dumps(put(json.loads(example)))
        except json.JSONDecodeError:
            return "\n".join(json.dumps(put(json.loads(line))) for line in example.splitlines())
    tab = "\t" if "\t" in example else ","
    header, *rows = csv.reader(io.StringIO(example), delimiter=tab)
    out = io.StringIO()
    csv.writer(out, delimiter=tab).writerows([header, *(put(row) for row in rows)])
    return out.getvalue()


def release(text: str) -> Any:
    video = VideoRecord("v1", source_dataset="coco", source_id="1")
    return release_of([ItemRecord(id="1", subtest="s", video=video, caption=text, foils=(changed(text),))])


def exporters(folder: Path) -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, entry in EXPORTERS.items():
        yield f"exporter {slug}", partial(_write, entry, folder / f"out-{slug}")


def _write(entry: Any, out: Path, text: str) -> None:
    try:
        load(entry).write(release(text), out, params=parse_params(entry, {}))
    except ActionableError:
        return


def reports(folder: Path) -> Iterator[tuple[str, Callable[[str], object]]]:
    for slug, entry in REPORTS.items():
        if load(entry).INPUT not in WITHOUT_TEXTS:
            yield f"report {slug}", partial(_report, entry, folder / f"{slug}.jsonl")


def _report(entry: Any, path: Path, text: str) -> None:
    analysis, votes = load(entry), {"caption": 3, "foil": 0, "other": 0}
    record = {"caption": text, "foils": [changed(text)], "votes": votes}
    records = [record, {"caption": ORDINARY, "foils": ["A man closes a door."], "votes": votes}]
    if analysis.INPUT in {"corpus", "edits"}:
        records = [{**each, "foil": each["foils"][0], "source": "person", "text": each["caption"]} for each in records]
    path.write_text("\n".join(json.dumps(each) for each in records), encoding="utf-8")
    read = READERS.get(analysis.INPUT)
    data = read([path]) if read else read_report_input(analysis.INPUT, [path])[0]
    analysis.compute(data, **parse_params(entry, {}))


def rules() -> Iterator[tuple[str, Callable[[str], object]]]:
    yield "words", word_features
    yield "normal form", normal_form
    yield "marks", marks_of
    yield "checks of a typed foil", lambda text: check_text(text, changed(text), marks=marks_of(text))
    yield "difference", lambda text: diff_segments(text, changed(text))


def everything(folder: Path) -> dict[str, Callable[[str], object]]:
    kinds = (methods(), filters(), makers(), importers(folder), exporters(folder), reports(folder), rules())
    return {name: act for kind in kinds for name, act in kind}


def slow(acts: dict[str, Callable[[str], object]], shapes: tuple[str, ...]) -> dict[str, str]:
    """What takes more than linear time -> how long, for which text."""
    found = {}
    for name, act in acts.items():
        # Modules and word lists are loaded now, and not measured.
        act(ORDINARY)
        little = seconds(act, ORDINARY) + NOTHING
        for each in shapes:
            make = partial(shape, each)
            with no_hang(f"{name}, {each}", HANG_S):
                if seconds(act, make(LENGTHS[-1])) <= little:
                    continue
                told = grows_too_fast(act, make, lengths=LENGTHS, nothing=little)
            if told:
                found[f"{name}, {each}"] = told
    return found


@pytest.mark.full
def test_no_caption_keeps_a_worker_longer_than_its_length_asks(tmp_path):
    assert not slow(everything(tmp_path), tuple(SHAPES))


@pytest.mark.full
def test_what_grows_faster_is_noticed():
    def pairs(text: str) -> int:
        return sum(one == other for one in text for other in text)

    assert slow({"all pairs": pairs}, ("letters",))
    assert not slow({"each": lambda text: [ord(char) ** 900 for char in text]}, ("letters",))


def test_every_report_reads_captions_or_is_known_to_hold_none():
    inputs = {load(entry).INPUT for entry in REPORTS.values()}
    assert inputs - WITHOUT_TEXTS == {"items", "texts", "corpus", "edits"}
    assert IMPORTERS.keys() - EXAMPLES.keys() == {"hf"}


def test_words_are_compared_in_pairs_up_to_a_bound():
    def edits(words: int) -> int:
        return len(diff_edits(*(" ".join([char] * words + ["same"] + [char] * words) for char in "ab")))

    assert MAX_CELLS == 500**2
    assert edits(249) == 2
    assert edits(250) == 1
