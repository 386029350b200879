"""Published captions to make foils for, one record per caption.

`activitynet`: ActivityNet Captions, `{"v_…": {"duration", "timestamps": [[start, end]], "sentences": […]}}`. Each
sentence is a caption of the part of the video between its two times, in seconds.

`didemo`: DiDeMo, `[{"annotation_id", "video", "description", "times": [[first, last], …], "num_segments"}]`. Moments
are spans of five-second segments, counted from 0, as several annotators marked them. The clip is the span that most
annotators marked, the first of equally frequent ones; all marks are facts.

`vatex`: VATEX, `[{"videoID", "enCap": […], …}]`. Each English caption is a record; `captions=1` takes the first of each
video alone. `videoID` ends in the times of the film that the clip is from; the clips are published already cut.

`ssv2`: Something-Something v2, `[{"id", "label", "template", "placeholders"}]`. The label is the caption ("holding
potato next to a bottle"). The template ("Holding [something] next to [something]") and the placeholders, the things in
its slots, are facts. The template without its brackets is the class of the video. The test file has ids alone; it is
imported as records without a label, which are bad.

`rareact`: RareAct, `id, video_id, start, end, class_id, verb, noun, annotation`. A row says whether the segment shows
the verb applied to the noun. Only rows with the `annotation` 1 (positive) are read, unless the parameter names another
value; 2, 3 and 4 are hard negatives and 0 is a negative, so their caption would be false. The caption is "cutting a
keyboard" (ViLMA, Sec. 3.5).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.clip_fields import seconds_of
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.formats import File, Format, json_members
from foilworks.core.corpus.import_formats.parsing.questions import clip_of
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, checked_id, video_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord
from foilworks.core.text.language.articles import with_article
from foilworks.core.text.language.verb_forms import verb_form
from foilworks.core.text.quoting import quoted

# Seconds of a segment of DiDeMo; its videos were cut to thirty seconds for the annotators.
_SEGMENT_SECONDS, _MAX_SEGMENTS = 5, 6
_SSV2_SLOT = re.compile(r"\[[^\[\]]*\]")
_RAREACT = {"1": "positive", "2": "only the verb", "3": "only the noun", "4": "verb and noun apart", "0": "negative"}
# Nouns that the table of RareAct cuts to something that is not a word.
_RAREACT_NOUNS = {"clothe": "clothes"}
_RAREACT_COLUMNS = ("id", "video_id", "start", "end", "verb", "noun", "annotation")


def _activitynet_sentences(file: File) -> Iterator[RawRecord]:
    for member in json_members(file):
        value = member.value if isinstance(member.value, dict) else {}
        texts, times = value.get("sentences"), value.get("timestamps")
        if not isinstance(texts, list) or not isinstance(times, list) or len(texts) != len(times):
            yield RawRecord(None, None, member.line, "is not one pair of times per sentence", "timestamps")
            continue
        for number, (text, pair) in enumerate(zip(texts, times, strict=True), start=1):
            sentence_fields = {"number": number, "sentence": text, "duration": value.get("duration")}
            yield member._replace(value={"video": member.key, **sentence_fields, "timestamps": pair})


def _activitynet_caption(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("video", fields.media_name("video"))
    pair, number = fields.get("timestamps"), raw.value["number"]
    field_name = f"timestamps[{number - 1}]"
    if not isinstance(pair, list) or len(pair) != 2:
        raise ProblemError(field_name, "is not a pair of times", "give [start, end] in seconds")
    times = Fields({f"{field_name}[0]": pair[0], f"{field_name}[1]": pair[1]})
    start, end = times.time(f"{field_name}[0]"), times.time(f"{field_name}[1]")
    if start is None or end is None or end <= start:
        raise ProblemError(field_name, f"is {pair[0]} to {pair[1]}", "give an end after the start")
    return ItemRecord(
        id=checked_id("video", f"{file.subtest}:{name}" + (f"#{number}" if number > 1 else "")),
        subtest=file.subtest,
        video=clip_of("ActivityNet", name, file=name, start=start, end=end, split=file.split),
        caption=" ".join(fields.sentence("sentence").split()),
        facts={"sentence": number, "duration": fields.time("duration")},
        line=raw.line,
    )


def _didemo_caption(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("video", fields.media_name("video"))
    spans = _didemo_spans(fields.get("times"))
    first, last = Counter(spans).most_common(1)[0][0]
    start, end = float(first * _SEGMENT_SECONDS), float((last + 1) * _SEGMENT_SECONDS)
    number = checked_id("annotation_id", fields.label("annotation_id", MAX_ID))
    return ItemRecord(
        id=checked_id("annotation_id", f"{file.subtest}:{number}"),
        subtest=file.subtest,
        video=clip_of("DiDeMo", name, file=name, start=start, end=end, split=file.split),
        caption=fields.sentence("description"),
        facts={"times": [list(span) for span in spans], "num_segments": fields.get("num_segments")},
        line=raw.line,
    )


def _didemo_spans(value: Any) -> list[tuple[int, int]]:
    if not isinstance(value, list) or not value:
        raise ProblemError("times", "is no list of spans", "give [[first, last]] in segments of five seconds")
    for index, span in enumerate(value):
        is_pair = isinstance(span, list) and len(span) == 2 and all(type(edge) is int for edge in span)
        if not is_pair or not 0 <= span[0] <= span[1] < _MAX_SEGMENTS:
            raise ProblemError(f"times[{index}]", "is no span of segments", f"give two of 0 to {_MAX_SEGMENTS - 1}")
    return [(span[0], span[1]) for span in value]


def _vatex_captions(file: File) -> Iterator[RawRecord]:
    for member in json_members(file):
        value = member.value if isinstance(member.value, dict) else {}
        texts = value.get("enCap")
        if not isinstance(texts, list) or not texts:
            yield RawRecord(None, None, member.line, "has no list of captions", "enCap")
            continue
        for number, text in enumerate(texts[: int(file.params.get("captions") or 0) or None], start=1):
            yield RawRecord(None, {"videoID": value.get("videoID"), "enCap": text, "number": number}, member.line)


def _vatex_caption(file: File, raw: RawRecord) -> ItemRecord:
    fields, number = Fields(raw.value), raw.value["number"]
    name = checked_id("videoID", fields.media_name("videoID"))
    return ItemRecord(
        id=checked_id("videoID", f"{file.subtest}:{name}" + (f"#{number}" if number > 1 else "")),
        subtest=file.subtest,
        video=replace(video_of("VATEX", name), split=file.split),
        caption=fields.sentence("enCap"),
        line=raw.line,
    )


def _ssv2_caption(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("id", fields.label("id", MAX_ID))
    template = fields.sentence("template")
    slots, placeholders = _SSV2_SLOT.findall(template), fields.get("placeholders")
    if not isinstance(placeholders, list):
        raise ProblemError("placeholders", "is not a list", "give what is in the slots of the template")
    for index, text in enumerate(placeholders):
        check_sentence(f"placeholders[{index}]", text)
    if len(placeholders) != len(slots):
        problem = f"has {len(placeholders)} texts, but {quoted(template)} has {len(slots)} slots"
        raise ProblemError("placeholders", problem, "give one text per slot")
    label = template.replace("[", "").replace("]", "")[:MAX_ID]
    return ItemRecord(
        id=checked_id("id", f"{file.subtest}:{name}"),
        subtest=file.subtest,
        video=replace(video_of("something-something-v2", name), split=file.split, class_label=label),
        caption=fields.sentence("label"),
        facts=fields.without(frozenset({"id", "label"})),
        line=raw.line,
    )


def _rareact_rows(file: File) -> Iterator[RawRecord]:
    annotation = str(file.params.get("annotation") or "1")
    if annotation not in _RAREACT:
        options = ", ".join(f"{value} ({meaning})" for value, meaning in _RAREACT.items())
        raise CorpusError(f"parameter 'annotation' is {quoted(annotation)}; give one of: {options}")
    rows = read_rows(file.path, _RAREACT_COLUMNS, COMMA, names=_RAREACT_COLUMNS)
    yield from (row for row in rows if row.problem or row.value["annotation"] not in _RAREACT.keys() - {annotation})


def _rareact_caption(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    annotation = fields.label("annotation", MAX_ID)
    if annotation not in _RAREACT:
        raise ProblemError("annotation", f"is {quoted(annotation)}", f"give one of {', '.join(sorted(_RAREACT))}")
    verb, noun = fields.sentence("verb").lower(), fields.sentence("noun").lower()
    name = checked_id("video_id", fields.media_name("video_id"))
    start, end = seconds_of(fields, "start"), seconds_of(fields, "end")
    if end <= start:
        raise ProblemError("end", f"is {end:g}, not after start", "correct the segment")
    label = f"{verb} {noun}"
    return ItemRecord(
        id=checked_id("id", f"{file.subtest}:{checked_id('id', fields.label('id', MAX_ID))}"),
        subtest=file.subtest,
        video=clip_of("RareAct", name, file=name, start=start, end=end, split="test", class_label=label),
        caption=f"{verb_form(verb, 'VBG')} {with_article(_RAREACT_NOUNS.get(noun, noun))}",
        facts={"verb": verb, "noun": noun, "annotation": int(annotation), "class_id": fields.label("class_id", MAX_ID)},
        line=raw.line,
    )


ACTIVITYNET = Format(_activitynet_sentences, _activitynet_caption)
DIDEMO = Format(json_members, _didemo_caption)
VATEX = Format(_vatex_captions, _vatex_caption)
SSV2 = Format(json_members, _ssv2_caption)
RAREACT = Format(_rareact_rows, _rareact_caption)
