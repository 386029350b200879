"""Write small models of random weights in the layout of published ones, for runs without weights."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
T5_SPECIAL = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
END = "<|endoftext|>"
CONTEXT = 256


def write_language_model(folder: Path) -> str:
    """Write a GPT-2 of bytes with random weights; return its folder."""
    torch.manual_seed(0)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: at for at, letter in enumerate([END, *letters])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer_of_model = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=CONTEXT, bos_token=END, eos_token=END, pad_token=END
    )
    config = GPT2Config(
        vocab_size=len(tokenizer_of_model),
        n_positions=CONTEXT,
        n_embd=16,
        n_layer=1,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return _save_model(folder, GPT2LMHeadModel(config), tokenizer_of_model)


def write_t5(folder: Path, words: Sequence[str]) -> str:
    """Write a T5 that knows the words, with random weights; return its folder."""
    torch.manual_seed(0)
    special = [*T5_SPECIAL.values(), *(f"<extra_id_{at}>" for at in range(4))]
    tokenizer = _words(special, words, "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer_of_model = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        **T5_SPECIAL,
        extra_special_tokens=special[3:],
    )
    config = T5Config(
        vocab_size=len(tokenizer_of_model),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
    )
    return _save_model(folder, T5ForConditionalGeneration(config), tokenizer_of_model)


def write_encoder(folder: Path, words: Sequence[str]) -> str:
    """Write a sentence encoder that knows the words, with random weights; return its folder."""
    torch.manual_seed(0)
    tokenizer = _words(list(SPECIAL.values()), words, "[UNK]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer_of_model = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **SPECIAL)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer_of_model), max_position_embeddings=64, initializer_range=0.3, **sizes)
    return _save_model(folder, BertModel(config), tokenizer_of_model)


def _words(special: Sequence[str], words: Sequence[str], unknown: str) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*special, *words])}, unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(special))
    return tokenizer


def _save_model(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> str:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
