"""Measure import and export of --records JSON lines (1,000,000): time and peak memory, relative to saving row by row.

Each step runs in a process of its own, so that its peak is its own: the import, the export of the project as JSON
lines, and the import of that file again, which finds everything unchanged. Row by row, in one transaction, --rows
records (20,000) are saved as a loop over `save()` would; the ratio is records per second of the import over that. With
--small N the steps also run over N records, to compare the two peaks.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"
SLUG = "exchange"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder)))
        return
    found = {"cores": os.cpu_count(), "row_by_row": whole(options.rows, ["rows"])["rows"]}
    for n in dict.fromkeys([options.small, options.records]):
        found[str(n)] = whole(n, ["in", "out", "again"])
    # Wall clock, and processor time, which a busy machine does not change.
    for kind in ("records_a_second", "records_a_cpu_second"):
        ratio = found[str(options.records)]["in"][kind] / found["row_by_row"][kind]
        found[f"import_over_row_by_row, {kind}"] = round(ratio, 2)
    print(json.dumps(found, indent=2))


def whole(n: int, steps: list[str]) -> dict[str, dict[str, object]]:
    """Run each step over n records, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="foilworks-exchange-") as folder:
        path = Path(folder) / "records.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(record(number)) + "\n" for number in range(n))
        env = {**os.environ, "FOILWORKS_HOME": folder}
        env.pop("DATABASE_URL", None)
        found: dict[str, dict[str, object]] = {"file": {"bytes": path.stat().st_size}}
        for step in steps:
            command = [sys.executable, __file__, "--step", step, "--folder", folder]
            done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
            found[step] = json.loads(done.stdout)
            rate = n / float(found[step]["seconds"])
            found[step]["records_a_second"] = round(rate)
            found[step]["records_a_cpu_second"] = round(n / float(found[step]["cpu_seconds"]))
        return found


def record(number: int) -> dict[str, object]:
    """Return a record; three records per clip, with a foil and an unknown field."""
    return {
        "id": f"record-{number}",
        "source_dataset": "bench",
        "source_id": f"clip-{number // 3}",
        "start_time": 1.5,
        "end_time": 4.0,
        "subtest": "counting",
        "caption": f"Somebody throws the ball number {number} over the fence.",
        "foils": [f"Somebody throws the ball number {number + 1} over the fence."],
        "extra": {"template_id": number % 7},
    }


def step_in(folder: Path) -> dict[str, object]:
    django(migrate=True)
    return measured(lambda: imported(folder / "records.jsonl", "new"))


def step_again(folder: Path) -> dict[str, object]:
    django()
    return measured(lambda: imported(folder / "out" / "records.jsonl", "same"))


def step_out(folder: Path) -> dict[str, object]:
    django()

    def export() -> None:
        from foilworks.core.corpus.export_formats import jsonl
        from foilworks.core.projects.models import Project
        from foilworks.site.exports.records import project_content

        jsonl.write(project_content(Project.objects.get(slug=SLUG)), folder / "out", params={})

    return measured(export)


def step_rows(folder: Path) -> dict[str, object]:
    django(migrate=True)
    return measured(lambda: saved_row_by_row(folder / "records.jsonl"))


STEPS = {"in": step_in, "out": step_out, "again": step_again, "rows": step_rows}


def django(*, migrate: bool = False) -> None:
    import django

    django.setup()
    if migrate:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)


def imported(path: Path, kind: str) -> None:
    from foilworks.core.projects.models import Project
    from foilworks.site.imports.store import import_records

    project = Project.objects.filter(slug=SLUG).first() or Project(slug=SLUG, name=SLUG)
    result = import_records(project, None, "jsonl", path).as_json()
    assert (result[kind], result["errors"], result["changed"]) == (result["records"], [], 0), result


def saved_row_by_row(path: Path) -> None:
    """Save the same rows as a loop over the records would: each by `save()`, in one transaction."""
    from django.db import transaction

    from foilworks.core.corpus.import_formats import jsonl
    from foilworks.core.corpus.models import Caption, Foil, Item, Subtest, Video
    from foilworks.core.corpus.records import ItemRecord
    from foilworks.core.projects.audit_trail import recording as audit
    from foilworks.core.projects.models import Project
    from foilworks.site.imports.batch import text_sha256

    with transaction.atomic():
        project = Project.objects.create(slug=SLUG, name=SLUG)
        subtest = Subtest.objects.create(project=project, name="counting")
        for one in jsonl.read(path, params={}):
            assert isinstance(one, ItemRecord), one
            clip = one.video
            video, _made = Video.objects.get_or_create(
                project=project,
                key=clip.key,
                defaults={
                    "source_dataset": clip.source_dataset,
                    "source_id": clip.source_id,
                    "start_time": clip.start_time,
                    "end_time": clip.end_time,
                },
            )
            digest = text_sha256(one.caption)
            caption, _made = Caption.objects.get_or_create(
                video=video, text_sha256=digest, defaults={"key": one.id, "text": one.caption}
            )
            item = Item(
                project=project,
                subtest=subtest,
                video=video,
                caption=caption,
                key=one.id,
                state="in_validation",
                extra=dict(one.extra),
            )
            item.save()
            for position, foil in enumerate(one.foils):
                Foil(item=item, position=position, text=foil, text_sha256=text_sha256(foil)).save()
            audit.record(audit.event(project, None, "import", item, to_state="in_validation"))


def measured(work: object) -> dict[str, object]:
    """Return the seconds, and the peak memory of the process beyond its start."""
    before = peak_mb()
    began, worked = time.perf_counter(), time.process_time()
    work()  # type: ignore[operator]
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    return {"seconds": round(seconds, 2), "cpu_seconds": round(worked, 2), "peak_mb": peak_mb(), "mb_before": before}


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
