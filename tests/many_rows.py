"""Very many rows in seconds: one INSERT … SELECT from a series of numbers per table."""

from django.db import connection, models

SQLITE_SERIES = "WITH RECURSIVE s(n) AS (SELECT %s UNION ALL SELECT n + 1 FROM s WHERE n < %s)"

# Of `n`, as long as a SHA-256.
DIGEST = {"sqlite": "printf('%064d', n)", "postgresql": "lpad(n::text, 64, '0')"}


def multiply(row: models.Model, first: int, last: int, **columns: str) -> None:
    """Rows like the unsaved `row`, numbered `n` from `first` to `last`; `n` is their key, too.

    `columns`: field -> an SQL expression in `n`, in the place of the row's own value.
    """
    fields = [field for field in row._meta.concrete_fields if not field.primary_key]
    names, values, arguments = [connection.ops.quote_name(row._meta.pk.column)], ["n"], []
    for field in fields:
        names.append(connection.ops.quote_name(field.column))
        if field.name in columns:
            values.append(columns[field.name].replace("%", "%%"))
        else:
            values.append("%s")
            arguments.append(field.get_db_prep_save(field.pre_save(row, True), connection))
    table = connection.ops.quote_name(row._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                f"{SQLITE_SERIES} INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM s",
                [first, last, *arguments],
            )
            return
        # Without a look at each row that a row refers to: a million of them take minutes.
        cursor.execute("SET session_replication_role = replica")
        made = f"SELECT {', '.join(values)} FROM generate_series(%s::bigint, %s) AS n"
        cursor.execute(f"INSERT INTO {table} ({', '.join(names)}) {made}", [*arguments, first, last])
        cursor.execute("SET session_replication_role = DEFAULT")
        sequence = "SELECT setval(pg_get_serial_sequence(%s, %s), %s)"
        cursor.execute(sequence, [row._meta.db_table, row._meta.pk.column, last])


def analyse() -> None:
    """The planner learns what is there, and that all of it is settled, as a server's own care has it."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def validation_project(places: int, *, overlap: int = 3, slug: str = "many") -> object:
    """A project with so many open places (rounded up to whole items), its items numbered from 1; the project's row.

    One caption a video and one foil an item, tasks and places as `make_tasks` makes them, but for their shuffle.
    """
    from annotation.models import Slot, Stage, Task
    from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
    from foilworks.core.corpus.rules.states import ItemState
    from foilworks.core.projects.models import Project

    project = Project.objects.create(slug=slug, name=slug)
    subtest = Subtest.objects.create(project=project, name="direction")
    n = -(-places // overlap)
    clip = {"media_state": MediaState.READY, "file": "none.mp4", "duration": 2.0, "fps": 12.0, "n_frames": 24}
    multiply(Video(project=project, **clip), 1, n, key="'v' || n")
    text, digest = "'person ' || n || ' {} a shirt.'", DIGEST[connection.vendor]
    multiply(Caption(), 1, n, video="n", key="'c' || n", text=text.format("folds"), text_sha256=digest)
    item = Item(project=project, subtest=subtest, state=ItemState.IN_VALIDATION)
    multiply(item, 1, n, video="n", caption="n", key="'i' || n")
    multiply(Foil(position=0), 1, n, item="n", text=text.format("unfolds"), text_sha256=digest)
    task = Task(project=project, stage=Stage.VALIDATION, overlap=overlap)
    multiply(task, 1, n, video="n", item="n", foil="n")
    of_task, shuffled = f"(n - 1) / {overlap} + 1", f"2 + ((((n - 1) / {overlap} + 1) * 7919) % 1000003) / 1000003.0"
    multiply(
        Slot(project=project, stage=Stage.VALIDATION),
        1,
        n * overlap,
        task=of_task,
        video=of_task,
        item=of_task,
        index=f"(n - 1) % {overlap}",
        priority=shuffled,
    )
    return project
