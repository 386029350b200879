"""`foilworks publish`: check a release, write its data set folder for the Hub, and upload it."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.scoring.queries import release_named
from foilworks.core.corpus.export_formats.parts.folder import manifest_hash
from foilworks.core.corpus.models import Release
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.projects import project_by_slug
from foilworks.site.publishing.actions.publish_release import record_publication, require_reason
from foilworks.site.publishing.checklist import FAIL, OK, Row, is_red
from foilworks.site.publishing.hub_folder import checklist_of, size_of, videos_to_copy, write_publication
from foilworks.site.publishing.upload import repository_of, token_of, upload_folder

MARKS = {OK: "ok", "warn": "check", FAIL: "FAIL"}
LINE = "{mark:<5}  {what}  {why}"
MEGABYTE = 1_000_000


class Command(FoilworksCommand):
    help = "check a release, write a data set folder for the Hugging Face Hub, and upload it"
    example = "foilworks publish --project my-benchmark --release 1 --out my-benchmark-hub"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--release", required=True, metavar="ID", help="id, name or content hash of the release")
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="new or empty folder (default: print the checklist only)"
        )
        parser.add_argument("--anonymous", action="store_true", help="write an anonymised copy for double-blind review")
        parser.add_argument("--videos", action="store_true", help="copy the videos whose sources allow it")
        parser.add_argument("--to", metavar="hub:OWNER/NAME", help="upload the folder; a new repository is private")
        parser.add_argument(
            "--token-file", type=Path, metavar="FILE", help="file with the token (default: login of this machine)"
        )
        parser.add_argument(
            "--keep-names", action="store_true", help="write an anonymised copy although its texts contain a name"
        )
        parser.add_argument("--force", default="", metavar="REASON", help="publish in spite of a red checklist")

    def run(self, **options: Any) -> dict[str, Any]:
        release = release_named(options["release"], project_by_slug(options["project"]))
        repository = repository_of(options["to"]) if options["to"] else ""
        token = token_of(options["token_file"])
        rows = checklist_of(release, anonymous=options["anonymous"])
        found = {"release": release.pk, "hash": release.content_hash, "checklist": [vars(row) for row in rows]}
        if options["out"] is None:
            return {**found, "red": is_red(rows)}
        self.say(_checklist(rows))
        require_reason(rows, options["force"])
        made = self._write(release, rows, repository, options)
        address = (
            upload_folder(options["out"].absolute(), repository, name=made["name"], token=token) if repository else ""
        )
        return {**found, "red": is_red(rows), **made, **({"uploaded": address} if address else {})}

    def _write(self, release: Release, rows: list[Row], repository: str, options: dict[str, Any]) -> dict[str, Any]:
        out, videos = options["out"].absolute(), videos_to_copy(release) if options["videos"] else {}
        if videos:
            self.say(f"copying {len(videos)} videos, {size_of(videos) / MEGABYTE:.1f} MB")
        if options["anonymous"] and repository:
            self.say(f"{repository.partition('/')[0]} is visible in the address of an upload: use an anonymous account")
        written = write_publication(
            release,
            out,
            anonymous=options["anonymous"],
            videos=videos,
            repository="" if options["anonymous"] else repository,
            keep_names=options["keep_names"],
        )
        for leak in written.leaks:
            self.say(one_line(f"check {leak.where}: it contains “{leak.text}”, which is also a name of somebody here"))
        record_publication(
            None, release, rows, anonymous=options["anonymous"], reason=options["force"], repository=repository
        )
        return {
            "name": "for review" if options["anonymous"] else release.name,
            "manifest": manifest_hash(out),
            "out": str(out),
            "videos": len(videos),
            "files": [path.relative_to(out).as_posix() for path in written.files],
        }

    def render(self, result: dict[str, Any]) -> str:
        if "out" not in result:
            return _checklist([Row(**row) for row in result["checklist"]])
        lines = [f"{result['out']} ({len(result['files'])} files, {result['videos']} videos)"]
        lines.append(f"manifest {result['manifest']}")
        return "\n".join([*lines, *([f"uploaded: {result['uploaded']}"] if "uploaded" in result else [])])

    def exit_status(self, result: dict[str, Any]) -> int:
        return int(result["red"] and "out" not in result)


def _checklist(rows: list[Row]) -> str:
    width = max(len(row.what) for row in rows)
    return "\n".join(
        LINE.format(mark=MARKS[row.level], what=row.what.ljust(width), why=one_line(row.why)) for row in rows
    )
