"""A tiny vision-language model with random weights as a folder that `transformers serve` opens: its words are yes, no
and letters."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    GenerationConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

from foilworks.core.hub.served.prompts import CHOOSE, MATCHES, lettered
from tests.evaluation.served.worlds import COLOURS, frame_of
from tests.hub.generative_folders import TEXT, VISION

HIGH = 10.0
ANSWERS = ("Yes", "No", "A", "B")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<image>")
TEMPLATE = (
    "{% for message in messages %}{% for part in message.content %}{% if part.type == 'image' %}<image> "
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}"
)


def llava(folder: Path, words: set[str]) -> Path:
    """`words`: what captions are made of; the model tells their texts apart by them."""
    torch.manual_seed(11)
    names = [*SPECIAL, *ANSWERS, *sorted(words - {*ANSWERS, *SPECIAL})]
    vocabulary = {name: number for number, name in enumerate(names)}
    base = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=base, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    tokenizer.image_token, tokenizer.chat_template = "<image>", TEMPLATE
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**VISION),
        text_config=LlamaConfig(**{**TEXT, "vocab_size": len(tokenizer)}),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    config.text_config.tie_word_embeddings = config.tie_word_embeddings = False
    model = LlavaForConditionalGeneration(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                torch.nn.init.normal_(weights, std=0.2)
    # A server takes do_sample from the folder: without it every sample would be the likeliest answer.
    model.generation_config = GenerationConfig(do_sample=True, top_k=0, bos_token_id=0, eos_token_id=2, pad_token_id=1)
    images = CLIPImageProcessor(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    processor = LlavaProcessor(
        images,
        tokenizer,
        patch_size=4,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=1,
    )
    answer_as_asked(model, processor)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@torch.inference_mode()
def next_probabilities(model: Any, processor: Any, pictures: Sequence[Image.Image], text: str) -> dict[str, float]:
    """The probability of each answer as the first token after the prompt, as one forward pass gives it."""
    logits = model(**inputs_of(processor, pictures, text)).logits[0, -1].float()
    ids = processor.tokenizer.convert_tokens_to_ids(list(ANSWERS))
    return dict(zip(ANSWERS, logits.softmax(0)[ids].tolist(), strict=True))


def inputs_of(processor: Any, pictures: Sequence[Image.Image], text: str) -> Any:
    parts = [*({"type": "image"} for _ in pictures), {"type": "text", "text": text}]
    prompt = processor.apply_chat_template([{"role": "user", "content": parts}], add_generation_prompt=True)
    return processor(images=list(pictures), text=prompt, return_tensors="pt")


def answer_as_asked(model: Any, processor: Any) -> None:
    """Turn the output weights so that questions get yes or no, and choices a letter; which one stays random."""
    head = model.get_output_embeddings()
    states: list[torch.Tensor] = []
    hook = head.register_forward_pre_hook(lambda _, given: states.append(given[0][0, -1]))
    sentences = [f"clip 0 is {colour}" for colour in COLOURS]
    prompts = [MATCHES.format(text) for text in sentences]
    n_asked = len(prompts) * len(COLOURS)
    prompts += [CHOOSE.format(lettered(list(order))) for order in permutations(sentences, 2)]
    for text in prompts:
        for number in range(len(COLOURS)):
            next_probabilities(model, processor, [Image.fromarray(frame_of(number))] * 2, text)
    hook.remove()
    # Logits of the words that are asked for, and of the others.
    wanted = torch.full((len(states),), -HIGH)
    wanted[:n_asked] = HIGH
    seen = torch.stack(states)
    # Ridge regression: states of frames that video encoding changed a little are answered alike.
    asked = torch.linalg.solve(seen.T @ seen + torch.eye(seen.shape[1]), seen.T @ wanted)
    ids = processor.tokenizer.convert_tokens_to_ids(list(ANSWERS))
    with torch.no_grad():
        for token, row in zip(ids, (asked, asked, -asked, -asked), strict=True):
            head.weight[token] = row + 0.1 * torch.randn(len(row))
