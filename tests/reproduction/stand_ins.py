"""Write small stand-ins for the files of MSR-VTT and LSMDC, in their published form, with clips that show the captions.

A clip shows a square on a background: its colour is the person, its way the verb, the background the object. The
sentences and clips are drawn by the seed.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foilworks.core.media.encode import write_mp4

SIDE, FRAMES, RATE = 48, 8, 8.0
ACTIONS = {
    ("apple", "onion"): ("cuts", "eats", "peels", "cooks"),
    ("car", "van"): ("drives", "parks", "repairs", "washes"),
    ("shirt", "towel"): ("folds", "irons", "wears", "washes"),
    ("ball", "stone"): ("throws", "catches", "rolls", "drops"),
    ("door", "window"): ("opens", "closes", "locks", "cleans"),
    ("cart", "box"): ("pushes", "pulls", "lifts", "drops"),
}
THINGS = [thing for things in ACTIONS for thing in things]
VERBS = sorted({verb for verbs in ACTIONS.values() for verb in verbs})
PEOPLE = ("a man", "a woman", "a boy", "a girl")
PLACES = ("in the kitchen", "on the street", "at home", "in a garden", "near a table")
CAST = ("Harry m", "Ron m", "Neville m", "Hermione f", "Ginny f", "Luna f")
MC_OPTIONS = 5


class Scene(NamedTuple):
    """What a clip shows."""

    who: str
    verb: str
    thing: str
    place: str

    @property
    def sentence(self) -> str:
        return f"{self.who} {self.verb} the {self.thing} {self.place}"


def write_msrvtt(folder: Path, n_train: int, n_test: int, seed: int) -> None:
    """Write the videos and sentences of MSR-VTT, its multiple-choice list and the clips."""
    scenes = _scenes(PEOPLE, n_train + n_test, f"{seed}/msrvtt")
    names = [f"video{number}" for number in range(len(scenes))]
    videos = [
        {"video_id": name, "category": 1, "split": "train" if at < n_train else "test", "id": at}
        for at, name in enumerate(names)
    ]
    sentences = [
        {"video_id": name, "sen_id": 2 * at + more, "caption": f"{scene.sentence}{' again' * more}"}
        for at, (name, scene) in enumerate(zip(names, scenes, strict=True))
        for more in (0, 1)
    ]
    _write_json(folder / "MSRVTT_data.json", {"videos": videos, "sentences": sentences})
    with (folder / "msrvtt_mc_test.jsonl").open("w", encoding="utf-8") as file:
        for at in range(n_train, len(scenes)):
            draw = random.Random(f"{seed}/options/{at}")
            others = draw.sample([scene.sentence for scene in scenes[n_train:] if scene != scenes[at]], MC_OPTIONS - 1)
            if at == n_train:
                # The list of a real data set may contain another true caption of the clip.
                others[0] = f"{scenes[at].sentence} again"
            answer = draw.randrange(MC_OPTIONS)
            options = [*others[:answer], scenes[at].sentence, *others[answer:]]
            row = {"qid": f"ret{at - n_train}", "clip_name": names[at], "answer": str(answer), "options": options}
            file.write(json.dumps(row) + "\n")
    _film(folder / "msrvtt_clips", names, scenes)


def write_lsmdc(folder: Path, movies: int, clips: int, seed: int) -> None:
    """Write the annotations of all movies of LSMDC, characters.tsv and the clips."""
    names, scenes, lines, characters = [], [], [], ["movie\tname\tgender"]
    people = [one.split()[0] for one in CAST]
    for movie in range(movies):
        title = f"{movie:04}_Movie_{movie}"
        characters += [f"{title}\t{name}\t{gender}" for name, gender in (one.split() for one in CAST)]
        for at, scene in enumerate(_scenes(people, clips, f"{seed}/lsmdc/{movie}")):
            start, end = (f"00.{moment // 60:02}.{moment % 60:02}.000" for moment in (2 * at, 2 * at + 1))
            names.append(f"{title}_{start}-{end}")
            scenes.append(scene)
            lines.append("\t".join([names[-1], start, end, start, end, f"{scene.sentence}."]))
    (folder / "LSMDC16_annos_training.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "characters.tsv").write_text("\n".join(characters) + "\n", encoding="utf-8")
    _film(folder / "lsmdc_clips", names, scenes)


def _scenes(people: Sequence[str], n: int, seed: str) -> list[Scene]:
    every = [
        Scene(who, verb, thing, place)
        for things, verbs in ACTIONS.items()
        for thing in things
        for verb in verbs
        for place in PLACES
        for who in people
    ]
    return random.Random(seed).sample(every, n)


def _film(folder: Path, names: Sequence[str], scenes: Sequence[Scene]) -> None:
    folder.mkdir()
    for name, scene in zip(names, scenes, strict=True):
        write_mp4(folder / f"{name}.mp4", draw(scene), RATE)


def draw(scene: Scene) -> list[np.ndarray]:
    """Return FRAMES pictures of the scene, each uint8 (SIDE, SIDE, 3)."""
    people = [*PEOPLE, *(one.split()[0] for one in CAST)]
    colour = np.random.default_rng(people.index(scene.who)).integers(0, 256, 3)
    back = np.random.default_rng(100 + THINGS.index(scene.thing)).integers(60, 200, 3)
    verb = VERBS.index(scene.verb)
    angle, size = 2 * np.pi * verb / len(VERBS), SIDE // 4
    pictures = []
    for share in np.linspace(-1, 1, FRAMES):
        picture = np.full((SIDE, SIDE, 3), back, np.uint8)
        x, y = (round((SIDE - size) / 2 * (1 + share * way)) for way in (np.cos(angle), np.sin(angle)))
        picture[y : y + size, x : x + size] = colour
        pictures.append(picture)
    return pictures


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
