"""Make a benchmark through the API alone: project, import, votes of three people, report, release, export.

python docs/examples/api_whole_way.py http://127.0.0.1:8000 fw_… clip.mp4     (the token: `foilworks token NAME`)
"""

import sys
from pathlib import Path

from foilworks.client import Client

PAIRS = [("opens", "closes"), ("lifts", "drops"), ("folds", "unfolds"), ("fills", "empties")]


def run(address: str, token: str, clip: bytes, project: str = "by-the-api") -> bytes:
    """Return the zipped export of the release."""
    with Client(address, token) as owner:
        owner.create_project(project, "By the API", edit_stage=False)
        row = {"video": "clip.mp4", "subtest": "direction"}
        rows = [
            {**row, "id": a, "video_key": f"clip-{a}", "caption": f"A man {a} a box.", "foil": f"A man {b} a box."}
            for a, b in PAIRS
        ]
        owner.import_records(project, rows, videos={"clip.mp4": clip})
        account = {"roles": ["validator"], "new_account": True, "with_token": True}
        people = [owner.add_member(project, f"{project}-{number}", **account) for number in range(3)]
        true = {row["caption"] for row in rows}
        for person in people:
            with Client(address, person["token"]) as validator:
                while work := validator.claim(project, "validation"):
                    validator.submit(work, answer="first" if work.texts[0] in true else "second")
        print({name: owner.report(project, "validation")["overall"][name] for name in ("n_items", "n_valid")})
        release = owner.release(project, "first")
        print(release["content_hash"])
        return owner.export(project, release["id"])


if __name__ == "__main__":
    Path("by-the-api.zip").write_bytes(run(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes()))
