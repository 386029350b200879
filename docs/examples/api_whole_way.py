"""Make a benchmark through the API alone: clips, foils, reviews, votes, release, scores with a ladder, public page.

python docs/examples/own_clips.py my-clips
python docs/examples/api_whole_way.py http://127.0.0.1:8000 fw_… my-clips     (the token: `foilworks token NAME`)
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

from foilworks_client import Client

METHOD = {"method": "preposition", "params": {"pairs": "to the right:to the left,to the top:to the bottom"}}


def run(address: str, token: str, clips: Path, project: str = "by-the-api") -> dict[str, Any]:
    """Return the ladder of the model, and the address of the public page."""
    with Client(address, token, timeout=600) as owner:
        owner.create_project(project, "By the API", edit_stage=False)
        rows = [json.loads(line) for line in (clips / "clips.jsonl").read_text("utf-8").splitlines()]
        rows += csv.DictReader((clips / "more.csv").read_text("utf-8").splitlines())
        # Every second clip: the foil of one is then the caption of none, and our people need no eyes.
        rows = rows[::2]
        videos = {row["video"]: (clips / row["video"]).read_bytes() for row in rows}
        owner.import_records(project, rows, videos=videos)

        subtest = owner.create_subtest(project, "direction")
        made = owner.start_generation(project, subtest["id"], filters={"identical": {}}, **METHOD)
        owner.wait(lambda: owner.api.read_run(project, made["id"]), progress=print)

        account = {"new_account": True, "with_token": True}
        reviewer = owner.add_member(project, f"{project}-reviewer", ["reviewer"], **account)
        people = [owner.add_member(project, f"{project}-{number}", ["validator"], **account) for number in range(3)]
        with Client(address, reviewer["token"]) as person:
            while work := person.claim(project, "review"):
                person.submit(work, decision="accept")
        true = {row["caption"] for row in rows}
        for validator in people:
            with Client(address, validator["token"]) as person:
                while work := person.claim(project, "validation"):
                    person.submit(work, answer="first" if work.texts[0] in true else "second")

        print(owner.report(project, "validation")["overall"]["n_valid"], "valid items")
        release = owner.release(project, "first", override="an example with few items")
        scoring = owner.score(project, release["id"], "colours:", controls=True)
        print(owner.wait_for_scores(project, scoring["id"], progress=print)["results"]["overall"]["T"])
        public = owner.api.change_public_page(project, release["id"], is_open=True, offers_export=True)
        Path(f"{project}.zip").write_bytes(owner.export(project, release["id"]))
        return {"ladder": owner.ladder(project, scoring["id"])["ladder"], "address": public["address"]}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], Path(sys.argv[3])), indent=1))
