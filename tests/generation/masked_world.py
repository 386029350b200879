"""A small world of captions in which a verb is right or wrong for its object, and a masked LM trained on it."""

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

# What is done to what: (third person, -ing).
ACTIONS = {
    "apple carrot onion potato": "cuts:cutting eats:eating peels:peeling cooks:cooking",
    "car truck bus van": "drives:driving parks:parking repairs:repairing starts:starting",
    "shirt towel jacket dress": "folds:folding irons:ironing wears:wearing sews:sewing",
    "ball frisbee stone coin": "throws:throwing catches:catching rolls:rolling drops:dropping",
    "door window drawer gate": "opens:opening closes:closing locks:locking shuts:shutting",
}
ONE = ("a man", "a woman", "the boy", "the girl", "a chef", "somebody")
MANY = ("two men", "some women", "the boys", "three girls")
COLOURS = ("", "red ", "blue ", "old ", "small ", "heavy ")
PLACES = ("", " in the kitchen", " outside", " near a table", " on the street", " at home")
SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}


def right_verbs(thing: str) -> dict[str, str]:
    """third person -> -ing, of what can be done to the thing."""
    listed = next(verbs for things, verbs in ACTIONS.items() if thing in things.split())
    return dict(pair.split(":") for pair in listed.split())


def captions() -> list[tuple[str, str, str]]:
    """(caption, its verb, its object): every sentence of the world, shuffled."""
    found = []
    for things in ACTIONS:
        for thing in things.split():
            for third, going in right_verbs(thing).items():
                for colour in COLOURS:
                    for place in PLACES:
                        found += [(f"{who} {third} a {colour}{thing}{place}", third, thing) for who in ONE]
                        found += [(f"{who} are {going} a {colour}{thing}{place}", going, thing) for who in MANY]
    random.Random(0).shuffle(found)
    return found


def train(folder: Path, given: list[tuple[str, str, str]], *, epochs: int = 20) -> Path:
    """A 2-layer masked LM with a word-level vocabulary, the verb masked more often than other words."""
    torch.manual_seed(0)
    words = sorted({word for text, _, _ in given for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({w: at for at, w in enumerate([*SPECIAL.values(), *words])}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **SPECIAL)
    config = BertConfig(
        vocab_size=len(wrapped),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForMaskedLM(config)
    ids = wrapped([text for text, _, _ in given], padding=True, return_tensors="pt")
    at_verb = ids["input_ids"] == torch.tensor(wrapped.convert_tokens_to_ids([verb for _, verb, _ in given]))[:, None]
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    steps = epochs * -(-len(given) // 100)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(given)).split(100):
            _step(model, ids["input_ids"][rows], ids["attention_mask"][rows], at_verb[rows])
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
    model.eval().save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder


def _step(model: BertForMaskedLM, ids: torch.Tensor, mask: torch.Tensor, at_verb: torch.Tensor) -> None:
    """The verb is masked in eight of ten, other words in one of twenty."""
    chance = torch.where(at_verb, 0.8, 0.05) * (ids > 4)
    hidden = torch.rand(ids.shape) < chance
    labels = torch.where(hidden, ids, -100)
    model(input_ids=torch.where(hidden, 4, ids), attention_mask=mask, labels=labels).loss.backward()
