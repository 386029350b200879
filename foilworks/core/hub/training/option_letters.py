"""Let a causal language model choose options by their letters, as it is and after LoRA tuning (TsT, Sec. 3).

One sequence per item, without padding, and no dropout: the seed and the step alone determine an update, so a training
that was killed and resumed gives the same numbers on the same machine.
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import load_text_model, longest_input
from foilworks.core.hub.training.checkpoints import resume, save
from foilworks.core.solver.letter_choices import Choice, LetterTuning

# Tokens of one item; the beginning of a longer one is cut, its options are at the end.
MAX_TOKENS = 512


class LetterModel:
    """A causal language model of a hub id or folder. HubError: it does not load, or has no single token per letter."""

    def __init__(self, name: str, *, device: str = "auto") -> None:
        loaded, self._tokenizer = load_text_model(AutoModelForCausalLM, name, slug="lm", device=device, dtype="float32")
        self._model, self._device = loaded.model.eval(), loaded.device
        self.name, self.revision = loaded.name, loaded.revision
        self.n_parameters = sum(parameter.numel() for parameter in loaded.model.parameters())
        self._longest = min(MAX_TOKENS, longest_input(self._tokenizer, loaded.model.config))
        tokens = [self._tokenizer(f" {letter}", add_special_tokens=False)["input_ids"] for letter in ascii_uppercase]
        if any(len(row) != 1 for row in tokens):
            raise HubError(f"{loaded.name}: its tokenizer has no token for each letter; choose another model")
        self._letters = [row[0] for row in tokens]

    def probabilities(self, choices: Sequence[Choice]) -> list[list[float]]:
        """Return the probability of each option of n choices, among their letters."""
        with torch.inference_mode():
            return [torch.softmax(self._scores(self._model, choice), 0).tolist() for choice in choices]

    def tuned(
        self,
        training: Sequence[Choice],
        held_out: Sequence[Choice],
        settings: LetterTuning,
        checkpoint: Path,
        report: Callable[[int], None],
    ) -> list[list[float]]:
        """Return probabilities of the options of `held_out` after tuning on `training` (`letter_choices.Learner`)."""
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(settings.seed)
        config = LoraConfig(
            r=settings.rank, lora_alpha=2 * settings.rank, target_modules="all-linear", lora_dropout=0.0
        )
        with warnings.catch_warnings():
            # peft reads a property that transformers renamed.
            warnings.simplefilter("ignore", FutureWarning)
            model: Any = get_peft_model(self._model, config).eval()
        try:
            weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
            optimiser = torch.optim.AdamW(weights, settings.learning_rate, weight_decay=0.0)
            total = settings.steps(len(training))
            for step in range(resume(model, optimiser, checkpoint) + 1, total + 1):
                self._update(model, optimiser, training, settings, step)
                if step % settings.checkpoint_every == 0 and step < total:
                    save(model, optimiser, checkpoint, step)
                report(step)
            with torch.inference_mode():
                result = [torch.softmax(self._scores(model, choice), 0).tolist() for choice in held_out]
        finally:
            model.unload()
        checkpoint.unlink(missing_ok=True)
        return result

    def _update(
        self,
        model: Any,
        optimiser: torch.optim.Optimizer,
        training: Sequence[Choice],
        settings: LetterTuning,
        step: int,
    ) -> None:
        per_epoch = -(-len(training) // settings.batch)
        epoch, index = divmod(step - 1, per_epoch)
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(training))
        rows = order[index * settings.batch : (index + 1) * settings.batch].tolist()
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate * (1 - (step - 1) / settings.steps(len(training)))
        optimiser.zero_grad()
        for row in rows:
            answer = torch.tensor(training[row].answer, device=self._device)
            loss = torch.nn.functional.cross_entropy(self._scores(model, training[row]), answer)
            (loss / len(rows)).backward()
        torch.nn.utils.clip_grad_norm_([weight for group in optimiser.param_groups for weight in group["params"]], 1.0)
        optimiser.step()

    def _scores(self, model: Any, choice: Choice) -> torch.Tensor:
        """Return the logits of the letters of the options."""
        ids = self._tokenizer(choice.prompt)["input_ids"][-self._longest :]
        logits = model(input_ids=torch.tensor([ids], device=self._device), logits_to_keep=1, use_cache=False).logits
        letters: torch.Tensor = logits[0, -1, self._letters[: len(choice.options)]].float()
        return letters
