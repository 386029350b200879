"""How a model is asked and how its scores count; a result names its protocol (metrics.md, "Protocols")."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    label: str
    ties: str
    summary: str


PROTOCOLS: dict[str, Protocol] = {
    "foilworks": Protocol(
        label="Foilworks",
        ties="half",
        summary="Frames at the centres of equal time bins; a tie among n best counts 1/n.",
    ),
}
