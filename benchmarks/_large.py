"""Grow the sample project to any number of items: each row of its content is copied, with its own keys and texts."""

from collections.abc import Iterator
from typing import Any

# What grows with the items; people, subtests, guidelines, runs and the release stay as they are.
GROWS = (
    *("corpus.Video", "corpus.Caption", "corpus.Item", "corpus.Foil"),
    *("generation.CandidateGroup", "generation.Candidate", "generation.FilterScore"),
    *("annotation.Task", "annotation.Slot", "annotation.Lease", "annotation.Edit", "annotation.Edit_candidates"),
    *("annotation.Review", "annotation.Vote", "annotation.Involvement", "projects.AuditEvent"),
)
# Columns that are unique in the project, and texts.
OWN_KEYS = {"idempotency_key"}
# A clip's hash, other in each copy; what follows it in the key of a score stays.
CLIP = "CASE WHEN length({0}) >= 64 THEN lpad(CAST(c.k AS varchar), 8, '0') || substr({0}, 9) ELSE {0} END"
SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru")


def fill(items: int, home: str) -> int:
    """Make the tables of an empty database, load the demo from the SQLite file of a home, and grow it."""
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    import django
    from _served import make_tables

    django.setup()
    from django.contrib.auth.models import Permission
    from django.contrib.contenttypes.models import ContentType
    from django.core.management import call_command
    from django.core.management.commands.migrate import Command as Migrate

    with tempfile.TemporaryDirectory(prefix="foilworks-dump-") as folder:
        env = {**os.environ, "DATABASE_URL": f"sqlite:///{home}/foilworks.sqlite3"}
        manage = [sys.executable, str(Path(__file__).resolve().parent.parent / "manage.py")]
        left = (f"--exclude={name}" for name in ("contenttypes", "auth.permission", "sessions", "django_rq"))
        dump = Path(folder) / "demo.json"
        subprocess.run([*manage, "migrate", "--verbosity", "0"], env=env, check=True)
        subprocess.run([*manage, "dumpdata", *left, "-o", str(dump)], env=env, check=True, stdout=subprocess.DEVNULL)
        make_tables()
        call_command(Migrate(), fake=True, verbosity=0)
        Permission.objects.all().delete()
        ContentType.objects.all().delete()
        call_command("loaddata", str(dump), verbosity=0)
    return grow(items)


def grow(items: int) -> int:
    """Copy the rows of the only project until it has about so many items; the number of items."""
    from django.db import connection

    from foilworks.core.corpus.models import Item, Release, ReleaseItem

    of_one = Item.objects.count()
    copies = max(0, -(-items // of_one) - 1)
    with connection.cursor() as cursor:
        _constraints(cursor, on=False)
        cursor.execute("CREATE TEMPORARY TABLE copies (k integer, word text)")
        words = [(k, f" near the {_word(k)}") for k in range(1, copies + 1)]
        cursor.executemany("INSERT INTO copies VALUES (%s, %s)", words)
        _scores(cursor)
        strides = {label: _stride(label) for label in GROWS}
        for label in GROWS:
            _copy(cursor, label, strides)
        _release_items(words, strides)
        _constraints(cursor, on=True)
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")
    for release in Release.objects.all():
        Release.objects.filter(pk=release.pk).update(n_items=ReleaseItem.objects.filter(release=release).count())
    return Item.objects.count()


def _word(k: int) -> str:
    return "".join(SYLLABLES[int(digit)] for digit in f"{k:03d}")


def _model(label: str) -> Any:
    from django.apps import apps

    return apps.get_model(label)


def _scores(cursor: Any) -> None:
    """Copy the scores by the clips and texts of the copies; texts are known by those of captions and foils."""
    texts = "SELECT text, text_sha256 FROM corpus_caption UNION SELECT text, text_sha256 FROM corpus_foil"
    names = "model_key, protocol, value, kind, higher_is_better, clip_key, text_sha256"
    own = "t.model_key, t.protocol, t.value, t.kind, t.higher_is_better"
    values = f"{own}, {CLIP.format('t.clip_key')}, {_hash('x.text || c.word')}"
    found = f"evaluation_score t JOIN ({texts}) x ON x.text_sha256 = t.text_sha256 CROSS JOIN copies c"
    cursor.execute(f"INSERT INTO evaluation_score ({names}) SELECT {values} FROM {found}")  # noqa: S608 - own names


def _release_items(words: list[tuple[int, str]], strides: dict[str, int]) -> None:
    from foilworks.core.corpus.models import ReleaseItem

    rows = list(ReleaseItem.objects.all())
    for k, word in words:
        copies = [
            ReleaseItem(
                release_id=row.release_id,
                item_id=row.item_id + k * strides["corpus.Item"],
                video_id=row.video_id + k * strides["corpus.Video"],
                position=row.position + k * len(rows),
                record=_record(row.record, k, word),
            )
            for row in rows
        ]
        ReleaseItem.objects.bulk_create(copies)


def _record(record: dict[str, Any], k: int, word: str) -> dict[str, Any]:
    simpler, video = record["proficiency"], record["video"]
    own = {"id": f"{record['id']}-{k}", "caption": record["caption"] + word, "foils": _worded(record, word)}
    sha = f"{k:08d}{video['sha256'][8:]}"
    own["video"] = {**video, "key": f"{video['key']}-{k}", "source_id": f"{video['source_id']}-{k}", "sha256": sha}
    if simpler:
        texts = {"caption": simpler["caption"] + word, "foils": _worded(simpler, word)}
        own["proficiency"] = {**simpler, "id": f"{simpler['id']}-{k}", **texts}
    return {**record, **own}


def _worded(record: dict[str, Any], word: str) -> list[str]:
    return [foil + word for foil in record["foils"]]


def _stride(label: str) -> int:
    return _model(label).objects.order_by("-pk").values_list("pk", flat=True).first() or 1


def _constraints(cursor: Any, *, on: bool) -> None:
    """Without a look at each row that a row refers to: a million of them take minutes."""
    from django.db import connection

    if connection.vendor == "sqlite":
        cursor.execute(f"PRAGMA foreign_keys = {'ON' if on else 'OFF'}")
        connection.connection.create_function("own_sha256", 1, _sha256, deterministic=True)
        connection.connection.create_function("lpad", 3, lambda text, width, fill: text.rjust(width, fill))
    else:
        cursor.execute(f"SET session_replication_role = {'DEFAULT' if on else 'replica'}")


def _sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def _hash(expression: str) -> str:
    from django.db import connection

    if connection.vendor == "sqlite":
        return f"own_sha256({expression})"
    return f"encode(sha256(convert_to({expression}, 'UTF8')), 'hex')"


def _copy(cursor: Any, label: str, strides: dict[str, int]) -> None:
    from django.db import connection

    model = _model(label)
    table, columns = model._meta.db_table, list(_columns(model, strides))
    names = ", ".join(f'"{name}"' for name, _value in columns)
    values = ", ".join(value for _name, value in columns)
    found = f'"{table}" t CROSS JOIN copies c'
    cursor.execute(f'INSERT INTO "{table}" ({names}) SELECT {values} FROM {found}')  # noqa: S608 - own names
    if connection.vendor != "sqlite":
        last = _stride(label)
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, last])


def _columns(model: Any, strides: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield each column with its expression: keys and references into copied tables move by the copy."""
    for field in model._meta.concrete_fields:
        name = field.column
        of = field.related_model._meta.label if field.is_relation else model._meta.label if field.primary_key else ""
        if stride := strides.get(of):
            yield name, f't."{name}" + c.k * {stride}'
        else:
            yield name, _value(model._meta.label, name, strides)


def _value(label: str, name: str, strides: dict[str, int]) -> str:
    own = f't."{name}"'
    if label == "projects.AuditEvent" and name == "target_id":
        return _target(strides)
    if name == "text":
        return f"{own} || c.word"
    if name == "text_sha256":
        return _hash("t.text || c.word")
    if name == "token":
        return f"CASE WHEN {own} = '' THEN '' ELSE lpad(CAST(c.k AS varchar), 8, '0') || substr({own}, 9) END"
    if name == "sha256":
        return CLIP.format("t.sha256")
    if name == "source_id" or (name == "key" and label.startswith("corpus.")) or name in OWN_KEYS:
        return f"CASE WHEN {own} = '' THEN '' ELSE {own} || '-' || c.k END"
    return own


def _target(strides: dict[str, int]) -> str:
    cases = " ".join(
        f"WHEN '{label.lower()}' THEN CAST(CAST(t.target_id AS integer) + c.k * {stride} AS varchar)"
        for label, stride in strides.items()
    )
    return f"CASE t.target_type {cases} ELSE t.target_id END"
