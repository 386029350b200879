"""Convert the facts that a report is computed from to JSON values, for its fingerprint."""

import hashlib
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np


def plain(facts: Any) -> Any:
    """Convert facts to JSON values; an array becomes the hash of its bytes."""
    if isinstance(facts, np.ndarray):
        return hashlib.sha256(facts.tobytes()).hexdigest()
    if isinstance(facts, list):
        return [plain(fact) for fact in facts]
    if isinstance(facts, dict):
        return {name: plain(value) for name, value in facts.items()}
    if is_dataclass(facts) and not isinstance(facts, type):
        # asdict would copy arrays, and a JSON text would truncate them.
        values = {field.name: getattr(facts, field.name) for field in fields(facts)}
        if any(isinstance(value, np.ndarray | dict) for value in values.values()):
            return {name: plain(value) for name, value in values.items()}
        return asdict(facts)
    return facts
