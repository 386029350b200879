"""Three evaluation scripts of public repositories, rewritten with Foilworks: equal numbers, with intervals.

Each function takes what the script reads from its files. tests/foilworks/test_replaced_scripts.py compares the numbers
with the definitions of the scripts.
"""

from collections import Counter

import foilworks
from foilworks import metrics


def vinoground(questions, categories):
    """Return text, video and group score per category (Vinoground/Vinoground, get_score_all.py).

    `questions`: text or video -> (response, right answer) of all questions, two per item; `categories` per item.
    """
    rows = [
        {"id": f"{kind} {n}", "group": f"{n // 2}", "correct": response[: len(truth)].lower() == truth.lower()}
        for kind, pairs in questions.items()
        for n, (response, truth) in enumerate(pairs)
    ]

    def score(kind, name):
        used = [row for row in rows if row["id"].startswith(kind) and name in ("all", *categories[int(row["group"])])]
        return metrics.classes(used)["models"][0]["group_accuracy"]

    names = dict.fromkeys(["all", *(name for item in categories for name in item)])
    return {
        name: {"text": score("text", name), "video": score("video", name), "group": score("", name)} for name in names
    }


def fleiss_kappa(rows, column):
    """Return Fleiss' kappa of a column (Cucchi01/Fleiss-kappa, FleissKappaCalculation.py).

    `rows`: one per annotator and text, with `id`.
    """
    numbers, votes = Counter(), []
    for row in rows:
        numbers[row["id"]] += 1
        votes.append({"item": row["id"], "annotator": f"person {numbers[row['id']]}", "choice": row[column]})
    return foilworks.agreement(votes, coding="labels")["fleiss_kappa"]


def tempcompass(logs):
    """Return accuracy per aspect and over all (llyx97/TempCompass, utils/acc_lmms_eval.py).

    `logs`: of lmms-eval. Those of a model that sees no video give the blind accuracy.
    """
    rows = [
        {"id": str(n), "aspect": log["doc"]["dim"], "correct": log["avg_accuracy"]["rating"]}
        for n, log in enumerate(logs)
    ]
    aspects = ["avg", *dict.fromkeys(row["aspect"] for row in rows)]
    of = {name: [row for row in rows if name in ("avg", row["aspect"])] for name in aspects}
    return {name: metrics.classes(used)["models"][0]["accuracy"] for name, used in of.items()}
