"""Count the small faults in the pure rules and metrics that the tests notice, and list those that they miss.

    make mutations                                  all packages; a second run tries the missed ones again
    .venv/bin/python -m tests.mutations.mutations evaluation/metrics    only files whose path begins like this
    .venv/bin/python -m tests.mutations.mutations --sample 400 --seed 1 annotation    a random sample of each package
    .venv/bin/python -m tests.mutations.mutations --report  print the result of the last run
    .venv/bin/python -m tests.mutations.mutations --fresh   start again in a new copy

mutmut makes the faults (mutants), in a copy of the tree in .mutations/; mutations_pytest.py tries them there,
each in a process of its own, forked off one that has collected the tests. Tests that need tables are left out. A fault
that no test can notice, because the code does the same with it, is in equivalent_mutants.toml with its reason
and does not count. Errors: a row there that matches no survivor, and a package below the required score.
"""

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / ".mutations"
EQUIVALENT = Path(__file__).resolve().with_name("equivalent_mutants.toml")
# Package -> its files that need neither tables, pages, models nor a process of their own; () means all.
PACKAGES: dict[str, tuple[str, ...]] = {
    "foilworks/core/corpus/rules": (),
    "annotation/rules": (),
    "evaluation/metrics": (),
    "evaluation/analyses": (),
    "evaluation/audit": (
        *("audit.py", "checks.py", "gathering.py", "ladder.py", "file_reader.py", "records.py"),
        *("repeats.py", "check_texts.py"),
    ),
    "evaluation/ladder": ("selection.py", "wording.py"),
    "evaluation/utd": (
        "cells.py",
        "guards.py",
        "required_texts.py",
        "regression.py",
        "reliability.py",
        "splits.py",
        "verdicts.py",
    ),
    "generation/balance": (),
    "generation/methods": (
        *("_characters.py", "_chat_answers.py", "_lexicon.py", "_number_quotas.py", "_proficiency.py", "_random.py"),
        *("actor_swap.py", "colour_swap.py", "existence.py", "lexicon_swap.py", "gender_swap.py", "identity_swap.py"),
        *("number.py", "object_swap.py", "person.py", "preposition.py", "proficiency_action.py"),
        *("proficiency_object.py", "random_caption.py", "state_change.py"),
    ),
    "foilworks/core/media": (
        *("clock.py", "container.py", "encode.py", "file_cache.py", "file_kinds.py", "frame_cache.py", "frames.py"),
        *("indexes.py", "limits.py", "packets.py", "picture.py", "playable.py", "probe.py", "ranges.py"),
        *("reversal.py", "sampling.py", "truncation.py"),
    ),
}
ASKED = 0.85
# Folders of tests; files are read if they, or helpers of tests that they import, name one of the packages.
TESTS = ("tests/corpus", "tests/annotation", "tests/evaluation", "tests/generation", "tests/media")
ELSEWHERE = ("/teacher/", "/dashboard/", "/shards/")
KILLED, SURVIVED, UNTESTED = "killed", "survived", "untested"
# (file, function, old lines, new lines)
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Mutant:
    """One fault.

    `key`: mutmut's name; `identity`: equal if the function and the fault are equal; `was`, `now`: the lines that it
    changes, stripped, joined by a space.
    """

    key: str
    identity: str
    file: str
    function: str
    line: int
    was: str
    now: str

    @property
    def place(self) -> Place:
        return self.file, self.function, self.was, self.now

    @property
    def covered_as(self) -> str:
        """Return mutmut's name of the function, as its trampolines report it."""
        return self.key.rpartition("__mutmut_")[0]

    def said(self, outcome: str) -> str:
        untested = "  (no test runs this)" if outcome == UNTESTED else ""
        return f"{self.file}:{self.line} {self.function}{untested}\n    - {self.was}\n    + {self.now}"


@dataclass(frozen=True)
class Score:
    """The score of a package.

    `equivalent` mutants do not count; with `untried` ones the run is incomplete.
    """

    killed: int
    survived: int
    equivalent: int
    untried: int

    @property
    def share(self) -> float | None:
        counted = self.killed + self.survived
        return self.killed / counted if counted else None


def changed(original: str, mutant: str) -> tuple[int, str, str]:
    """Compare a function's two texts: (0-based line of the first change, old lines, new lines)."""
    old, new = original.splitlines(), mutant.splitlines()
    # Their first lines differ in the name: compare only what follows it.
    old[0], new[0] = old[0].partition("(")[2], new[0].partition("(")[2]
    shorter = min(len(old), len(new))
    start = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    end = next((k for k in range(shorter - start) if old[-1 - k] != new[-1 - k]), shorter - start)
    was, now = old[start : len(old) - end], new[start : len(new) - end]
    return start, " ".join(line.strip() for line in was), " ".join(line.strip() for line in now)


def function_of(name: str) -> str:
    """Return the function of mutmut's name: "x_share__mutmut_3" -> "share", "xǁRunǁrank__mutmut_1" -> "Run.rank"."""
    bare = name.rpartition("__mutmut_")[0]
    return bare[2:].replace("ǁ", ".") if bare.startswith("xǁ") else bare.removeprefix("x_")


def function_lines(source: str) -> dict[str, int]:
    """Return the line of each function and of each method of a class ("Class.method")."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node.lineno
        elif isinstance(node, ast.ClassDef):
            inner = (child for child in node.body if isinstance(child, ast.FunctionDef))
            found.update({f"{node.name}.{child.name}": child.lineno for child in inner})
    return found


def mutants_of(file: str, source: str, mutated: str, spans: Mapping[str, tuple[int, int]]) -> Iterator[Mutant]:
    """Yield the mutants of a file.

    `spans`: first and last line (1-based) of each function that mutmut has put into `mutated`.
    """
    lines, begins = mutated.splitlines(), function_lines(source)

    def text(name: str) -> str:
        body = lines[spans[name][0] - 1 : spans[name][1]]
        first = next(k for k, line in enumerate(body) if line.strip().startswith("def "))
        return "\n".join(body[first:])

    module = file.removesuffix(".py").replace("/", ".")
    for name in spans:
        bare, _, number = name.rpartition("__mutmut_")
        if not number.isdigit():
            continue
        original, mutant = text(f"{bare}__mutmut_orig"), text(name)
        offset, was, now = changed(original, mutant)
        function = function_of(name)
        body = mutant.partition("(")[2]
        identity = hashlib.sha256(f"{file}\n{original}\n{body}".encode()).hexdigest()[:16]
        yield Mutant(f"{module}.{name}", identity, file, function, begins[function] + offset, was, now)


def make_mutants(copy: Path, only: tuple[str, ...]) -> list[Mutant]:
    """Write mutmut's mutants of those files into the copy, each inactive until its name is set; return all."""
    # It reads its settings in the working directory; imported here, because tests do not install it.
    (copy / "setup.cfg").write_text("[mutmut]\nsource_paths=\n    " + "\n    ".join(PACKAGES) + "\n", encoding="utf-8")
    os.chdir(copy)
    from mutmut.mutation.file_mutation import mutate_file_contents

    listed = copy / "mutants.json"
    before: dict[str, list[dict[str, Any]]] = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
    found: dict[str, list[Mutant]] = {}
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        file, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        package = next(package for package in PACKAGES if file.startswith(f"{package}/"))
        plain = copy / "plain" / file
        if file in before and plain.exists() and plain.read_text(encoding="utf-8") == source:
            found[file] = [Mutant(**row) for row in before[file]]
            continue
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        if not file.startswith(only) or (PACKAGES[package] and path.name not in PACKAGES[package]):
            (copy / file).write_text(source, encoding="utf-8")
            continue
        made = mutate_file_contents(file, source)
        (copy / file).write_text(made.code, encoding="utf-8")
        spans = {name: (span.start, span.end) for name, span in made.line_span_by_function_name.items()}
        found[file] = list(mutants_of(file, source, made.code, spans))
        plain.parent.mkdir(parents=True, exist_ok=True)
        plain.write_text(source, encoding="utf-8")
    listed.write_text(json.dumps({file: [asdict(each) for each in rows] for file, rows in found.items()}), "utf-8")
    return [each for rows in found.values() for each in rows]


def bring(copy: Path) -> None:
    """Copy the tree as git knows it, with new files, into the copy; equal files stay untouched."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for name in sorted(name for name in names if not name.startswith(tuple(f"{package}/" for package in PACKAGES))):
        source, target = ROOT / name, copy / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for folder in (*PACKAGES, *TESTS):
        for old in list((copy / folder).rglob("*.py")):
            if old.relative_to(copy).as_posix() not in names:
                old.unlink()


def test_files(copy: Path, packages: Iterable[str]) -> list[str]:
    """Return the test files that name one of the packages, except those in which every test needs tables."""
    # The name of a top-level package is a common word: only an import of it counts.
    named = [package.replace("/", ".") if "/" in package else f"from {package}" for package in packages]
    files = sorted(path for folder in TESTS for path in (copy / folder).rglob("*.py"))
    texts = {path.relative_to(copy).as_posix(): path.read_text(encoding="utf-8") for path in files}
    helpers = [name for name, text in texts.items() if "/test_" not in name and any(each in text for each in named)]
    named += [f"from {name.removesuffix('.py').replace('/', '.')} import" for name in helpers]
    found = []
    for name, text in texts.items():
        tables = "\npytestmark = pytest.mark.django_db" in text
        if "/test_" in name and any(each in text for each in named) and not tables:
            found += [] if any(part in name for part in ELSEWHERE) else [name]
    return found


def outcomes(copy: Path) -> dict[str, str]:
    """Return {identity: outcome}, the latest of each."""
    path = copy / "outcomes.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(line.split(" ", 1) for line in lines if " " in line)


def sample(mutants: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """Draw up to so many mutants of each package, in proportion to the mutants of its files."""
    by_package: dict[str, list[tuple[str, str, Mutant]]] = {}
    for each in mutants:
        package = next(package for package in PACKAGES if each.file.startswith(f"{package}/"))
        drawn = hashlib.sha256(f"{seed} {each.identity}".encode()).hexdigest()
        by_package.setdefault(package, []).append((each.file, drawn, each))
    found = []
    for rows in by_package.values():
        rows.sort(key=lambda row: row[:2])
        # Equal steps through the files, each in random order.
        taken = min(size, len(rows))
        found += [rows[(2 * k + 1) * len(rows) // (2 * taken)][2] for k in range(taken)]
    return found


def try_mutants(copy: Path, mutants: Iterable[Mutant], processes: int) -> int:
    """Run the tests over the mutants that are not known to be noticed.

    Their order is random: the mutants tried so far are a fair sample whenever the run is stopped.
    """
    known = outcomes(copy)
    left = sorted((each for each in mutants if known.get(each.identity) != KILLED), key=lambda each: each.identity)
    waiting = [asdict(each) | {"covered_as": each.covered_as} for each in left]
    (copy / "waiting.json").write_text(json.dumps(waiting), encoding="utf-8")
    if not waiting:
        return 0
    environment = {**os.environ, "MUTANT_PROCESSES": str(processes), "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(["tests/mutations", *filter(None, [environment.get("PYTHONPATH")])])
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    options = ["-q", "-p", "mutations_pytest", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    packages = {each["file"].rpartition("/")[0] for each in waiting}
    command = [sys.executable, "-m", "pytest", *options, *test_files(copy, packages)]
    return subprocess.run(command, cwd=copy, env=environment, check=False).returncode


def reasons(text: str) -> dict[Place, str]:
    """Return {place: why it is equivalent} from the table."""
    rows = tomllib.loads(text).get("equivalent", [])
    return {(row["file"], row["function"], row["was"], row["now"]): row["why"] for row in rows}


def score(mutants: Iterable[Mutant], ended: Mapping[str, str], known: Mapping[Place, str]) -> Score:
    words = [(each, ended.get(each.identity)) for each in mutants]
    alive = [each for each, word in words if word in (SURVIVED, UNTESTED)]
    equivalent = sum(each.place in known for each in alive)
    killed = sum(word == KILLED for _each, word in words)
    return Score(killed, len(alive) - equivalent, equivalent, len(words) - killed - len(alive))


def report(
    mutants: Sequence[Mutant], ended: Mapping[str, str], known: Mapping[Place, str], *, sampled: bool = False
) -> list[str]:
    """Print survivors and the table of packages; return the errors.

    `sampled`: they are a sample, so scores get 95 % intervals (Wilson) and no row of the table is without a survivor.
    """
    alive = [each for each in mutants if ended.get(each.identity) in (SURVIVED, UNTESTED)]
    for each in alive:
        if each.place not in known:
            print(each.said(ended[each.identity]))
    wrong = []
    print(f"\n{'package':<22}{'killed':>8}{'survived':>10}{'equivalent':>12}{'untried':>9}{'score':>24}")
    for package in PACKAGES:
        found = score([each for each in mutants if each.file.startswith(f"{package}/")], ended, known)
        shown = "-" if found.share is None else f"{100 * found.share:.1f} %"
        if sampled and found.share is not None:
            within = binomtest(found.killed, found.killed + found.survived).proportion_ci(method="wilson")
            shown += f" ({100 * within.low:.1f} to {100 * within.high:.1f})"
        print(f"{package:<22}{found.killed:>8}{found.survived:>10}{found.equivalent:>12}{found.untried:>9}{shown:>24}")
        if found.share is not None and found.share < ASKED:
            wrong.append(f"{package}: {shown} is below {100 * ASKED:.0f} %")
    if sampled:
        return wrong
    places = {each.place for each in mutants if ended.get(each.identity) != KILLED}
    made = {each.file for each in mutants}
    stale = [place for place in known if place not in places and place[0] in made]
    return wrong + [f"{file} {function}: no survivor is `{now}`; remove the row" for file, function, _was, now in stale]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="only files whose path begins like this (default: all)")
    parser.add_argument("--fresh", action="store_true", help="start again in a new copy")
    parser.add_argument("--report", action="store_true", help="print only the result of the last run")
    parser.add_argument("--sample", type=int, metavar="N", help="only a random sample of N mutants per package")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the sample (default 0)")
    parser.add_argument("--untried", action="store_true", help="draw the sample from mutants that no run has tried")
    parser.add_argument("--processes", type=int, default=1, help="number of mutants in parallel (default 1)")
    told = parser.parse_args()
    if told.fresh and COPY.exists():
        shutil.rmtree(COPY)
    COPY.mkdir(exist_ok=True)
    listed, drawn = COPY / "mutants.json", COPY / "sample.json"
    only = tuple(told.only) or ("",)
    if not told.report:
        bring(COPY)
        chosen = [each for each in make_mutants(COPY, only) if each.file.startswith(only)]
        drawn.unlink(missing_ok=True)
        if told.sample:
            tried = outcomes(COPY) if told.untried else {}
            chosen = sample([each for each in chosen if each.identity not in tried], told.sample, told.seed)
            drawn.write_text(json.dumps([each.identity for each in chosen]), encoding="utf-8")
        if failed := try_mutants(COPY, chosen, told.processes):
            return failed
    mutants = [Mutant(**row) for rows in json.loads(listed.read_text("utf-8")).values() for row in rows]
    if drawn.exists():
        kept = set(json.loads(drawn.read_text("utf-8")))
        mutants = [each for each in mutants if each.identity in kept]
    known = reasons(EQUIVALENT.read_text(encoding="utf-8"))
    wrong = report(mutants, outcomes(COPY), known, sampled=drawn.exists())
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
