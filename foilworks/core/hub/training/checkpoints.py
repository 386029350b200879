"""Store trained weights with the moments of their optimiser, so that a killed training continues with equal numbers."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

MOMENTS = ("exp_avg", "exp_avg_sq")


def save(model: Any, optimiser: torch.optim.Optimizer, path: Path, step: int) -> None:
    """Write the trained weights and their moments to one file, put in place at once: a kill leaves the one before."""
    tensors: dict[str, torch.Tensor] = {}
    for name, parameter in _trained(model):
        tensors[f"weight.{name}"] = parameter.detach().contiguous()
        for moment in MOMENTS:
            if parameter in optimiser.state:
                tensors[f"{moment}.{name}"] = optimiser.state[parameter][moment].contiguous()
    fresh = path.with_suffix(".new")
    save_file(tensors, fresh, metadata={"step": json.dumps(step)})
    fresh.replace(path)


def resume(model: Any, optimiser: torch.optim.Optimizer, path: Path) -> int:
    """Load a checkpoint and return its step; 0 if there is none."""
    if not path.is_file():
        return 0
    step = step_of(path)
    with safe_open(path, "pt") as file, torch.no_grad():
        names = set(file.keys())
        for name, parameter in _trained(model):
            parameter.copy_(file.get_tensor(f"weight.{name}"))
            if f"exp_avg.{name}" in names:
                moments = {kind: file.get_tensor(f"{kind}.{name}").to(parameter.device) for kind in MOMENTS}
                optimiser.state[parameter] = {"step": torch.tensor(float(step)), **moments}
    return step


def step_of(path: Path) -> int:
    """Return the step of a checkpoint; 0 if there is none."""
    if not path.is_file():
        return 0
    with safe_open(path, "pt") as file:
        return int(file.metadata()["step"])


def _trained(model: Any) -> list[tuple[str, torch.nn.Parameter]]:
    return [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
