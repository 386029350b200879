"""Fine-tune a text-to-text model on captions by span corruption (Raffel et al. 2020; contrast sets, Sec. 3.2).

A sentinel replaces each removed span of a caption, and the model writes the spans. The seed and the step alone
determine every example, its order and the model's dropout, so a run that was killed and resumed ends in the same
weights. transformers has no such collator for torch.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM

from foilworks.core.hub.adapters.text_to_text import IGNORED, SENTINELS, TextToText
from foilworks.core.hub.batching.token_rows import padded
from foilworks.core.hub.loading.pretrained import load_pretrained, load_tokenizer
from foilworks.core.hub.training.checkpoints import resume, save, step_of

CHECKPOINT = "checkpoint.safetensors"
CLIP = 1.0
# As many as T5 has.
MAX_SENTINELS = 100


@dataclass(frozen=True)
class SpanTraining:
    """Settings: `density` is the share of tokens removed, in spans of `mean_span` tokens; `verb_share` of the examples
    lose one of their marked phrases instead, if they have one."""

    epochs: int = 3
    batch: int = 16
    learning_rate: float = 3e-4
    warm_up: float = 0.05
    density: float = 0.15
    mean_span: float = 3.0
    verb_share: float = 0.5
    checkpoint_every: int = 200
    seed: int = 0

    def steps(self, captions: int) -> int:
        return self.epochs * -(-captions // self.batch)


@dataclass(frozen=True)
class Text:
    """A caption, and the characters (start, end) of phrases in it that may be removed whole."""

    text: str
    phrases: tuple[tuple[int, int], ...] = ()


def tune(
    base: str, texts: Sequence[Text], settings: SpanTraining, folder: Path, *, device: str = "auto"
) -> Iterator[tuple[int, float]]:
    """Yield (step, its loss) from 1 on, after the checkpoint in `folder`; afterwards the model is in `folder`/model. A
    checkpoint is written every `checkpoint_every` steps, before its step is yielded.

    HubError: a model that does not load, or has no sentinels.
    """
    loaded = load_pretrained(AutoModelForSeq2SeqLM, base, slug="t5", device=device, dtype="float32")
    tokenizer = load_tokenizer(base)
    TextToText(loaded, tokenizer)
    model, total = loaded.model, settings.steps(len(texts))
    optimiser = torch.optim.AdamW(model.parameters(), settings.learning_rate)
    folder.mkdir(parents=True, exist_ok=True)
    done = resume(model, optimiser, folder / CHECKPOINT)
    model.train()
    for step in range(done + 1, total + 1):
        loss = _step(model, optimiser, tokenizer, texts, settings, step, total)
        if step % settings.checkpoint_every == 0 and step < total:
            save(model, optimiser, folder / CHECKPOINT, step)
        yield step, loss
    model.eval()
    shutil.rmtree(folder / "model", ignore_errors=True)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")


def resumes_at(folder: Path) -> int:
    """Return the step of the checkpoint in the folder; 0 if there is none."""
    return step_of(folder / CHECKPOINT)


def folder_hash(folder: Path) -> str:
    """Return sixteen hex digits of the folder's files, their names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def corrupted(
    ids: Sequence[int], spans: Sequence[tuple[int, int]], sentinels: Sequence[int], end: int
) -> tuple[list[int], list[int]]:
    """Return (source, target) token ids: each span of the source becomes a sentinel, and the target names it and the
    span.

    Both end with `end`; the target's last span is closed by one sentinel more, as T5 was trained.
    """
    source: list[int] = []
    target: list[int] = []
    at = 0
    for sentinel, (first, last) in zip(sentinels, spans, strict=False):
        source += [*ids[at:first], sentinel]
        target += [sentinel, *ids[first:last]]
        at = last
    return [*source, *ids[at:], end], [*target, sentinels[len(spans)], end]


def random_spans(n: int, density: float, mean: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw spans of `n` tokens that contain about `density` of them: at least one token is removed and one remains (n >
    1).

    Lengths of removed and remaining parts are random compositions, as in T5's random_spans_noise_mask.
    """
    if n < 2:
        return [(0, n)] if n else []
    taken = min(max(round(n * density), 1), n - 1)
    count = min(max(round(taken / mean), 1), taken, n - taken, MAX_SENTINELS - 1)
    gaps, lengths = _composition(n - taken, count, rng), _composition(taken, count, rng)
    # The first part is removed as often as it remains: a caption's first word is removed as well.
    shift = int(rng.integers(0, gaps[0] + 1))
    spans, at = [], shift
    for gap, length in zip([0, *gaps[1:]], lengths, strict=True):
        spans.append((at + gap, at + gap + length))
        at += gap + length
    return spans


def _composition(total: int, parts: int, rng: np.random.Generator) -> list[int]:
    """`parts` whole numbers from 1 that sum to `total`, each composition alike."""
    cuts = np.sort(rng.choice(total - 1, parts - 1, replace=False)) + 1 if parts > 1 else np.array([], int)
    return np.diff([0, *cuts.tolist(), total]).tolist()


def _step(
    model: Any,
    optimiser: torch.optim.Optimizer,
    tokenizer: Any,
    texts: Sequence[Text],
    settings: SpanTraining,
    step: int,
    total: int,
) -> float:
    source, target = _batch(tokenizer, texts, settings, step)
    device = next(model.parameters()).device
    # Dropout of this step, independent of earlier random numbers in the process.
    torch.manual_seed(settings.seed * 1_000_003 + step)
    ids = padded(source, tokenizer.pad_token_id).to(device)
    mask = padded([[1] * len(row) for row in source], 0).to(device)
    loss = model(input_ids=ids, attention_mask=mask, labels=padded(target, IGNORED).to(device)).loss
    for group in optimiser.param_groups:
        group["lr"] = settings.learning_rate * _share(step, total, settings.warm_up)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()
    return float(loss.detach())


def _share(step: int, total: int, warm_up: float) -> float:
    """Up over the first steps, then down to nothing in a straight line."""
    first = max(1, round(total * warm_up))
    return step / first if step <= first else (total - step + 1) / (total - first + 1)


def _batch(
    tokenizer: Any, texts: Sequence[Text], settings: SpanTraining, step: int
) -> tuple[list[list[int]], list[list[int]]]:
    per_epoch = -(-len(texts) // settings.batch)
    epoch, place = divmod(step - 1, per_epoch)
    order = np.random.default_rng([settings.seed, 1, epoch]).permutation(len(texts))
    chosen = order[place * settings.batch : (place + 1) * settings.batch].tolist()
    pairs = [
        _example(tokenizer, texts[at], settings, np.random.default_rng([settings.seed, 2, epoch, at])) for at in chosen
    ]
    return [source for source, _ in pairs], [target for _, target in pairs]


def _example(
    tokenizer: Any, text: Text, settings: SpanTraining, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    end = int(tokenizer.eos_token_id)
    if text.phrases and rng.random() < settings.verb_share:
        first, last = text.phrases[int(rng.integers(len(text.phrases)))]
        blanked = text.text[:first] + SENTINELS[0] + text.text[last:]
        filling = f"{SENTINELS[0]} {text.text[first:last]} {SENTINELS[1]}"
        return tokenizer(blanked)["input_ids"], tokenizer(filling)["input_ids"]
    ids = tokenizer(text.text, add_special_tokens=False)["input_ids"]
    spans = random_spans(len(ids), settings.density, settings.mean_span, rng)
    named = [tokenizer.convert_tokens_to_ids(f"<extra_id_{at}>") for at in range(len(spans) + 1)]
    known = [one for one in named if one is not None and one != tokenizer.unk_token_id]
    return corrupted(ids, spans[: len(known) - 1], known, end)
