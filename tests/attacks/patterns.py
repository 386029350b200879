"""Find every regular expression of the product, and texts that make one of them slow.

A pattern is a literal (`re.search("…", text)`), a constant of its module, or made by a function from its arguments.
The first two are read off the source. `MADE` has examples of the third kind.
"""

import ast
import gc
import importlib
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import regex

from annotation.pairs.made_clips import MADE_CLIP
from foilworks.core.corpus.import_formats.choice_sets import whole_word
from foilworks.core.corpus.import_formats.lsmdc import names_pattern
from foilworks.core.corpus.vote_records import ANONYMOUS_NAME
from foilworks.core.text.tokens import whole_words
from foilworks.site.reproduction import tst_answers
from generation.grammar.directions import OPPOSITIONS
from generation.grammar.preposition_misfits import SKIP
from generation.grammar.surface import phrase_pattern
from generation.methods._characters import name_pattern
from generation.pairs.paces import PACE

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("annotation", "evaluation", "foilworks", "generation")
LIBRARIES = {"re": re, "regex": regex}
CALLS = frozenset({"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
# What functions make from the words of users or of lists, by the file of the function.
WORDS = ["a", "a a", "aa", "walks away", "in front of", "is"]
MADE: dict[str, Callable[[], list[Any]]] = {
    "foilworks/core/projects/model_folders.py": lambda: [re.compile(r"/home/models/(?:projects/\d+/|shared/)?")],
    "foilworks/core/corpus/import_formats/choice_sets.py": lambda: [whole_word(word) for word in WORDS],
    "foilworks/core/corpus/import_formats/lsmdc.py": lambda: [names_pattern(WORDS)],
    "foilworks/core/corpus/vote_records.py": lambda: [re.compile(ANONYMOUS_NAME)],
    "foilworks/site/reproduction/tst_answers.py": lambda: [tst_answers.WRITTEN, re.compile(tst_answers._WORD)],
    "foilworks/site/backup/rehearsal.py": lambda: [re.compile(r"foilworks_rehearsal_[0-9a-f]{12}")],
    "generation/grammar/preposition_misfits.py": lambda: [re.compile(rf"\b(?:on|in|inside|onto|into) {SKIP}car\b")],
    "generation/grammar/surface.py": lambda: [phrase_pattern(WORDS)],
    "generation/grammar/word_opposites.py": lambda: [row.pattern for row in OPPOSITIONS],
    "generation/pairs/paces.py": lambda: [PACE],
    "annotation/pairs/made_clips.py": lambda: [MADE_CLIP],
    "generation/methods/_characters.py": lambda: [name_pattern(tuple(WORDS))],
    "foilworks/core/media/file_kinds.py": list,
    "foilworks/core/text/tokens.py": lambda: [whole_words(WORDS)],
}
# Characters that patterns and texts are full of, beside those that a pattern names itself.
USUAL = " aA1-'’([.,:\n_é"
END = "\x00 z!"
# Lengths of a text at which it is measured: a pattern of a high degree is noticed before it takes minutes.
LENGTHS = (24, 40, 64, 500, 2000)
# Seconds of processor time per text that no growth can hide in: at the largest length a quadratic scan takes more,
# 1.5 to 3 ms on slow processors.
NOTHING = 0.0002
# n times the length may take n ** 1.6 times the time: between linear and quadratic.
MAX_DEGREE = 1.6
# A text shorter than this share of another takes mostly what every call takes, and leads to expect too much of it.
MIN_SHARE = 1 / 8
TRIES = 6
# A growth that is smaller by this factor needs no further tries.
CLEARLY = 1.5
HANG_S = 1.0
# So many drawn texts or more: the sweep that takes minutes.
MANY = 100


CALLED = re.compile(rf"\.(?:{'|'.join(sorted(CALLS))})\(")
SCANS = {"search", "finditer", "findall", "sub", "subn", "split"}
ANY_USE = frozenset({"finditer", "match", "fullmatch"})


@dataclass(frozen=True)
class Found:
    """A pattern, its place in the source, and how it is used: on a whole text, at a place of it, or all over it."""

    place: str
    pattern: Any
    uses: frozenset[str]

    @property
    def source(self) -> str:
        """The pattern as text; one of bytes as the characters of those numbers."""
        source = self.pattern.pattern
        return source.decode("latin-1") if isinstance(source, bytes) else source

    def __str__(self) -> str:
        return f"{self.place}: {self.source[:100]}"


def parsed(text: str) -> ast.Module:
    """Parse a module without collecting garbage meanwhile.

    A collection can end greenlets of a browser test, and Python 3.11 then finds another depth of recursion than before
    (SystemError).
    """
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()


def product_patterns() -> list[Found]:
    """List each pattern of the product once."""
    paths = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    # The others neither make a pattern nor use one.
    trees = {file: parsed(text) for file, text in texts.items() if CALLED.search(text)}
    uses = _uses_of_names(trees)
    found: dict[Any, Found] = {}
    for file, tree in trees.items():
        for each in _of_file(file, tree, uses):
            key = type(each.pattern), each.pattern.pattern, each.pattern.flags
            before = found[key].uses if key in found else frozenset()
            found[key] = Found(each.place, each.pattern, each.uses | before)
    return list(found.values())


def _uses_of_names(trees: Mapping[str, ast.Module]) -> dict[tuple[str, str], frozenset[str]]:
    """(file, name of a constant) -> how it is used there and where it is imported; any use where it is passed on."""
    inside: dict[tuple[str, str], set[str]] = {}
    imports: list[tuple[str, str, str]] = []
    for file, tree in trees.items():
        methods = {
            id(node.value): _use(node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in CALLS
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                inside.setdefault((file, node.id), set()).update(
                    {methods[id(node)]} if id(node) in methods else ANY_USE
                )
            if isinstance(node, ast.ImportFrom) and node.module:
                source = node.module.replace(".", "/") + ".py"
                imports += [(source, each.name, file) for each in node.names if each.asname is None]
    for source, name, file in imports:
        inside.setdefault((source, name), set()).update(inside.get((file, name), ()))
    return {key: frozenset(uses) for key, uses in inside.items()}


def _use(method: str) -> str:
    return "finditer" if method in SCANS else method


def _of_file(file: str, tree: ast.Module, uses_of: Mapping[tuple[str, str], frozenset[str]]) -> Iterator[Found]:
    made, constants = False, False
    named = {
        id(node.value): target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    in_functions = {id(node) for function in functions for line in function.body for node in ast.walk(line)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS):
            continue
        library = node.func.value
        if not (isinstance(library, ast.Name) and library.id in LIBRARIES):
            continue
        pattern = node.args[0]
        if isinstance(pattern, ast.Constant):
            compiles = node.func.attr == "compile"
            uses = (
                uses_of.get((file, named.get(id(node), "")), ANY_USE) if compiles else frozenset({_use(node.func.attr)})
            )
            yield Found(f"{file}:{node.lineno}", _compiled(LIBRARIES[library.id], node), uses)
        elif id(node) in in_functions:
            made = True
        else:
            constants = True
    if constants:
        module = importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        for name, value in vars(module).items():
            uses = uses_of.get((file, name), ANY_USE)
            yield from (Found(f"{file}: {name}", each, uses) for each in _in(value) if isinstance(each.pattern, str))
    if made:
        assert file in MADE, f"{file} makes patterns: give examples in MADE of tests/attacks/patterns.py"
        yield from (Found(file, each, ANY_USE) for each in MADE[file]())


def _compiled(library: Any, call: ast.Call) -> Any:
    """The pattern of a call with a literal, with the flags that the call gives."""
    given = [each.value for each in call.keywords if each.arg == "flags"]
    given += [each for each in call.args[1:] if "re" in {n.id for n in ast.walk(each) if isinstance(n, ast.Name)}]
    flags = [eval(ast.unparse(each), dict(LIBRARIES)) for each in given if _names_flags(each)]
    return library.compile(ast.literal_eval(call.args[0]), *flags[:1])


def _names_flags(node: ast.expr) -> bool:
    attributes = [each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    return bool(attributes) and all(name.isupper() for name in attributes)


def _in(value: Any) -> Iterator[Any]:
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _in(each)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _in(each)


def attacks(source: str, *, words: int, drawn: int) -> Iterator[Callable[[int], str]]:
    """Yield makers of texts of a given length that are close to what the pattern wants, and end otherwise.

    They repeat one character, two, or words of the pattern, some after a first word; `drawn` more repeat three pieces
    after each other, or are random strings of pieces. At most `words` words of the pattern are used, and as many runs.
    """
    source = re.sub(r"\\?\s", " ", re.sub(r"\\s[+*?]*", " ", source))
    plain = re.sub(r"\\[A-Za-z]|\(\?[a-zA-Z]*:|\(\?P?<\w*>|\(\?P=\w+\)", " ", source)
    forms = (r"[^\W\d_]{2,}", r"[^\W\d_]+(?: +[^\W\d_]+)+")
    pieces = [f"{each} " for form in forms for each in _some(re.findall(form, plain), words)]
    own = [char for char in dict.fromkeys(plain) if not char.isalnum() and char not in "\\|?*+^$"]
    characters = list(dict.fromkeys([*USUAL, *own]))
    for start, pump in product(["", *pieces, '"', "(", "a", "1"], [*characters, *pieces]):
        yield partial(_text, start, (pump,))
    for one, other in product(characters, own if drawn < MANY else characters):
        yield partial(_text, "", (one + other,))
    luck, blocks = Random(source), [*pieces, *characters]
    for _ in range(drawn):
        yield partial(_text, "", tuple(luck.choice(blocks) for _ in range(3)))
        yield partial(_text, "", ("".join(luck.choice(blocks) for _ in range(luck.randint(3, 6))),))


def _text(start: str, pumps: Sequence[str], length: int) -> str:
    """`start`, then each of the pumps again and again, in a text of about `length` characters."""
    share = max(0, length - len(start)) // len(pumps)
    return start + "".join(pump * (share // len(pump)) for pump in pumps) + END


def _some(pieces: list[str], most: int) -> list[str]:
    """At most so many of the pieces, from all over the list."""
    distinct = list(dict.fromkeys(pieces))
    return distinct[:: max(1, len(distinct) // most)][:most]


def grows_too_fast(
    act: Callable[[str], object],
    make: Callable[[int], str],
    *,
    lengths: Sequence[int] = LENGTHS,
    nothing: float = NOTHING,
) -> str:
    """Say how the processor time of `act(make(n))` grows, where that is faster than linear; empty where it is not.

    Other load makes a time longer, never shorter: of both texts, the shortest of several times counts, taken in turns.
    """
    measured: list[tuple[int, float]] = []
    for length in lengths:
        text = make(length)
        took = seconds(act, text)
        if took > nothing and measured:
            # Cut elsewhere, a text may be read in a quicker way: the shorter text that leads to expect most.
            near = [one for one in measured if one[0] >= MIN_SHARE * length]
            short, before = max(near, key=lambda one: one[1] * (length / one[0]) ** MAX_DEGREE)
            growth, small = (length / short) ** MAX_DEGREE, make(short)
            for _ in range(TRIES):
                before, took = min(before, seconds(act, small)), min(took, seconds(act, text))
                if took * CLEARLY <= growth * before or took <= nothing:
                    break
            if took > max(nothing, growth * before):
                return f"{short} -> {length} characters: {before * 1e3:.2f} -> {took * 1e3:.2f} ms, {text[:60]!r}"
        measured.append((length, took))
    return ""


def seconds(act: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    act(text)
    return time.thread_time() - start


def use(found: Found) -> Callable[[str], object]:
    """Use the pattern in each way in which the product does."""

    def act(given: str) -> None:
        text = given.encode() if isinstance(found.pattern.pattern, bytes) else given
        if "finditer" in found.uses:
            for _ in found.pattern.finditer(text):
                pass
        if "match" in found.uses:
            found.pattern.match(text)
        if "fullmatch" in found.uses:
            found.pattern.fullmatch(text)

    return act


class Endless(AssertionError):
    """It computed for longer than anything here may."""


@contextmanager
def no_hang(what: object, limit_s: float = HANG_S) -> Iterator[None]:
    """Fail with a sentence where the block computes for longer than this: `re` looks for signals at its work."""

    def stop(*_: object) -> None:
        raise Endless(f"{what} does not end")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def slow_text(found: Found, *, words: int = 6, drawn: int = 30) -> str:
    """The first attack that makes this pattern slow, and how slow; empty where none does."""
    for make in attacks(found.source, words=words, drawn=drawn):
        try:
            with no_hang(found):
                told = grows_too_fast(use(found), make)
        except Endless as error:
            told = f"{error} at {make(24)!r}"
        if told:
            return told
    return ""
