"""The table of docs/reference/environment.md: names and defaults come out of foilworks/settings.py, words stand here.

    .venv/bin/python scripts/environment.py update     writes the page

A variable without words, or words without a variable, stop it; tests/scripts/test_environment.py holds the page to
both.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "foilworks" / "settings.py"
PAGE = ROOT / "docs" / "reference" / "environment.md"
HEAD = """# What the environment sets

Made by `scripts/environment.py update` from `foilworks/settings.py`, the only reader of the environment. One file
`.env` may set the same variables. In a clone it is the file beside manage.py. An installed package reads the one in the
working directory or, if there is none, the one in `FOILWORKS_HOME`. The environment wins over the file, and
`foilworks doctor` prints which file it read. A default of – is nothing.
"""
READERS = frozenset({"_env", "_flag", "_whole", "_number", "_choice"})
# Group -> variable -> what it sets. A default that is computed is told here, in brackets at the end.
WORDS = {
    "Data": {
        "FOILWORKS_HOME": "the folder of all data (in a clone `var/` beside manage.py, else `foilworks` in the user's "
        "data folder, on Linux `~/.local/share`)",
        "DATABASE_URL": "`postgresql://user:password@host/name?sslmode=require`; SQLite in the home without it",
        "REDIS_URL": "the queue, `redis://host:6379/0`; one of the home's own without it",
        "STORAGE_URL": "videos: `file:///folder`, or `s3://bucket/prefix?endpoint=https://host&region=name` with "
        "`&public=https://host` where browsers reach the store elsewhere and `&style=virtual` where the bucket is part "
        "of the host; the home's `media/` without it",
        "AWS_ACCESS_KEY_ID": "key of the store; without it what boto3 finds by itself, such as the machine's role",
        "AWS_SECRET_ACCESS_KEY": "its secret",
        "MEDIA_URL_SECONDS": "how long the signed address of a video in a store counts",
        "MEDIA_HOSTS": "hosts, with spaces between them, from which browsers may play videos that have an address and "
        "no file; `host` means https, others by `http://host:port`",
        "SUBMISSION_MAX_MB": "how large a file of scores may be that somebody submits to a public release",
        "SESSION_IDLE_DAYS": "days without a visit after which somebody signs in again",
        "SESSION_MAX_DAYS": "days after which everybody signs in again",
        "SUBMISSION_MAX_OPEN": "submissions per public page that may wait for a decision; 0: no limit",
        "SUBMISSION_KEEP_DAYS": "days after which a submission that nobody decided on is deleted; 0: never",
        "MAX_VIDEO_PIXELS": "pixels of one frame that an imported video may have (4096 x 4096); 0: no limit",
        "MAX_VIDEO_FRAMES": "frames that an imported video may have; 0: no limit",
        "MAX_VIDEO_SECONDS": "seconds that an imported video may last (6 hours); 0: no limit",
        "MAX_VIDEO_STREAMS": "pictures, sounds and subtitles that an imported video may have; 0: no limit",
        "MAX_TABLE_MB": "size of the decoded rows of one imported Parquet file; 0: no limit",
        "MAX_DECODE_MEMORY_MB": "memory of the process that decodes one imported file (on Linux); 0: no limit",
        "MAX_DECODE_SECONDS": "processor seconds that decoding one imported file may take; 0: no limit",
        "UPLOAD_MAX_MB": "how much one import by the page may send in all; a web server before it must let it through",
    },
    "The site": {
        "SECRET_KEY": "signs sessions, links and pseudonyms; the same for every host, for ever (made once in the home)",
        "ALLOWED_HOSTS": "the site's host names, with commas or spaces between them",
        "CSRF_TRUSTED_ORIGINS": "`https://foils.example.org`, with commas or spaces between several",
        "SECURE_COOKIES": "1, once everything goes over TLS",
        "TRUSTED_PROXIES": "how many proxies of yours stand before it: so many addresses of X-Forwarded-For count",
        "SECURE_REDIRECT": "1: who comes without TLS is led to it; behind a proxy that says so in X-Forwarded-Proto",
        "HSTS_SECONDS": "for how long browsers come by TLS alone; 31536000 (a year) once that is sure",
        "HSTS_SUBDOMAINS": "1: that holds for all names below the site's, too",
        "FOILWORKS_DEBUG": "1 shows errors with their code; never where others come",
        "LOG_LEVEL": "`INFO` tells of every job",
        "LOG_FORMAT": "`json`: one object a line, with the ids of request and job; or `plain`",
        "METRICS_TOKEN": "opens `/metrics` (`Authorization: Bearer …`); see [operations.md](../how-to/operations.md)",
        "METRICS_NETWORKS": "networks from which `/metrics` is read without it, such as `10.1.0.0/16`",
        "SENTRY_DSN": "a Sentry that is told of errors, without people, addresses and texts; needs `foilworks[sentry]`",
        "EMAIL_URL": "the mail server of password resets, `smtp://user:password@host:587?tls=1`",
        "EMAIL_FROM": "whom such mail is from",
    },
    "People and programs": {
        "REQUIRE_TWO_FACTOR": "1: researchers' pages wait for a second factor",
        "OIDC_URL": "an identity provider ([people.md](../how-to/people.md#accounts))",
        "OIDC_CLIENT": "our id there",
        "OIDC_SECRET": "our secret there",
        "OIDC_NAME": "how the button of sign-in calls it",
        "OIDC_SIGN_UP": "1: who has no account gets one",
        "API_RATE_LIMIT_PER_MINUTE": "requests that one token of the [API](api.md) may make; 0: no limit",
        "WEBHOOK_NETWORKS": "networks of your own that webhooks may reach, such as `10.1.0.0/16`",
    },
    "Work and models": {
        "FOILWORKS_DEVICE": "`cpu`, `cuda`, `cuda:N` or `auto`",
        "FOILWORKS_THREADS": "threads that the models of one worker use on a CPU (the processors, shared out)",
        "OMP_NUM_THREADS": "the same, where the one above is not set",
        "FOILWORKS_DECODERS": "clips that a worker decodes at once, ahead of its model; 0: its processors less one",
        "FOILWORKS_LEASE_SECONDS": "how long a worker may be silent before its job goes to another",
        "FOILWORKS_GPU_QUOTA": "jobs of one project on their way or at work on the gpu queue; 0: any number",
        "MAX_OPEN_JOBS_PER_PROJECT": "jobs of one project that wait or run at once; more are refused until some ended",
        "FOILWORKS_SHARD_ITEMS": "items of a shard; 0: 512 to 2,048 by the run's size",
        "FOILWORKS_FRAME_CACHE_GB": "decoded frames that are kept; 0 keeps none",
        "FOILWORKS_FRAME_CACHE_FORM": "`lossless`, or `jpeg` (short side 384) for large collections; scores say which",
        "FOILWORKS_VECTOR_CACHE_GB": "vectors of clips that are kept; 0 keeps none",
        "FOILWORKS_CLIP_CACHE_GB": "videos out of an object store that are kept on a host that decodes them",
        "CHAT_ENDPOINTS": "names of OpenAI-compatible endpoints, with spaces between them; each has "
        "`CHAT_<NAME>_URL`, `_MODELS`, `_KEY`, `_PRICE`, `_IN_FLIGHT` "
        "([instruction-models.md](../how-to/instruction-models.md))",
        "WORD_VECTORS": "a file of counter-fitted word vectors, for the filters of word similarity",
        "FOILWORKS_CHROMIUM": "the browser of the tests",
    },
}


def variables(source: str) -> dict[str, str]:
    """Name -> default of every variable that is read by a name written out; "" where there is none."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in READERS or not isinstance(node.args[0], ast.Constant):
            continue
        given = node.args[1] if len(node.args) > 1 else ast.Constant("")
        default = given.value if isinstance(given, ast.Constant) else ""
        found[str(node.args[0].value)] = str(int(default)) if isinstance(default, bool) else str(default)
    return found


def renamed(source: str) -> dict[str, str]:
    """Name today -> name before, of every variable that the settings read under both."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["RENAMED"]:
            return dict(ast.literal_eval(node.value))
    return {}


def page(source: str) -> str:
    """The whole page. ValueError: a variable has no words, or words have no variable."""
    defaults = variables(source)
    told = [name for group in WORDS.values() for name in group]
    without, left = sorted(defaults.keys() - set(told)), sorted(set(told) - defaults.keys())
    if without or left:
        raise ValueError(f"no words for {without}, no variable for {left}; mend WORDS of scripts/environment.py")
    parts = [HEAD]
    for group, rows in WORDS.items():
        lines = [f"| `{name}` | {words} | {_shown(defaults[name])} |" for name, words in rows.items()]
        top = [f"\n## {group}\n", "| variable | what it sets | default |", "|---|---|---|"]
        parts.append("\n".join([*top, *lines, ""]))
    old = [f"| `{before}` | `{now}` |" for now, before in renamed(source).items()]
    top = [
        "\n## Names before 0.2.0\n",
        "They work until 0.4, with a warning on stderr.\n",
        "| before | now |",
        "|---|---|",
    ]
    return "".join([*parts, *(["\n".join([*top, *old, ""])] if old else [])])


def _shown(default: str) -> str:
    return f"`{default}`" if default else "–"


def main(arguments: list[str]) -> int:
    if arguments != ["update"]:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        PAGE.write_text(page(SETTINGS.read_text(encoding="utf-8")), encoding="utf-8")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
