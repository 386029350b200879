"""Name the new spelling of options that 0.4 moved, so that a script of 0.3 stops with one clear line."""

from collections.abc import Sequence

# Commands whose subcommand comes before every option since 0.4 -> what to write.
SUBCOMMANDS = {
    "evaluate": "`foilworks evaluate model SPEC`, `evaluate endpoint NAME/MODEL` or `evaluate file SCORES`, then the "
    "options",
    "subtest": "`foilworks subtest create NAME`, `link NAME` or `collect-votes NAME`, then the options",
    "teacher": "`foilworks teacher train`, `estimate`, `resume`, `evaluate` or `export`, then the options",
    "utd": "`foilworks utd describe`, `import`, `bias` …, then the options",
}
_MIXTURE = {"--per-caption": "--set negatives.per_caption=N", "--negatives-seed": "--set negatives.seed=N"}
_ASSUMPTIONS = (
    "model_agreement",
    "power",
    "items_per_video",
    "similarity",
    "vote_agreement",
    "pairs_per_item",
    "votes_per_pair",
    "votes_needed",
    "stop_early",
    "full_share",
    "votes_max",
    "divided",
    "seconds_per_vote",
    "hours_per_person",
)
_REPORT_PARAMETERS = ("coding", "base", "unit", "cut", "share", "ties", "precision", "epsilon", "people")
# Command, or command and subcommand -> old option -> new spelling.
MOVED = {
    "audit": {"--sample": "--set sample=ITEMS", "--seed": "--set seed=N"},
    "import": {
        "--value": "--set FIELD=TEXT",
        "--records": "--set records=PATH",
        "--explode": "--set explode=COLUMN",
        "--separator": "--set separator=TEXT",
    },
    "prune": {
        "--file": "FILE, without an option",
        "--kind": "foilworks prune FILE, which has one procedure",
        "--foils": "foilworks prune FILE, which keeps items whole",
        "--valid": "foilworks release --balance SUBTEST, which reads the valid items of a project",
        "--seed": "--set seed=N",
    },
    "plan": {f"--{name.replace('_', '-')}": f"--set {name}=…" for name in _ASSUMPTIONS},
    "report": {f"--{name}": f"--set {name}=…" for name in _REPORT_PARAMETERS},
    "teacher train": {**_MIXTURE, "--estimate": "foilworks teacher estimate"},
    "teacher export": _MIXTURE,
    "utd bias": {
        "--run": "foilworks utd results --run ID",
        "--max-reading": "--set max_reading=…",
        "--texts": "--set texts=…",
        "--empty-frames": "--set empty_frames=…",
        "--numbering": "--set numbering=…",
        "--captions": "--set captions=…",
        "--ties": "--set ties=…",
        "--bootstrap": "--set bootstrap=…",
        "--c": "--set c=…",
    },
    "utd describe": {
        "--describer": "--set describer=M",
        "--extractor": "--set extractor=M",
        "--frames": "--set frames=N",
        "--placement": "--set placement=…",
    },
}
HELP_OPTIONS = {"-h", "--help", "--version"}


def moved_hint(command: str, arguments: Sequence[str]) -> str:
    """Return what to write since 0.4, or "" if nothing in the arguments moved."""
    first = arguments[0] if arguments else "--help"
    if command in SUBCOMMANDS and first.startswith("-") and first not in HELP_OPTIONS and first != "--json":
        return f"`{first}` is before the subcommand; write {SUBCOMMANDS[command]}"
    for name in (f"{command} {first}", command):
        for argument in arguments:
            option = argument.partition("=")[0]
            if option in MOVED.get(name, {}):
                return f"`{option}` of `foilworks {name}` is now `{MOVED[name][option]}`"
    return ""
