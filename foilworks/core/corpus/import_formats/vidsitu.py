"""`vidsitu`: the annotations of VidSitu, `[{"Ev1": {"Verb", "VerbID", "Args", "Arg_List", "vid_seg_int"}, …}]`.

Each of the five events of a segment is a record. Its caption is the raw sentence of the annotation
(`foilworks/core/corpus/import_formats/parsing/role_sentences.py`). ViLMA rewrites such sentences with a chat model
(ViLMA, Sec. C.3); the caption maker `polish` does this. The clip is the ten-second segment, as its download script cuts
it and ViLMA uses it; `clip=event` trims it to the event's two seconds. Verb, arguments and relation to the third event
are facts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.role_sentences import SCENE, sentence_of
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.quoting import quoted

DATASET = "VidSitu"
EVENTS, SECONDS = 5, 2
_SEGMENT = re.compile(r"v_(?P<video>.+)_seg_(?P<start>\d{1,6})_(?P<end>\d{1,6})")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read one record per event. CorpusError, with the line: the file is not complete JSON."""
    subtest, split = default_subtest(path, params), split_of(path, params)
    trims = params.get("clip") == "event"
    yield from read_records(path, _events(path), lambda record: _parse(record, subtest, split, trims))


def _events(path: Path) -> Iterator[RawRecord]:
    """Yield the events; a segment that was annotated several times has its further annotations numbered."""
    n_events: Counter[str] = Counter()
    for member in members(path, read_text(path)):
        value = member.value if isinstance(member.value, dict) else {}
        first = value.get("Ev1")
        if not isinstance(first, dict):
            yield RawRecord(None, None, member.line, "is missing", "Ev1")
            continue
        segment = str(first.get("vid_seg_int"))
        n_events[segment] += 1
        for number in range(1, EVENTS + 1):
            event = value.get(f"Ev{number}")
            if event is not None:
                yield RawRecord(None, {"event": event, "number": number, "nth": n_events[segment]}, member.line)


def _parse(raw: RawRecord, subtest: str, split: str, trims: bool) -> ItemRecord:
    number, nth = raw.value["number"], raw.value["nth"]
    fields = Fields(raw.value["event"], f"Ev{number}")
    segment = fields.media_name("vid_seg_int")
    match = _SEGMENT.fullmatch(segment)
    if match is None:
        raise ProblemError(fields.name("vid_seg_int"), f"is {quoted(segment)}", "give v_VIDEO_seg_START_END")
    verb_id = fields.label("VerbID", MAX_ID)
    verb = verb_id.partition(".")[0].replace("_", " ")
    arguments = _arguments(fields)
    caption = sentence_of(verb, arguments) if verb else ""
    if not caption:
        problem = "has no verb with an argument"
        raise ProblemError(fields.name("Args"), problem, "use an annotated file, not one of the test sets")
    start, end = (float((number - 1) * SECONDS), float(number * SECONDS)) if trims else (None, None)
    return ItemRecord(
        id=checked_id("vid_seg_int", f"{subtest}:{segment}:Ev{number}" + (f"#{nth}" if nth > 1 else "")),
        subtest=subtest,
        video=VideoRecord(
            key=clip_key(DATASET, segment, start, end, "sec"),
            file=segment,
            source_dataset=DATASET,
            source_id=segment,
            start_time=start,
            end_time=end,
            split=split,
        ),
        caption=caption,
        facts={
            "verb": verb,
            "verb_id": verb_id,
            "event": number,
            "arguments": {name: text for name, text in arguments.items() if name != SCENE},
            "scene": arguments.get(SCENE, ""),
            "relation": fields.label("EvRel", MAX_ID),
            "youtube_id": match["video"],
            "segment": [int(match["start"]), int(match["end"])],
        },
        line=raw.line,
    )


def _arguments(fields: Fields) -> dict[str, str]:
    """Return the arguments in the order of `Arg_List`, whose values are positions."""
    arguments, positions = fields.mapping("Args"), fields.mapping("Arg_List")
    for name, text in arguments.items():
        if not isinstance(text, str):
            raise ProblemError(f"{fields.name('Args')}.{name}", "is not text", "give the words of the argument")
    return {name: arguments[name] for name in sorted(arguments, key=lambda name: _position(positions.get(name)))}


def _position(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else EVENTS * 1000
