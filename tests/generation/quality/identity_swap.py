"""Identity swap on captions of MSR-VTT whose first person gets a name from a cast of eight."""

import random
import re
from collections.abc import Iterator, Mapping

from generation.records import CaptionInput
from tests.generation.quality import Item, Sample, captions_of, foils_of

METHOD, RECIPE, FILES = "identity_swap", "contrast-identity", ("msrvtt_human.tsv",)
USES_TAGGER = False
# Some names are common words, which the method must not take for names.
NAMES = {"male": ("Harry Potter", "Will", "Mark", "Jack"), "female": ("Rose", "Ginny", "Hope", "Ann")}
CAST = [{"name": name, "gender": gender} for gender, names in NAMES.items() for name in names]
PERSON = re.compile(r"\b(?:an? |the )?(?:\w+ )?(man|woman|boy|girl|guy|lady)\b")
MALE = ("man", "boy", "guy")
# The judged captions were drawn with this seed.
SEED = 4


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Swap the identities in every caption that a name fits."""
    del tagger
    yield Sample(foils_of(METHOD, named(captions_of(items, video="clip")), characters=CAST), "names put into captions")


def named(captions: list[CaptionInput]) -> list[CaptionInput]:
    """Return the captions with a person, who is replaced by a random name of the same gender."""
    rng, found = random.Random(SEED), []
    for caption in captions:
        person = PERSON.search(caption.text)
        if person:
            name = rng.choice(NAMES["male" if person[1] in MALE else "female"])
            text = caption.text[: person.start()] + name + caption.text[person.end() :]
            found.append(CaptionInput(caption.id, text[0].upper() + text[1:], video=caption.video))
    return found
