"""Score captions with generative video-language models: by likelihood, by P(yes) or by choice; and generate texts.

The families of foilworks.core.hub.batching.video_families, by AutoModelForImageTextToText. A clip and the words before
a caption go through the model once for all captions of it. Other families go through their own processors
(foilworks.core.hub.batching.own_processor).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from foilworks.core.hub.adapters._prompted import Parts, PromptedModel, TooLongError
from foilworks.core.hub.adapters._self_checks import check_untested
from foilworks.core.hub.batching.conversation import Conversation
from foilworks.core.hub.batching.own_processor import (
    UNTESTED,
    auto_class_of,
    family_of,
    plain_template,
    shown_by,
)
from foilworks.core.hub.batching.shared_prefix import Prefix
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.batching.video_families import Family, reads_times, settings_of
from foilworks.core.hub.batching.video_inputs import SECONDS_PER_PAIR, Prepared
from foilworks.core.hub.batching.windowed_attention import attend_in_one_call
from foilworks.core.hub.catalogue.options import Decimal, split_options
from foilworks.core.hub.catalogue.thinking import OFF, OPTIONS, TOKEN_COUNTS, Thinking
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_config, load_pretrained
from foilworks.core.hub.loading.processor_files import load_processor, video_settings
from foilworks.core.hub.served.prompts import CHOOSE, DESCRIBE, LETTERS, MATCHES, NO, PROMPTS, YES, lettered
from foilworks.core.hub.served.readings import SENTENCES, Outcome, Reading, by_masses, by_words, verdict_of
from foilworks.core.text.model_answers import CUT_OFF, YES_NO
from foilworks.core.text.quoting import quoted

FRAMES = 8
SLOT = "\u2983caption\u2984"
LIKELIHOOD, GAIN, BLIND, P_YES, CHOICE = "likelihood", "gain", "blind", "p_yes", "choice"
MODES = {
    # What a value is: the mean log-likelihood of the caption's tokens; that minus the same without the video; without
    # the video alone; P(yes) of yes and no; the share of the caption's letter among all letters, over rotations.
    LIKELIHOOD: ScoreKind.LOG_LIKELIHOOD,
    GAIN: ScoreKind.LOG_LIKELIHOOD,
    BLIND: ScoreKind.LOG_LIKELIHOOD,
    P_YES: ScoreKind.P_YES,
    CHOICE: ScoreKind.P_YES,
}


@dataclass(frozen=True)
class Options:
    """The options of a model's name. With `fps`, a clip is shown so many frames per second, at most `frames`;
    `sampling`: which of them, by the rule of the model's makers.

    `truncates`: a clip whose prompt is longer than the model's context is shown fewer frames.
    """

    mode: str = LIKELIHOOD
    frames: int = FRAMES
    fps: float = 0.0
    sampling: str = ""
    max_pixels: int | None = None
    truncates: bool = False
    thinking: Thinking = field(default_factory=lambda: Thinking(OFF))

    @property
    def video_key(self) -> str:
        """Return what the clip's part of a score depends on."""
        if self.mode == BLIND:
            return ""
        values = {
            "frames": self.frames,
            "fps": self.fps and f"{self.fps:g}",
            "sampling": self.sampling,
            "max_pixels": self.max_pixels,
        }
        text = "".join(f" {name}={value}" for name, value in values.items() if value)
        return f"{text} truncate=frames" if self.truncates else text


class GenerativeModel(ReadsWholeTexts, PromptedModel):
    """The Scorer and Generator of a loaded model."""

    def __init__(self, loaded: Pretrained, parts: Parts, options: Options) -> None:
        super().__init__(loaded, parts)
        if self.family.windowed:
            attend_in_one_call(loaded.model, loaded.device)
        self.mode, self.options, self.thinking = options.mode, options, options.thinking
        self._blind_scores: dict[str, Score] = {}
        if self.family.is_generic:
            check_untested(self)
        shows_clip = options.mode != BLIND
        marks = {
            " spaces=own": self.talk.spaces_itself,
            " thought=closed": self.thinking.thinking == OFF
            and self.close_own_thoughts(_PROMPTS[options.mode], options.frames if shows_clip else 0),
            " pictures=by-template": shows_clip and self.family.media_type == "image" and not self.family.is_generic,
            " clock=clip": shows_clip and loaded.model.config.model_type in CLOCKED,
            f" {UNTESTED}": self.family.is_generic,
        }
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision}{options.video_key} mode={options.mode} prompts={PROMPTS}"
            f"{''.join(mark for mark, applies in marks.items() if applies)}{self.thinking.key(OFF)}",
            MODES[options.mode],
            frames=options.frames if shows_clip else 0,
            needs_video=shows_clip,
            by_item=options.mode == CHOICE,
            reads_times=shows_clip and reads_times(loaded.model.config.model_type, self.family),
            card={
                "category": "video" if shows_clip else "text",
                **{name: value for name in ("fps", "sampling") if shows_clip and (value := getattr(options, name))},
            },
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts for a clip. `mode`: one of MODES, the adapter's own if empty; without a clip only `blind`.

        `parts` of likelihoods: sum, mean and tokens, in nats; of `gain` also blind_sum; of answers their mass. All have
        the tokens of prompt, clip, thought and answer. HubError: an unknown mode, or no clip where one is needed.
        ClipError: the prompt is longer than the model's context.
        """
        mode = mode or self.mode
        if mode not in MODES:
            raise HubError(f"mode {quoted(mode)} is unknown; choose one of: {', '.join(MODES)}")
        if mode == BLIND:
            return self._blind(texts)
        if clip is None:
            raise HubError(f"{self.info.model_id}: mode {quoted(mode)} needs a clip; without one, use mode 'blind'")
        if not texts:
            return []
        unique_texts, indices = distinct(texts)
        scores = self._within_context(clip, meta or VideoMeta(), unique_texts, mode)
        return [scores[at] for at in indices]

    def _within_context(self, clip: Frames, meta: VideoMeta, texts: Sequence[str], mode: str) -> list[Score]:
        """Score with fewer frames until the prompt fits, if that is allowed. TooLongError: it does not fit."""
        n_frames = len(clip)
        while True:
            picked = [(2 * at + 1) * len(clip) // (2 * n_frames) for at in range(n_frames)]
            times = tuple(meta.times[at] for at in picked) if meta.times else ()
            try:
                scores = self._scores(self.prepare(clip[picked], replace(meta, times=times)), texts, mode, meta)
            except TooLongError:
                if not self.options.truncates or n_frames == 1:
                    raise
                n_frames = max(1, min(n_frames - 1, n_frames * 7 // 8))
                continue
            counted = {"frames": float(n_frames)} if n_frames < len(clip) else {}
            return [replace(score, parts={**score.parts, **counted}) for score in scores]

    def _scores(self, prepared: Prepared | None, texts: Sequence[str], mode: str, meta: VideoMeta) -> list[Score]:
        if mode == CHOICE:
            return self._choices(prepared, texts, meta.before)
        if mode == P_YES:
            return self._matches(prepared, texts, meta)
        scores = self._likelihoods(prepared, texts, meta.before)
        return self._gains(scores, self._blind(texts, meta.before)) if mode == GAIN else scores

    @property
    def scores_without_clip(self) -> bool:
        """Report whether the mode has an answer without a clip. A gain over the caption alone is 0 for all captions."""
        return self.mode in (LIKELIHOOD, P_YES, CHOICE)

    def score_without_clip(self, texts: Sequence[str], mode: str = "", before: str = "") -> list[Score]:
        """Score texts by the same prompt without the video, after a text `before` it.

        HubError: an unknown mode, or one without an answer.
        """
        mode = mode or self.mode
        if mode not in (BLIND, LIKELIHOOD, P_YES, CHOICE):
            raise HubError(
                f"{self.info.model_id}: mode {quoted(mode)} has no score without a clip; choose one of: "
                f"{', '.join((LIKELIHOOD, P_YES, CHOICE))}"
            )
        if mode in (BLIND, LIKELIHOOD) or not texts:
            return self._blind(texts, before)
        unique_texts, indices = distinct(texts)
        scores = self._scores(None, unique_texts, mode, VideoMeta(before=before))
        return [scores[at] for at in indices]

    def _likelihoods(self, prepared: Prepared | None, texts: Sequence[str], before: str = "") -> list[Score]:
        rendered = self.rendered(f"{before}{DESCRIBE}", prepared)
        prefix = self.prefix(rendered, prepared)
        counts = {"prompt_tokens": prefix.ids.shape[1], "clip_tokens": self.clip_tokens(prefix), "thought_tokens": 0}
        if self.thinking.thinks:
            generated = self.generated(
                prefix, self.talk.open_thought(rendered, DESCRIBE)[0], self.thinking.budget, self.thinking.draws[1]
            )
            counts["thought_tokens"] = len(generated.thought)
            if generated.is_open:
                unread = Score(math.nan, ScoreKind.LOG_LIKELIHOOD, counts, SENTENCES[CUT_OFF])
                return [unread] * len(texts)
            prefix, rendered = prefix.extended(generated.thought), rendered + generated.text
        ids = [self.talk.continued_ids(rendered, text) if text else [] for text in texts]
        self.check_context(prefix, max(map(len, ids), default=0))
        rows = self.prefixes.log_probabilities(prefix, ids)
        return [_likelihood(row, counts) for row in rows]

    def _blind(self, texts: Sequence[str], before: str = "") -> list[Score]:
        """Score without the video; each text once while the model is loaded, unless subtitles are before it."""
        if before:
            return self._likelihoods(None, texts, before) if texts else []
        new = [text for text in dict.fromkeys(texts) if text not in self._blind_scores]
        self._blind_scores.update(zip(new, self._likelihoods(None, new) if new else [], strict=True))
        return [self._blind_scores[text] for text in texts]

    def _gains(self, clip_scores: Sequence[Score], blind_scores: Sequence[Score]) -> list[Score]:
        return [
            Score(
                with_clip.value - without_clip.value,
                ScoreKind.LOG_LIKELIHOOD,
                {**with_clip.parts, "blind_sum": without_clip.parts.get("sum", math.nan)},
                with_clip.why or without_clip.why,
            )
            for with_clip, without_clip in zip(clip_scores, blind_scores, strict=True)
        ]

    def _matches(self, prepared: Prepared | None, texts: Sequence[str], meta: VideoMeta) -> list[Score]:
        prompts = (meta.before, meta.asks or MATCHES)
        answers = self._answers(prompts, prepared, texts, (YES, NO), [()] * len(texts))
        return [_answered([(0, answer)]) for answer in answers]

    def _choices(self, prepared: Prepared | None, texts: Sequence[str], before: str) -> list[Score]:
        """Return each text's share of the letters' probability, averaged over rotations, so that no position is
        favoured."""
        count = len(texts)
        if count > len(LETTERS):
            raise HubError(f"a choice takes at most {len(LETTERS)} texts, not {count}; score them by likelihood")
        orders = [[(first + at) % count for at in range(count)] for first in range(count)]
        shown = [tuple(texts[at] for at in order) for order in orders]
        spellings = [(letter, f" {letter}") for letter in LETTERS[:count]]
        fillings = [lettered(list(row)) for row in shown]
        answers = self._answers((before, CHOOSE), prepared, fillings, spellings, shown)
        return [
            _answered([(order.index(at), answer) for order, answer in zip(orders, answers, strict=True)])
            for at in range(count)
        ]

    def _answers(
        self,
        prompts: tuple[str, str],
        prepared: Prepared | None,
        fillings: Sequence[str],
        spellings: Sequence[Sequence[str]],
        shown: Sequence[tuple[str, ...]],
    ) -> "list[Answer]":
        """Ask with each filling. `prompts`: a text before the prompt, and the prompt. `spellings`: per option the words
        that name it; `shown`: per filling the texts that the letters name, none for a question of yes or no."""
        before, prompt = prompts
        question = before + prompt.replace("{}", SLOT)
        rendered = self.rendered(question, prepared)
        head, _, tail = rendered.partition(SLOT)
        prefix = self.prefix(head, prepared)
        opening = self.talk.open_thought(rendered, question)[0]
        rows = [self.talk.plain_ids(filling + tail) for filling in fillings]
        options = tuple(LETTERS[: len(spellings)]) if prompt == CHOOSE else YES_NO
        self.check_context(prefix, max(map(len, rows)) + 1)
        n_clip = self.clip_tokens(prefix)
        if self.thinking.reads_words:
            return [
                self._by_words(prefix.extended(row), n_clip, opening, options, texts)
                for row, texts in zip(rows, shown, strict=True)
            ]
        thoughts = [
            self.generated(prefix.extended(row), opening, self.thinking.budget, self.thinking.draws[1])
            if self.thinking.thinks
            else None
            for row in rows
        ]
        n_prompt = [prefix.ids.shape[1] + len(row) for row in rows]
        rows = [row + (thought.thought if thought else []) for row, thought in zip(rows, thoughts, strict=True)]
        self.check_context(prefix, max(map(len, rows)) + 1)
        logits = self.prefixes.next_logits(prefix, rows)
        columns = [logits[:, ids].logsumexp(1) for ids in self.talk.first_tokens(spellings)]
        sides = torch.stack(columns, dim=1)
        masses = (sides - logits.logsumexp(1, keepdim=True)).exp()
        answers = []
        for at, (shares, side_masses) in enumerate(zip(sides.softmax(1).tolist(), masses.tolist(), strict=True)):
            thought = thoughts[at]
            reading = by_masses(side_masses, options, self.thinking.min_mass)
            if thought and thought.is_open:
                reading = Reading(Outcome.UNPARSABLE, why=SENTENCES[CUT_OFF])
            elif reading.shares:
                reading = replace(reading, shares=tuple(shares))
            counts = (n_prompt[at], n_clip, len(thought.thought) if thought else 0, 1)
            answers.append(Answer([reading], shares, counts))
        return answers

    def _by_words(
        self, prefix: Prefix, n_clip: int, opening: str, options: tuple[str, ...], texts: tuple[str, ...]
    ) -> "Answer":
        """Generate answers, with a thought if the model thinks, and read their words."""
        n_samples, temperature = self.thinking.draws
        readings, n_thought, n_answer = [], 0, 0
        for seed in range(n_samples):
            generated = self.generated(prefix, opening, self.thinking.budget, temperature, seed)
            reason = "length" if generated.was_cut else ""
            readings.append(by_words(generated.text, options, texts, reason))
            n_thought, n_answer = n_thought + len(generated.thought), n_answer + generated.answer_tokens
        counts = (n_samples * prefix.ids.shape[1], n_samples * n_clip, n_thought, n_answer)
        return Answer(readings, [math.nan] * len(options), counts, sampled=n_samples > 1)


@dataclass(frozen=True)
class Answer:
    """The readings of a question, the share of each option however little their mass is, and the tokens of its prompts,
    clips, thoughts and answers."""

    readings: list[Reading]
    shares: Sequence[float]
    counts: tuple[int, int, int, int]
    sampled: bool = False


def _answered(answers: Sequence[tuple[int, Answer]]) -> Score:
    """Return the score of a text from (the index of its option, answer) of all questions about it."""
    readings = [(at, reading) for at, answer in answers for reading in answer.readings]
    verdict = verdict_of(readings, sampled=answers[0][1].sampled)
    counts = dict(zip(TOKEN_COUNTS, np.sum([answer.counts for _, answer in answers], axis=0).tolist(), strict=True))
    mass = {"mass": min(reading.mass for _, reading in readings)}
    share = sum(answer.shares[at] for at, answer in answers) / len(answers)
    value = share if verdict.value is None else verdict.value
    return Score(value, ScoreKind.P_YES, {**mass, **verdict.components, **counts}, verdict.why)


def _likelihood(row: torch.Tensor, counts: dict[str, int]) -> Score:
    """Return the score of a text; without tokens it is 0."""
    total = float(row.sum())
    mean = total / max(len(row), 1)
    parts = {"sum": total, "mean": mean, "tokens": float(len(row)), **counts, "answer_tokens": len(row)}
    return Score(mean, ScoreKind.LOG_LIKELIHOOD, parts)


MAKERS = "maker"
# Families that are told how long the whole clip lasts, or how many seconds of it a frame stands for.
CLOCKED = {*SECONDS_PER_PAIR, "smolvlm"}
_OPTIONS = {
    "frames": int,
    "fps": Decimal(0.01, 120),
    "sampling": (MAKERS,),
    "mode": tuple(MODES),
    "max_pixels": range(1, 2**31),
    "truncate": ("frames",),
    **OPTIONS,
}
_PROMPTS = {P_YES: MATCHES.format("x"), CHOICE: CHOOSE.format("A. x\nB. y")} | dict.fromkeys(
    (LIKELIHOOD, GAIN, BLIND), DESCRIBE
)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> GenerativeModel:
    """Load `HUB_ID_OR_FOLDER[?frames=8&mode=likelihood&max_pixels=N]`. HubError: it does not load, or its family cannot
    be scored."""
    name, values = split_options(argument, _OPTIONS)
    thinking = Thinking.of({"thinking": OFF, **values})
    # Before any weight is read.
    config = load_config(name, config_field="thinker_config")
    family = family_of(config, name)
    options = Options(
        **_shown_by_makers(family, values),
        **{name: values[name] for name in ("mode", "max_pixels") if name in values},
        truncates="truncate" in values,
        thinking=thinking,
    )
    if thinking.reads_words and options.mode not in (P_YES, CHOICE):
        raise HubError(
            f"{quoted(argument)}: an answer is read by its words only with mode=p_yes or mode=choice; add it"
        )
    loaded = load_pretrained(auto_class_of(config), name, slug="vlm", device=device, dtype=dtype, config=config)
    processor = load_processor(name) if family.by_processor else None
    family = shown_by(family, processor, config)
    file_settings = {} if processor else video_settings(name, family.media_type)
    settings = {} if family.is_generic else settings_of(config.model_type, file_settings, options.max_pixels)
    marks = (processor.image_token,) if processor and not family.is_generic else family.marks
    talk = Conversation(
        name,
        marks,
        plain_template(processor) if family.is_generic else family.template,
        media_type=family.media_type,
        template_options=thinking.template_options,
        closes_thoughts=not thinking.thinks,
    )
    return GenerativeModel(loaded, Parts(talk, family, settings, processor), options)


def _shown_by_makers(family: Family, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the frames that are asked for; with `sampling=maker`, those of the family where none are.

    HubError: nobody has looked at what the makers of the family show.
    """
    asked = {name: values[name] for name in ("frames", "fps") if name in values}
    if "sampling" not in values:
        return asked
    if family.is_generic:
        raise HubError(f"sampling={MAKERS} is known of tested families only; leave it out, or use fps and frames")
    makers = family.makers
    return {"frames": makers.frames, "fps": makers.seconds and 1 / makers.seconds, **asked, "sampling": makers.policy}
