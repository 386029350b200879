"""Measure making foils with models: filled, scored and judged in batches, relative to one text per forward pass.

    .venv/bin/python benchmarks/generation.py [--captions 96] [--naive 12] [--device cpu]

Random weights in the shapes of roberta-base and gpt2, a vocabulary of whole words, 10 candidates per caption. Both
sides use one loaded model and the same threads, and take turns, so that a busy machine slows both. The naive side does
what the published code does, but does not load the model for each caption. Each row is measured twice: in float32, and
with our side's body in bfloat16 (`MODEL?dtype=bfloat16`); the loop stays in float32.
"""

import argparse
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModelForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaForSequenceClassification,
)

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from foilworks.core.hub.adapters.pair_classifier import TextPairClassifier  # noqa: E402 (the root must be on the path first)
from foilworks.core.hub.catalogue.registry import CLASSIFIER, FILLER, TEXT_SCORER  # noqa: E402
from foilworks.core.hub.loading.pretrained import load_text_model  # noqa: E402
from foilworks.core.hub.opening import open_helper  # noqa: E402
from tests.hub.folders import saved  # noqa: E402

CANDIDATES = 10
ROUNDS = 3
VOCABULARY = 50265
WHO = ("a man", "a woman", "two boys", "the old lady", "a chef in white", "somebody", "a dog", "three girls")
VERBS = ("folds", "opens", "lifts", "paints", "drops", "pushes", "cuts", "holds", "turns", "cleans", "breaks", "pulls")
WHAT = ("a shirt", "the door", "a red box", "an apple", "the small wooden table", "a bicycle", "a cup", "a rope")
WHERE = ("", "in the kitchen", "on the street at night", "next to a parked car", "in front of a large crowd outside")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def captions(number: int) -> Iterator[tuple[str, str, str]]:
    """Return (before the verb, the verb, after it): distinct sentences of 5 to 15 words, by a number in words."""
    rng = random.Random(3)
    for at in range(number):
        who, verb, what, where = (rng.choice(words) for words in (WHO, VERBS, WHAT, WHERE))
        yield f"{who} of group {number_word(at)}", verb, f"{what} {where}".strip()


def number_word(at: int) -> str:
    """Return a made-up word of letters for a number."""
    letters = "abcdefghij"
    return "w" + "".join(letters[int(digit)] for digit in str(at))


def foils(caption: tuple[str, str, str]) -> list[str]:
    before, verb, after = caption
    return [f"{before} {other} {after}" for other in VERBS if other != verb][:CANDIDATES]


def tokenizer(size: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words with RoBERTa's mark of a blank before them; made-up words fill it up."""
    known = {word for part in (*WHO, *VERBS, *WHAT, *WHERE, "of group") for word in part.split()}
    made = (number_word(at) for at in itertools.count())
    words = [*SPECIAL, *(f"\u0120{word}" for word in sorted(known))]
    words += [f"\u0120{word}" for word in itertools.islice(made, size - len(words))]
    bare = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, "<unk>"))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    bare.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>"}
    names |= {"pad_token": "<pad>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(tokenizer_object=bare, model_max_length=128, **names)


def write_models(root: Path) -> dict[str, str]:
    """Write roberta-base twice (masked, classifier of pairs) and gpt2."""
    torch.manual_seed(0)
    text = tokenizer(VOCABULARY)
    roberta = RobertaConfig(vocab_size=VOCABULARY, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1)
    names = {0: "entailment", 1: "neutral", 2: "contradiction"}
    judge = RobertaConfig(**{**roberta.to_dict(), "id2label": names, "label2id": {v: k for k, v in names.items()}})
    made = {
        FILLER: RobertaForMaskedLM(roberta),
        CLASSIFIER: RobertaForSequenceClassification(judge),
        TEXT_SCORER: GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, bos_token_id=0, eos_token_id=2)),
    }
    return {name: str(saved(root / name, model, text)) for name, model in made.items()}


@torch.inference_mode()
def fill_one(filler: Any, text: str) -> list[tuple[str, float]]:
    """Do what a fill-mask pipeline does for one text."""
    given = filler.tokenizer(text, return_tensors="pt").to(filler.device)
    at = int((given["input_ids"][0] == filler.tokenizer.mask_token_id).nonzero()[0, 0])
    logits = filler.model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits[0, at]
    values, best = logits.softmax(0).topk(CANDIDATES)
    words = filler.tokenizer.convert_ids_to_tokens(best.tolist())
    return list(zip(words, values.tolist(), strict=True))


@torch.inference_mode()
def perplexity_one(scorer: Any, text: str) -> float:
    ids = scorer.tokenizer(text, return_tensors="pt")["input_ids"].to(scorer.device)
    return float(scorer.model(input_ids=ids, labels=ids).loss.exp())


@torch.inference_mode()
def entailment_one(judge: Any, pair: tuple[str, str]) -> int:
    given = judge.tokenizer(*pair, return_tensors="pt").to(judge.device)
    logits = judge.model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits
    return int(logits.softmax(1).argmax())


def rate(work: Callable[[], object], texts: int, device: str) -> float:
    """Return captions per second."""
    began = time.perf_counter()
    work()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return texts / (time.perf_counter() - began)


def compared(
    batched: Callable[[Sequence[Any]], object],
    single: Callable[[Any], object],
    many: Sequence[Sequence[Any]],
    few: int,
    device: str,
    rounds: int,
) -> dict[str, float]:
    """Return captions per second of both sides, the best of several rounds in turn.

    `many`: work per caption, of which the loop does `few`.
    """
    ours, naive = [], []
    for _ in range(rounds):
        naive.append(rate(lambda: [single(one) for work in many[:few] for one in work], few, device))
        ours.append(rate(lambda: batched([one for work in many for one in work]), len(many), device))
    return {"batched": max(ours), "one_a_forward": max(naive), "ratio": max(ours) / max(naive)}


def speed(many: int, few: int, device: str, rounds: int) -> dict[str, dict[str, float]]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = write_models(Path(folder))
        given = list(captions(many))
        asked = {FILLER: blanks, TEXT_SCORER: sentences, CLASSIFIER: pairs}
        for (role, path), (name, batched, single) in zip(paths.items(), SIDES, strict=True):
            # The published code uses PyTorch's own linear layers.
            naive = plain(path, device) if role == CLASSIFIER else open_helper(path, role, device=device)
            work = [asked[role](one, naive) for one in given]
            for label, tail in (("", ""), (", bfloat16", "?dtype=bfloat16")):
                ours = open_helper(path + tail, role, device=device)
                batched(ours, work[0])
                found[name + label] = compared(
                    partial(batched, ours), partial(single, naive), work, few, device, rounds
                )
    return found


def plain(path: str, device: str = "cpu") -> TextPairClassifier:
    """Return the classifier with PyTorch's own linear layers."""
    auto_class = AutoModelForSequenceClassification
    loaded, tokenizer = load_text_model(auto_class, path, slug="classifier", device=device, dtype="float32")
    return TextPairClassifier(loaded, tokenizer)


def blanks(caption: tuple[str, str, str], filler: Any) -> list[str]:
    before, _, after = caption
    return [f"{before} {filler.blank} {after}"]


def sentences(caption: tuple[str, str, str], scorer: Any) -> list[str]:
    return [" ".join(caption), *foils(caption)]


def pairs(caption: tuple[str, str, str], judge: Any) -> list[tuple[str, str]]:
    return [(" ".join(caption), foil) for foil in foils(caption)]


# In the order of `write_models`: its name, our side, the loop's.
SIDES = (
    ("mask filling", lambda filler, every: filler.fill(every, CANDIDATES), fill_one),
    ("entailment", lambda judge, every: judge.probs(every), entailment_one),
    ("perplexity", lambda scorer, every: scorer.score(None, every), perplexity_one),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=int, default=96, help="captions of the batched side")
    parser.add_argument("--naive", type=int, default=12, help="captions of the loop")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of rounds; the best counts")
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    print(f"captions per second, {CANDIDATES} candidates each, {torch.get_num_threads()} thread(s), {asked.device}")
    for name, row in speed(asked.captions, asked.naive, asked.device, asked.rounds).items():
        print(f"{name:24} {row['one_a_forward']:8.2f} -> {row['batched']:8.2f}: {row['ratio']:5.1f} x")


if __name__ == "__main__":
    main()
