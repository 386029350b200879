"""Score captions with generative video-language models: by likelihood, by P(yes) or by choice; and generate texts.

The families of foilworks.core.hub.batching.video_families, by AutoModelForImageTextToText. A clip and the words before
a caption go through the model once for all captions of it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForImageTextToText, GenerationConfig

from foilworks.core.hub.batching.conversation import Conversation
from foilworks.core.hub.batching.shared_prefix import CACHED_TOKENS_PER_BATCH, Prefix, PrefixModel
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.batching.video_families import FAMILIES, settings_of
from foilworks.core.hub.batching.video_inputs import Clip, Prepared, joined
from foilworks.core.hub.batching.windowed_attention import attend_in_one_call
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, GenerationRequest, ModelInfo, Score, ScoreKind, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_pretrained
from foilworks.core.hub.loading.processor_files import load_processor, video_settings
from foilworks.core.hub.served.prompts import CHOOSE, DESCRIBE, LETTERS, MATCHES, NO, PROMPTS, YES
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


class GenerativeModel(ReadsWholeTexts):
    """The Scorer and Generator of a loaded model."""

    def __init__(
        self,
        loaded: Pretrained,
        talk: Conversation,
        settings: dict[str, Any],
        mode: str,
        frames: int,
        max_pixels: int | None = None,
        processor: Any = None,
    ) -> None:
        self.model, self.talk, self.device, self.settings = loaded.model, talk, loaded.device, settings
        self.family = FAMILIES[loaded.model.config.model_type]
        self._processor = processor
        token = getattr(loaded.model.config, self.family.placeholder, None)
        if self.family.windowed:
            attend_in_one_call(loaded.model, loaded.device)
        self.prefixes = PrefixModel(loaded.model, token, self.family.type_ids)
        self.mode = mode
        self._dtype = next(loaded.model.parameters()).dtype
        self._blind_scores: dict[str, Score] = {}
        video_options = {"frames": frames, "max_pixels": max_pixels} if mode != BLIND else {}
        options_text = "".join(f" {name}={value}" for name, value in video_options.items() if value is not None)
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision}{options_text} mode={mode} prompts={PROMPTS}"
            f"{' spaces=own' if talk.spaces_itself else ''}",
            MODES[mode],
            frames=0 if mode == BLIND else frames,
            needs_video=mode != BLIND,
            by_item=mode == CHOICE,
            card={"category": "text" if mode == BLIND else "video"},
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Score texts for a clip. `mode`: one of MODES, the adapter's own if empty; without a clip only `blind`.

        `parts` of likelihoods: sum, mean and tokens, in nats; of `gain` also blind_sum. HubError: an unknown mode, or
        no clip where one is needed.
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
        prepared = self.prepare(clip, meta)
        if mode == CHOICE:
            scores = self._choices(prepared, unique_texts)
        elif mode == P_YES:
            scores = self._matches(prepared, unique_texts)
        else:
            scores = self._likelihoods(prepared, unique_texts)
            scores = self._gains(scores, self._blind(unique_texts)) if mode == GAIN else scores
        return [scores[at] for at in indices]

    @property
    def scores_without_clip(self) -> bool:
        """Report whether the mode has an answer without a clip. A gain over the caption alone is 0 for all captions."""
        return self.mode in (LIKELIHOOD, P_YES, CHOICE)

    def score_without_clip(self, texts: Sequence[str], mode: str = "") -> list[Score]:
        """Score texts by the same prompt without the video. HubError: an unknown mode, or one without an answer."""
        mode = mode or self.mode
        if mode not in (BLIND, LIKELIHOOD, P_YES, CHOICE):
            raise HubError(
                f"{self.info.model_id}: mode {quoted(mode)} has no score without a clip; choose one of: "
                f"{', '.join((LIKELIHOOD, P_YES, CHOICE))}"
            )
        if mode in (BLIND, LIKELIHOOD) or not texts:
            return self._blind(texts)
        unique_texts, indices = distinct(texts)
        scores = self._choices(None, unique_texts) if mode == CHOICE else self._matches(None, unique_texts)
        return [scores[at] for at in indices]

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Generate one text per request. Requests of equal length and settings run together, sampled ones alone."""
        groups: dict[tuple[Any, ...], list[tuple[int, Prepared | None, list[int]]]] = {}
        for at, request in enumerate(requests):
            prepared = None if request.clip is None else self.prepare(request.clip, request.meta)
            rendered = self.talk.prompt(
                request.prompt, video=prepared is not None, system=request.system, examples=request.examples
            )
            ids = self.talk.prefix_ids(rendered if prepared is None else self.talk.with_video(rendered, prepared.text))
            alone = (at, request.seed) if request.temperature > 0 else ()
            shapes = () if prepared is None else tuple(tensor.shape[1:] for tensor in prepared.tensors.values())
            key = (len(ids), shapes, prepared is None, request.max_words, request.temperature, alone)
            groups.setdefault(key, []).append((at, prepared, ids))
        answers = [""] * len(requests)
        for group in groups.values():
            tokens = len(group[0][2]) + _max_new_tokens(requests[group[0][0]])
            step = max(1, CACHED_TOKENS_PER_BATCH[self.device.type] // tokens)
            for begin in range(0, len(group), step):
                batch = group[begin : begin + step]
                texts = self._generate_batch(batch, requests[batch[0][0]])
                for (at, _, _), text in zip(batch, texts, strict=True):
                    answers[at] = text
        return answers

    def prepare(self, clip: Frames, meta: VideoMeta | None = None) -> Prepared:
        """Return the clip as the model's tensors. HubError: it is not uint8 (frames, height, width, 3)."""
        if clip.ndim != 4 or clip.shape[3] != 3 or clip.dtype != np.uint8 or not len(clip):
            clip_key = meta.key if meta else ""
            raise HubError(
                f"clip {quoted(clip_key)}: {self.info.model_id} takes uint8 (frames, height, width, 3), not "
                f"{clip.dtype} {clip.shape}; decode it to frames"
            )
        times = meta.times if meta else ()
        model_clip = Clip(
            clip, times, self.settings, self.model.config, self.talk.tokenizer, self.device, self._processor
        )
        prepared = self.family.prepare(model_clip)
        tensors = {
            name: value.to(self._dtype) if name.startswith("pixel") else value
            for name, value in prepared.tensors.items()
        }
        return Prepared(tensors, prepared.text)

    def prefix(self, rendered: str, prepared: Prepared | None) -> Prefix:
        """Return the rendered prompt with the clip's tokens in it."""
        filled = rendered if prepared is None else self.talk.with_video(rendered, prepared.text)
        ids = torch.tensor([self.talk.prefix_ids(filled)], device=self.device)
        return Prefix(ids, {} if prepared is None else prepared.tensors)

    def _likelihoods(self, prepared: Prepared | None, texts: Sequence[str]) -> list[Score]:
        rendered = self.talk.prompt(DESCRIBE, video=prepared is not None)
        ids = [self.talk.continued_ids(rendered, text) if text else [] for text in texts]
        rows = self.prefixes.log_probabilities(self.prefix(rendered, prepared), ids)
        return [_likelihood(row) for row in rows]

    def _blind(self, texts: Sequence[str]) -> list[Score]:
        """Score without the video; each text once while the model is loaded."""
        new = [text for text in dict.fromkeys(texts) if text not in self._blind_scores]
        self._blind_scores.update(zip(new, self._likelihoods(None, new) if new else [], strict=True))
        return [self._blind_scores[text] for text in texts]

    def _gains(self, clip_scores: Sequence[Score], blind_scores: Sequence[Score]) -> list[Score]:
        return [
            Score(
                with_clip.value - without_clip.value,
                ScoreKind.LOG_LIKELIHOOD,
                {**with_clip.parts, "blind_sum": without_clip.parts["sum"]},
            )
            for with_clip, without_clip in zip(clip_scores, blind_scores, strict=True)
        ]

    def _matches(self, prepared: Prepared | None, texts: Sequence[str]) -> list[Score]:
        rendered = self.talk.prompt(MATCHES.format(SLOT), video=prepared is not None)
        head, _, tail = rendered.partition(SLOT)
        ids = [self.talk.tokenizer(text + tail, add_special_tokens=False)["input_ids"] for text in texts]
        logits = self.prefixes.next_logits(self.prefix(head, prepared), ids)
        yes, no = (logits[:, ids].logsumexp(1) for ids in self.talk.first_tokens((YES, NO)))
        return [Score(float(value), ScoreKind.P_YES) for value in torch.sigmoid(yes - no)]

    def _choices(self, prepared: Prepared | None, texts: Sequence[str]) -> list[Score]:
        """Return each text's share of the letters' probability, averaged over rotations, so that no position is
        favoured."""
        count = len(texts)
        if count > len(LETTERS):
            raise HubError(f"a choice takes at most {len(LETTERS)} texts, not {count}; score them by likelihood")
        rendered = self.talk.prompt(CHOOSE.format(SLOT), video=prepared is not None)
        head, _, tail = rendered.partition(SLOT)
        orders = [[(first + at) % count for at in range(count)] for first in range(count)]
        option_lists = [
            "\n".join(f"{LETTERS[position]}. {texts[at]}" for position, at in enumerate(order)) + tail
            for order in orders
        ]
        ids = [self.talk.tokenizer(text, add_special_tokens=False)["input_ids"] for text in option_lists]
        logits = self.prefixes.next_logits(self.prefix(head, prepared), ids)
        columns = self.talk.first_tokens([(letter, f" {letter}") for letter in LETTERS[:count]])
        letters = torch.stack([logits[:, ids].logsumexp(1) for ids in columns], dim=1).softmax(1)
        shares = np.zeros(count)
        for row, order in zip(letters.tolist(), orders, strict=True):
            shares[order] += np.array(row) / count
        return [Score(float(share), ScoreKind.P_YES) for share in shares]

    @torch.inference_mode()
    def _generate_batch(
        self, batch: Sequence[tuple[int, Prepared | None, list[int]]], request: GenerationRequest
    ) -> list[str]:
        ids = torch.tensor([row for _, _, row in batch], device=self.device)
        clips = [prepared for _, prepared, _ in batch if prepared is not None]
        inputs = self.prefixes.forward_inputs(Prefix(ids, joined(clips)), ids)
        ends = self.model.generation_config.eos_token_id
        config = GenerationConfig(
            max_new_tokens=_max_new_tokens(request),
            do_sample=request.temperature > 0,
            temperature=request.temperature if request.temperature > 0 else None,
            eos_token_id=self.talk.tokenizer.eos_token_id if ends is None else ends,
            pad_token_id=self.talk.tokenizer.pad_token_id or 0,
        )
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(request.seed)
            inputs["attention_mask"] = torch.ones_like(ids)
            output_ids = self.model.generate(**inputs, generation_config=config)
        texts = self.talk.tokenizer.batch_decode(output_ids[:, ids.shape[1] :], skip_special_tokens=True)
        return [" ".join(text.split()[: request.max_words]) for text in texts]


def _max_new_tokens(request: GenerationRequest) -> int:
    """Tokens for so many words."""
    return 2 * request.max_words + 8


def _likelihood(row: torch.Tensor) -> Score:
    """Return the score of a text; without tokens it is 0."""
    total = float(row.sum())
    mean = total / max(len(row), 1)
    return Score(mean, ScoreKind.LOG_LIKELIHOOD, {"sum": total, "mean": mean, "tokens": float(len(row))})


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> GenerativeModel:
    """Load `HUB_ID_OR_FOLDER[?frames=8&mode=likelihood&max_pixels=N]`. HubError: it does not load, or its family is not
    supported."""
    name, options = split_options(argument, {"frames": int, "mode": str, "max_pixels": range(1, 2**31)})
    mode = options.get("mode", LIKELIHOOD)
    if mode not in MODES:
        raise HubError(f"{quoted(argument)}: mode is {quoted(mode)}; choose one of: {', '.join(MODES)}")
    loaded = load_pretrained(
        AutoModelForImageTextToText, name, slug="vlm", device=device, dtype=dtype, config_field="thinker_config"
    )
    kind = loaded.model.config.model_type
    if kind not in FAMILIES:
        raise HubError(f"{name}: model type {quoted(kind)} is not supported; choose one of: {', '.join(FAMILIES)}")
    family = FAMILIES[kind]
    processor = load_processor(name) if family.by_processor else None
    file_settings = {} if processor else video_settings(name, family.media_type)
    settings = settings_of(kind, file_settings, options.get("max_pixels"))
    marks = (processor.image_token,) if processor else family.marks
    talk = Conversation(name, marks, family.template, media_type=family.media_type, thinks=False)
    return GenerativeModel(
        loaded, talk, settings, mode, options.get("frames", FRAMES), options.get("max_pixels"), processor
    )
