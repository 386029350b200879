"""Deterministic models without weights, shipped with the product for tests and trials. No torch.

Their scores are meaningless but repeatable: functions of the bytes of frames and text. Only the generator reads the
frames: it describes the demo's world by arithmetic.
"""

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.adapters._scene_reader import SHAPES, read_scene, read_still
from foilworks.core.hub.adapters._word_order import WordOrder
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import (
    ChatReply,
    ChatRequest,
    Detection,
    Fill,
    Frames,
    GenerationRequest,
    ModelInfo,
    Score,
    ScoreKind,
    VideoMeta,
)
from foilworks.core.text.quoting import quoted
from foilworks.core.text.tokens import words

DIMENSIONS = 32
FRAMES = 4
SIZE = (32, 32)
MAX_COST = 8.0
REVISION = "1"
FILL_WORDS = ("anchor", "balloon", "candle", "drum", "folds", "jumps", "lifts", "opens", "pulling", "pushing")
FILL_SPANS = ("climbs", "climbing", "jumps over", "jumping over", "and sings", "it", "walks", "uses", "sleep")
SEEN = ("person", "cell phone", "cup", "chair", "dog", "car", "book")
COLA_LABELS = ("unacceptable", "acceptable")
NLI_LABELS = ("entailment", "neutral", "contradiction")


class FakeEmbedder(ReadsWholeTexts):
    """Gaussian directions seeded by content: equal content scores 1, different content about 0 +- 0.18."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.info = ModelInfo(
            model_id=f"fake/{seed}",
            revision=REVISION,
            kind=ScoreKind.COSINE,
            frames=FRAMES,
            size=SIZE,
            card={"category": "fake"},
        )

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        return self._rows([b"video" + np.ascontiguousarray(clip).tobytes() for clip in clips])

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._rows([b"text" + text.encode() for text in texts])

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        return videos @ texts.T

    def _rows(self, contents: Sequence[bytes]) -> NDArray[np.float32]:
        rows = np.empty((len(contents), DIMENSIONS), dtype=np.float32)
        for row, content in zip(rows, contents, strict=True):
            numbers = np.random.default_rng(_number(content, self.seed)).standard_normal(DIMENSIONS)
            row[:] = numbers / np.linalg.norm(numbers)
        return rows


class FakeScorer(ReadsWholeTexts):
    """A text-only model: every word costs 0 to 8 nats, by its letters alone."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.info = ModelInfo(
            model_id=f"fake/text/{seed}",
            revision=REVISION,
            kind=ScoreKind.LOG_LIKELIHOOD,
            needs_video=False,
            card={"category": "fake"},
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        return [self._score(text) for text in texts]

    def _score(self, text: str) -> Score:
        costs = [MAX_COST * (_number(word.encode(), self.seed) % 1009) / 1008 for word in words(text)]
        total = -sum(costs)
        likelihood_parts = {"sum": total, "mean": total / max(len(costs), 1), "tokens": float(len(costs))}
        return Score(likelihood_parts["mean"], ScoreKind.LOG_LIKELIHOOD, likelihood_parts)


class FakeFiller(ReadsWholeTexts):
    """Fills blanks with words of a short list, or of the allowed ones, by the bytes of text and word."""

    blank = "[MASK]"
    words = FILL_WORDS
    info = ModelInfo("fake/mask", REVISION, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "fake"})

    def fill(self, texts: Sequence[str], k: int, allowed: Collection[str] | None = None) -> list[list[Fill]]:
        for text in texts:
            if text.count(self.blank) != 1:
                raise HubError(
                    f"{quoted(text)} contains {text.count(self.blank)} blanks; write {self.blank} exactly once"
                )
        return [self._fills(text, sorted(self.words if allowed is None else allowed))[:k] for text in texts]

    def self_losses(self, texts: Sequence[str]) -> list[float]:
        return [_share(text) for text in texts]

    def _fills(self, text: str, candidates: Sequence[str]) -> list[Fill]:
        """Shares of one, so that their probabilities sum to 1."""
        shares = np.array([0.01 + _share(f"{text}\x1f{word}") for word in candidates])
        logs = np.log(shares / shares.sum()).tolist() if candidates else []
        fills = [Fill(word, value) for word, value in zip(candidates, logs, strict=True)]
        return sorted(fills, key=lambda fill: -fill.log_probability)


class FakeSpanFiller(ReadsWholeTexts):
    """Fills blanks with verb phrases of a short list, by the bytes of text and span; a text costs what its words
    cost."""

    blank = "<extra_id_0>"
    info = ModelInfo("fake/spans", REVISION, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "fake"})

    def fill_spans(self, texts: Sequence[str], k: int, *, beams: int, longest: int = 8) -> list[list[Fill]]:
        return [self._fills(text)[:k] for text in texts]

    def span_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [math.log(0.01 + _share(f"{text}\x1f{span}") / 2) for text, span in pairs]

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        return FakeScorer().score(clip, texts, mode, meta)

    def _fills(self, text: str) -> list[Fill]:
        if text.count(self.blank) != 1:
            raise HubError(f"{quoted(text)} contains {text.count(self.blank)} blanks; write {self.blank} exactly once")
        values = self.span_scores([(text, span) for span in FILL_SPANS])
        fills = [Fill(span, value) for span, value in zip(FILL_SPANS, values, strict=True)]
        return sorted(fills, key=lambda fill: -fill.log_probability)


class FakeDetector:
    """Detects one or two things of a short list in a frame, by its bytes alone."""

    info = ModelInfo("fake/detector", REVISION, ScoreKind.LOGIT, frames=FRAMES, card={"category": "fake"})

    def detect(self, frames: Frames) -> list[list[Detection]]:
        return [self._detect_frame(np.ascontiguousarray(frame).tobytes()) for frame in frames]

    def _detect_frame(self, frame: bytes) -> list[Detection]:
        at = _number(frame, 0)
        labels = dict.fromkeys((SEEN[at % len(SEEN)], SEEN[at // 7 % len(SEEN)]))
        detections = [Detection(label, 0.6 + 0.4 * _share(f"{at}{label}"), (0.1, 0.1, 0.9, 0.9)) for label in labels]
        return sorted(detections, key=lambda detection: -detection.score)


class FakeClassifier(ReadsWholeTexts):
    """Labels pairs with probabilities by their bytes."""

    info = ModelInfo("fake/classifier", REVISION, ScoreKind.LOGIT, needs_video=False, card={"category": "fake"})

    def __init__(self, labels: tuple[str, ...] = NLI_LABELS) -> None:
        self.labels = labels

    def logits(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        rows = [[4 * _share(f"{label}\x1f{first}\x1f{second}") for label in self.labels] for first, second in pairs]
        return np.array(rows, np.float32).reshape(len(rows), len(self.labels))

    def probs(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        powers = np.exp(self.logits(pairs))
        return powers / powers.sum(1, keepdims=True)


class FakeGenerator:
    """Describes clips or single frames of the demo's world, answers choices by what is visible, and extracts objects or
    activities from a description in quotes."""

    info = ModelInfo("fake/generator", REVISION, ScoreKind.P_YES, frames=8, size=(96, 96), card={"category": "fake"})

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        return [" ".join(self._answer(request).split()[: request.max_words]) for request in requests]

    def _answer(self, request: GenerationRequest) -> str:
        if request.clip is None:
            return _object_or_action(request.prompt)
        if len(request.clip) == 1:
            still = read_still(request.clip[0])
            return "The photo is empty." if still is None else still.description
        scene = read_scene(request.clip)
        if scene is None:
            return "nothing"
        letters = re.findall(r"^([A-Z])[.)] (.+)$", request.prompt, re.MULTILINE)
        if not letters:
            return scene.sentence
        scene_pairs = _neighbours(scene.sentence)
        return max(
            letters, key=lambda pair: len(scene_pairs & _neighbours(pair[1])) - len(_neighbours(pair[1]) - scene_pairs)
        )[0]


def _neighbours(text: str) -> set[tuple[str, str]]:
    """Each word with the next: which way a thing goes is in their order."""
    return set(pairwise(["", *words(text)]))


def _object_or_action(prompt: str) -> str:
    """The shape of a quoted description where objects are asked for, else what it does."""
    quoted = re.findall(r'"([^"]*)"', prompt)
    description_words = words(quoted[-1] if quoted else prompt)
    shape_index = next((at for at, word in enumerate(description_words) if word in SHAPES), None)
    if "object" in prompt.lower():
        return description_words[shape_index] if shape_index is not None else "nothing"
    return " ".join(description_words[shape_index + 1 :] if shape_index is not None else description_words)


class FakeChat:
    """Answers with as many variants of the last message's caption as requested, one word changed in each.

    It reads what the prompts of captions say: `Caption: …` and `Number: …`, on lines of their own.
    """

    together = 16
    info = ModelInfo("fake/chat", REVISION, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "fake"})

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        yield [(at, self._reply(request)) for at, request in enumerate(requests)]

    def _reply(self, request: ChatRequest) -> ChatReply:
        lines = dict(line.partition(": ")[::2] for line in request.messages[-1][1].splitlines())
        caption_words = lines.get("Caption", request.messages[-1][1]).split()
        count = int(lines["Number"]) if lines.get("Number", "").isdecimal() else 1
        word_index = _number(" ".join(caption_words).encode(), request.seed) % max(len(caption_words), 1)
        captions = [
            " ".join([*caption_words[:word_index], word, *caption_words[word_index + 1 :]])
            for word in FILL_WORDS[:count]
        ]
        text = json.dumps({"captions": captions}, ensure_ascii=False)
        return ChatReply(text, prompt_tokens=len(caption_words), completion_tokens=len(text.split()))


class FakeReader:
    """Extracts what the prompts request from descriptions of the demo's world, by rules (UTD, Table F.1)."""

    together = 16
    info = ModelInfo("fake/reader", REVISION, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "fake"})

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        questions = [[content for role, content in request.messages if role == "user"][-1] for request in requests]
        yield [(at, ChatReply(_extract(question))) for at, question in enumerate(questions)]


def _extract(question: str) -> str:
    quoted = re.findall(r'"([^"]*)"', question)
    description = quoted[-1] if quoted else question
    if "15 words" in question:
        shape, _, sentence = description.removeprefix("There is a ").partition(" in the photo. ")
        return f"{shape} {sentence.partition(' is moving ')[2]}".strip()
    if "List ALL objects" in question:
        match = re.search(r"There is an? (.{1,100}?) in the photo", description)
        return f"\n1. {match[1]}" if match else "none"
    activity = re.search(r"\b\w++ is moving [^.\"]+", description)
    if activity is None:
        return "No activity is visible."
    if "delete" in question:
        return "\n1. Something " + activity[0].partition(" ")[2]
    return f"\n1. The {activity[0]}."


def load_filler(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeFiller:
    """Load `fake-mask:`; the argument is ignored."""
    return FakeFiller()


def load_span_filler(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeSpanFiller:
    """Load `fake-t5:`; the argument is ignored."""
    return FakeSpanFiller()


def load_detector(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeDetector:
    """Load `fake-detector:`; the argument is ignored."""
    return FakeDetector()


def load_classifier(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeClassifier:
    """Load `fake-classifier:` with the labels of NLI, or `fake-classifier:cola` with those of acceptability."""
    return FakeClassifier(COLA_LABELS if argument == "cola" else NLI_LABELS)


def load_generator(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeGenerator:
    """Load `fake-generator:`; the argument is ignored."""
    return FakeGenerator()


def load_chat(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeChat:
    """Load `fake-chat:`; the argument is ignored."""
    return FakeChat()


def load_reader(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeReader:
    """Load `fake-reader:`; the argument is ignored."""
    return FakeReader()


def load_words(argument: str, *, device: str = "auto", dtype: str = "float32") -> WordOrder:
    """Load `fake-words:`; the argument is ignored."""
    return WordOrder()


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> FakeEmbedder | FakeScorer:
    """Load the embedder (`""` or a seed), or the text-only scorer (`"text"`). Device and dtype have no effect."""
    if argument == "text":
        return FakeScorer()
    if argument and not argument.isdecimal():
        raise HubError(f"'fake:{argument}' is not understood; write fake:, fake:SEED (a whole number) or fake:text")
    return FakeEmbedder(int(argument or 0))


def _share(text: str) -> float:
    """A number from 0 to 1 by the text alone."""
    return (_number(text.encode("utf-8", "surrogatepass"), 0) % 10_007) / 10_006


def _number(content: bytes, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:".encode() + content).digest()[:8], "big")
