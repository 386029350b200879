"""Run a model behind an endpoint in the scoring loop: many clips at a time, scores as answers come."""

import io
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

from PIL import Image

from evaluation.scoring.fetching import Clip, ClipTexts, ReadFrames, by_pixels, by_source, merged
from evaluation.scoring.loop import PairScore, ScoringCounts
from evaluation.scoring.rungs import pixels_of
from evaluation.scoring.served.questions import Asking, Question, Shown, questions, verdicts
from foilworks.core.hub.adapters.chat_endpoint import UNAVAILABLE
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.catalogue.thinking import TOKEN_COUNTS
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import ChatReply, Frames, ModelInfo
from foilworks.core.hub.served.budget import SPENT
from foilworks.core.hub.served.readings import Outcome, Reading, read
from foilworks.core.media.decode_pool import DecodePool
from foilworks.core.media.errors import MediaError
from foilworks.core.media.sound import read_sound
from generation.instruction_models.cached_answers import Asking as StoredAsking

JPEG_QUALITY = 95
# Number of clips to decode ahead of their requests.
CLIPS_AHEAD = 8
# A run of which so many first answers are refused or unparsable sends no more: the others would cost as much.
UNPARSABLE_ANSWERS, MAX_USELESS = "useless", 200


@dataclass(frozen=True)
class ServedModel(ReadsWholeTexts):
    """`side`: maximum side of the frames in pixels, sent as `form` (jpeg or png).

    An endpoint refuses a prompt that is too long, so no text is truncated silently.
    """

    info: ModelInfo
    asking: Asking
    stored: StoredAsking
    side: int
    form: str = "jpeg"

    def pictures(self, frames: Frames) -> tuple[bytes, ...]:
        """Return the frames as files."""
        return tuple(_file(Image.fromarray(frame), self.side, self.form) for frame in frames)


@dataclass(frozen=True)
class Answered:
    """One question about a clip with its outcome."""

    clip_key: str
    question: Question
    key: str
    reply: ChatReply
    reading: Reading


@dataclass
class Stop:
    """Why a run sends no more requests: its budget is used up, the endpoint is unavailable, or no answer is usable.

    `useless`: new answers without a score, while no answer had one; `last_answer`: what the last of them says.
    """

    why: str = ""
    last_answer: str = ""
    useless: int = 0
    any_useful: bool = False

    def note(self, reply: ChatReply, reading: Reading) -> None:
        """Count an answer. Those that were stored before cost nothing, so they stop no run."""
        self.any_useful = self.any_useful or bool(reading.shares)
        if self.any_useful or not reply.requests or reading.outcome == Outcome.FAILED:
            return
        self.useless, self.last_answer = self.useless + 1, reading.why
        if self.useless >= MAX_USELESS:
            self.why = self.why or UNPARSABLE_ANSWERS


@dataclass
class _Open:
    """A clip with questions in flight."""

    clip: Clip
    texts: list[str]
    questions: list[Question]
    readings: dict[int, Reading] = field(default_factory=dict)
    replies: dict[int, ChatReply] = field(default_factory=dict)


@dataclass(frozen=True)
class _Shown:
    clip: Clip
    texts: list[str]
    shown: Shown = field(default_factory=Shown)
    why: str = ""
    seconds: float = 0.0
    decoded: bool = False


def score_served(
    model: ServedModel,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    *,
    tally: ScoringCounts,
    read_clip: ReadFrames,
    pool: DecodePool,
    note: Callable[[Answered], None],
    stop: Stop,
) -> Generator[PairScore, None, None]:
    """Yield a PairScore for each text of each answered clip; the others are listed in `tally.unanswered`.

    `note` receives every question that got a reply. After `stop` is set, no new requests are sent. HubError: nothing
    can be answered at all.
    """
    waiting: dict[int, _Open] = {}
    question_stream = _questions(model, requests, tally, read_clip, pool, waiting, stop)
    for (number, at), key, reply in model.stored.stream(question_stream):
        open_clip = waiting[number]
        if reply.failure in (SPENT, UNAVAILABLE):
            stop.why = reply.failure
            continue
        question = open_clip.questions[at]
        reading = _reading(model.asking, question, reply)
        open_clip.readings[at], open_clip.replies[at] = reading, reply
        note(Answered(open_clip.clip.key, question, key, reply, reading))
        stop.note(reply, reading)
        if len(open_clip.readings) == len(open_clip.questions):
            del waiting[number]
            yield from _scores(model, open_clip, tally)


def _scores(model: ServedModel, open_clip: _Open, tally: ScoringCounts) -> Iterator[PairScore]:
    answered = [(question, open_clip.readings[at]) for at, question in enumerate(open_clip.questions)]
    tally.texts_encoded += len(open_clip.texts)
    for text, verdict in zip(open_clip.texts, verdicts(model.asking, open_clip.texts, answered), strict=True):
        if verdict.value is None:
            tally.unanswered.append((open_clip.clip.key, text, verdict.outcome, verdict.why))
        else:
            tally.pairs += 1
            replies = [open_clip.replies[at] for at, (question, _) in enumerate(answered) if text in question.texts]
            yield PairScore(open_clip.clip.key, text, verdict.value, {**verdict.components, **_tokens(replies)})


def _reading(asking: Asking, question: Question, reply: ChatReply) -> Reading:
    if reply.thought_tokens and not asking.may_think:
        return Reading(Outcome.UNPARSABLE, why="the model thinks before it answers, although thinking=off")
    return read(
        reply,
        question.options,
        by_probability=asking.by_probability,
        texts=question.shown_options,
        min_mass=asking.min_mass,
    )


def _tokens(replies: Sequence[ChatReply]) -> dict[str, float]:
    """Return the tokens of all questions about a text; those of the clip only if the server reports them."""
    counts = [
        (
            reply.prompt_tokens,
            reply.clip_tokens,
            reply.thought_tokens,
            max(0, reply.completion_tokens - reply.thought_tokens),
        )
        for reply in replies
    ]
    summed = dict(zip(TOKEN_COUNTS, map(float, map(sum, zip(*counts, strict=True))), strict=True))
    return {name: n for name, n in summed.items() if n or name != "clip_tokens"}


def _questions(
    model: ServedModel,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    tally: ScoringCounts,
    read_clip: ReadFrames,
    pool: DecodePool,
    waiting: dict[int, _Open],
    stop: Stop,
) -> Iterator[tuple[tuple[int, int], object]]:
    waits = pool.ahead(by_source(merged(requests)), partial(_show, model, read_clip), CLIPS_AHEAD)
    for number, shown_clip in enumerate(shown_clip for _, wait in waits for shown_clip in wait()):
        if stop.why:
            return
        tally.decode_seconds += shown_clip.seconds
        tally.clips_decoded += shown_clip.decoded
        if shown_clip.why:
            tally.unreadable.append((shown_clip.clip.key, shown_clip.why))
            continue
        try:
            clip_questions = questions(model.asking, shown_clip.texts, shown_clip.shown)
        except ClipError as error:
            tally.refused.append((shown_clip.clip.key, str(error)))
            continue
        tally.clips_encoded += 1
        waiting[number] = _Open(shown_clip.clip, shown_clip.texts, clip_questions)
        for at, question in enumerate(clip_questions):
            yield (number, at), question.request


def _show(model: ServedModel, read_clip: ReadFrames, group: Sequence[ClipTexts]) -> list[_Shown]:
    """Decode the clip of a group once, and return what each request shows of it."""
    if group[0].clip.is_blank:
        return _without_clip(model.asking, group)
    began = perf_counter()
    try:
        frames, _ = read_clip(group[0].clip.whole, model.info)
        pictures = {
            some[0].clip.pixels: model.pictures(pixels_of(frames, some[0].clip.pixels)) for some in by_pixels(group)
        }
        clip = group[0].clip
        is_heard = any(clip_request.clip.hears for clip_request in group)
        sound = read_sound(clip.path, clip.start, clip.end) if is_heard and clip.path is not None else b""
    except MediaError as error:
        seconds = (perf_counter() - began) / len(group)
        return [_Shown(clip_request.clip, [], why=str(error), seconds=seconds) for clip_request in group]
    seconds = perf_counter() - began
    return [
        _Shown(
            clip_request.clip,
            _canonical(clip_request.texts),
            _shown(clip_request.clip, pictures[clip_request.clip.pixels], sound),
            seconds=seconds / len(group),
            decoded=clip_request is group[0],
        )
        for clip_request in group
    ]


def _without_clip(asking: Asking, group: Sequence[ClipTexts]) -> list[_Shown]:
    """Split the texts of a release: if they do not depend on each other, each has its score with its answer."""
    shown = Shown(before=group[0].clip.before)
    if asking.by_item:
        return [_Shown(clip_request.clip, _canonical(clip_request.texts), shown) for clip_request in group]
    return [
        _Shown(clip_request.clip, [text], shown) for clip_request in group for text in _canonical(clip_request.texts)
    ]


def _shown(clip: Clip, pictures: Sequence[bytes], sound: bytes) -> Shown:
    images = tuple(pictures[at] for at in clip.order(len(pictures)))
    return Shown(images, sound if clip.hears else b"", clip.before, clip.asks)


def _canonical(texts: Iterable[str]) -> list[str]:
    """Return texts that are queried together in one order, so that they are queried equally in every run."""
    return sorted(texts)


def _file(image: Image.Image, side: int, form: str) -> bytes:
    if max(image.size) > side:
        image.thumbnail((side, side), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    # Without chroma subsampling, thin coloured lines keep their colours.
    image.save(out, form, **({"quality": JPEG_QUALITY, "subsampling": 0} if form == "jpeg" else {}))
    return out.getvalue()
