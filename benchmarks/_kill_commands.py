"""Define the stages that are commands: the program that started one starts it again after a kill."""

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psutil
from _kill_stages import PROGRAM, RECORDS, Stage, Unit, digest


class Command(Stage):
    """A command that is started again until it succeeds."""

    def arguments(self, number: int) -> list[str]:
        raise NotImplementedError

    def prepare(self, number: int) -> None:
        """Create what the command needs."""

    def start(self, number: int) -> Unit:
        self.prepare(number)
        unit = Unit(self.name, number)
        self.start_again(unit)
        return unit

    def start_again(self, unit: Unit) -> None:
        command = [str(PROGRAM), *self.arguments(unit.number)]
        log = self.world.folder / "commands.log"
        with log.open("ab") as out:
            unit.process = psutil.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)

    def check_half_way(self, unit: Unit) -> None:
        """Check what must hold after the command was killed. Raises AssertionError if it does not."""

    def is_at_work(self, unit: Unit) -> bool:
        """Return whether it has begun to write, as far as can be seen."""
        return True

    def is_complete(self, unit: Unit) -> bool:
        """Return whether it was killed after its last step, and cannot be repeated."""
        return False


class Freezing(Command):
    name = "freeze"

    def prepare(self, number: int) -> None:
        from foilworks.core.corpus.models import Project
        from foilworks.site.imports.store import import_records

        records = self.world.folder / "records.jsonl"
        import_records(Project(slug=f"frozen-{number}"), None, "jsonl", records, as_published=True)

    def arguments(self, number: int) -> list[str]:
        return ["release", "--project", f"frozen-{number}", "--name", "v1"]

    def check_half_way(self, unit: Unit) -> None:
        from foilworks.core.corpus.models import Release, ReleaseItem

        releases = list(Release.objects.filter(project__slug=f"frozen-{unit.number}"))
        items = ReleaseItem.objects.filter(release__in=releases).count()
        assert items == RECORDS * len(releases), f"a release of {items} items"

    def outcome(self, unit: Unit) -> Any:
        from foilworks.core.corpus.models import Release
        from foilworks.core.projects.models import AuditEvent

        release = Release.objects.get(project__slug=f"frozen-{unit.number}")
        events = AuditEvent.objects.filter(action="evaluation.freeze_release", target_id=str(release.pk)).count()
        return {"hash": release.content_hash, "items": release.members.count(), "n": release.n_items, "events": events}


class Exporting(Command):
    """Export into the same folder each time, in place of the previous export."""

    name = "export"

    @property
    def out(self) -> Path:
        return self.world.folder / "exports" / "current"

    def arguments(self, number: int) -> list[str]:
        return [
            "export",
            "foilworks",
            "--project",
            self.world.exported,
            "--release",
            "release 1",
            "--out",
            str(self.out),
        ]

    def is_at_work(self, unit: Unit) -> bool:
        return any(path.name.startswith(".") for path in self.out.parent.glob(".*"))

    def check_half_way(self, unit: Unit) -> None:
        from foilworks.site.exports.verify import verify

        if self.out.exists():
            found = verify(self.out)
            assert found["ok"], found

    def outcome(self, unit: Unit) -> Any:
        self.check_half_way(unit)
        assert [path.name for path in self.out.parent.iterdir()] == ["current"], "something was left beside the export"
        return {
            name: hashlib.sha256((self.out / name).read_bytes()).hexdigest() for name in ("items.jsonl", "votes.jsonl")
        }


class BackingUp(Command):
    name = "backup"

    @property
    def folder(self) -> Path:
        return self.world.folder / "backups"

    @property
    def last(self) -> Path:
        return self.world.folder / "last-copy"

    def arguments(self, number: int) -> list[str]:
        return ["backup", "--out", str(self.folder / f"copy-{number}")]

    def is_at_work(self, unit: Unit) -> bool:
        return any(self.folder.glob(".*"))

    def is_complete(self, unit: Unit) -> bool:
        return (self.folder / f"copy-{unit.number}").exists()

    def check_half_way(self, unit: Unit) -> None:
        """Check that every folder with a final name is a complete backup."""
        from foilworks.site.backup.folder import checked_manifest

        for path in self.folder.glob("*"):
            if not path.name.startswith("."):
                checked_manifest(path, progress=lambda things, _total, _label: iter(things))

    def outcome(self, unit: Unit) -> Any:
        from foilworks.site.backup.folder import checked_manifest

        copy = self.folder / f"copy-{unit.number}"
        manifest = checked_manifest(copy, progress=lambda things, _total, _label: iter(things))
        left = [path.name for path in self.folder.iterdir() if path != copy]
        assert not left, f"left beside the backup: {left}"
        found = {name: facts["sha256"] for name, facts in manifest["files"].items() if "filling" in name}
        # The last one is restored at the end.
        shutil.rmtree(self.last, ignore_errors=True)
        copy.rename(self.last)
        return {"videos": digest(found), "n": len(found)}
