"""Tiny models with random weights and real tokenizers, saved as folders as published ones are."""

import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    CLIPConfig,
    CLIPModel,
    DetrConfig,
    DetrForObjectDetection,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    ResNetConfig,
    RobertaConfig,
    RobertaForMaskedLM,
    SiglipConfig,
    SiglipModel,
    T5Config,
    T5ForConditionalGeneration,
)

CORPUS = (
    "a man folds a red shirt",
    "a woman opens the door",
    "two boys are lifting a box",
    "a dog jumps on the table",
    "a red circle moves from left to right",
    "a ring",
    "words that no model knows",
)
LAYERS = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
# Wide random weights: with the usual .02 every text would look alike.
SIZES = {**LAYERS, "num_hidden_layers": 2, "initializer_range": 0.3}
CONTRASTIVE = {**LAYERS, "num_hidden_layers": 1}
SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}


def word_tokenizer(corpus: Sequence[str] = CORPUS, longest: int = 64) -> PreTrainedTokenizerFast:
    """BERT's kind: WordPiece over lower-cased words."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=list(SPECIAL.values()), show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))],
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **SPECIAL)


def byte_tokenizer(corpus: Sequence[str] = CORPUS, longest: int = 64) -> PreTrainedTokenizerFast:
    """RoBERTa's and GPT-2's kind: bytes, a mark where a word begins."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator([f" {line}" for line in corpus], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=longest, pad_token="<pad>", mask_token="<mask>", **names
    )


def spacing_tokenizer(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """Llama's kind as transformers reads it from tokenizer.json: it puts a space before whatever it is given."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    letters = [*string.ascii_letters, *string.digits, *string.punctuation, "▁", "\n"]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=letters, show_progress=False)
    # Word by word, so that no token spans two.
    tokenizer.train_from_iterator([word for word in words for _ in range(5)], trainer)
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=4096, **names)


def masked_lm(folder: Path, *, roberta: bool = False) -> Path:
    torch.manual_seed(0)
    tokenizer = byte_tokenizer() if roberta else word_tokenizer()
    if roberta:
        model = RobertaForMaskedLM(
            RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=66, pad_token_id=1, **SIZES)
        )
    else:
        model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **SIZES))
    return saved(folder, model, tokenizer)


def classifier(folder: Path, labels: Sequence[str] = ("entailment", "neutral", "contradiction")) -> Path:
    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    names = dict(enumerate(labels))
    config = BertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        id2label=names,
        label2id={name: at for at, name in names.items()},
        **SIZES,
    )
    return saved(folder, BertForSequenceClassification(config), tokenizer)


def causal_lm(folder: Path) -> Path:
    torch.manual_seed(2)
    tokenizer = byte_tokenizer()
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=2
    )
    return saved(folder, GPT2LMHeadModel(config), tokenizer)


def span_tokenizer(corpus: Sequence[str] = CORPUS, longest: int = 64) -> PreTrainedTokenizerFast:
    """T5's kind by its special tokens: an end, no beginning, sentinels for blanks; of whole words."""
    special = ["<pad>", "</s>", "<unk>", *(f"<extra_id_{at}>" for at in range(4))]
    words = sorted({word for line in corpus for word in line.lower().split()})
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*special, *words])}, "<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=longest,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        extra_special_tokens=special[3:],
    )


def text_to_text(folder: Path, corpus: Sequence[str] = CORPUS, *, steps: int = 30) -> Path:
    torch.manual_seed(5)
    tokenizer = span_tokenizer(corpus)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        dropout_rate=0.0,
    )
    model = T5ForConditionalGeneration(config)
    _taught_spans(model, tokenizer, corpus, steps)
    return saved(folder, model, tokenizer)


def _taught_spans(
    model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, corpus: Sequence[str], steps: int
) -> None:
    """Some steps on every blank of one word, so that the model has an end to what it writes."""
    lines = [line.lower().split() for line in corpus]
    blanks = [
        (" ".join([*line[:at], "<extra_id_0>", *line[at + 1 :]]), f"<extra_id_0> {line[at]} <extra_id_1>")
        for line in lines
        for at in range(len(line))
    ]
    sources, targets = (tokenizer(list(side), padding=True, return_tensors="pt") for side in zip(*blanks, strict=True))
    labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        model(input_ids=sources["input_ids"], attention_mask=sources["attention_mask"], labels=labels).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    model.eval()


def sentence_encoder(folder: Path, pooling: str = "pooling_mode_mean_tokens") -> Path:
    torch.manual_seed(3)
    tokenizer = word_tokenizer()
    saved(folder, BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **SIZES)), tokenizer)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 16, pooling: True}))
    parts = [("", "sentence_transformers.models.Transformer"), ("1_Pooling", "sentence_transformers.models.Pooling")]
    rows = [{"idx": at, "name": str(at), "path": path, "type": name} for at, (path, name) in enumerate(parts)]
    (folder / "modules.json").write_text(json.dumps(rows))
    return folder


def clip(
    folder: Path,
    *,
    siglip: bool = False,
    vision: Mapping[str, int] = CONTRASTIVE,
    text: Mapping[str, int] = CONTRASTIVE,
    side: int = 16,
    patch: int = 8,
) -> Path:
    torch.manual_seed(4)
    tokenizer = word_tokenizer(longest=16)
    vision = {**vision, "image_size": side, "patch_size": patch}
    text = {**text, "vocab_size": len(tokenizer), "max_position_embeddings": 16}
    if siglip:
        text |= {"projection_size": 16, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
        model = SiglipModel(SiglipConfig(text_config=text, vision_config=vision))
        half = [0.5, 0.5, 0.5]
        processor = {"size": {"height": side, "width": side}, "resample": 2, "image_mean": half, "image_std": half}
    else:
        text |= {"bos_token_id": 2, "eos_token_id": 3}
        model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
        processor = {
            "size": {"shortest_edge": side},
            "do_center_crop": True,
            "crop_size": {"height": side, "width": side},
            "resample": 3,
            "image_mean": [0.48, 0.46, 0.41],
            "image_std": [0.27, 0.26, 0.28],
        }
    saved(folder, model, tokenizer)
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return folder


def detector(folder: Path, labels: Sequence[str] = ("person", "cell phone", "cup")) -> Path:
    """DETR's kind, its backbone a small ResNet."""
    torch.manual_seed(6)
    names = dict(enumerate(labels))
    backbone = ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", out_features=["stage2"]
    )
    config = DetrConfig(
        use_timm_backbone=False,
        backbone_config=backbone,
        use_pretrained_backbone=False,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        num_queries=5,
        id2label=names,
        label2id={name: at for at, name in names.items()},
        init_std=0.5,
    )
    DetrForObjectDetection(config).save_pretrained(folder)
    processor = {
        "size": {"shortest_edge": 32, "longest_edge": 48},
        "resample": 2,
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return folder


def saved(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
