"""The gate and the blind audit in scripts and languages other than plain English."""

import pytest
from django.urls import reverse

from evaluation.analyses import blind, jensen_shannon
from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify
from generation.balance.classifier import fitted
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video
from tests.pages import read_page

REASON = "emoji are the point of this collection; people solve it at chance without the video"
# The same 60 items in each language: the verb alone tells.
OPENS = {
    "en": ("person{} opens thing{}", "person{} closes thing{}", "opens", "closes"),
    "zh": ("{}号男子打开{}号箱子", "{}号男子关闭{}号箱子", "打开", "关闭"),
    "de": ("Person {} öffnet Kiste {}", "Person {} schließt Kiste {}", "öffnet", "schließt"),
    "th": ("ชายคนที่ {} เปิดกล่องที่ {}", "ชายคนที่ {} ปิดกล่องที่ {}", "เปิด", "ปิด"),
    "ja": ("{}番の男性が{}番の箱を開ける", "{}番の男性が{}番の箱を壊す", "開ける", "壊す"),
    "ko": ("사람 {} 상자 {} 연다", "사람 {} 상자 {} 닫는다", "연다", "닫는다"),
    "ar": ("الرجل {} يفتح الصندوق {}", "الرجل {} يغلق الصندوق {}", "يفتح", "يغلق"),
    "fr": ("personne {} lève l’objet {}", "personne {} pèse l’objet {}", "lève", "pèse"),
}


def pairs_in(language):
    caption, foil = OPENS[language][:2]
    return [(caption.format(person, thing), foil.format(person, thing)) for person in range(6) for thing in range(10)]


def facts(pairs):
    return [ItemFacts(id=f"s:{n}", subtest="s", caption=a, foils=(b,)) for n, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize("language", OPENS)
def test_the_audit_reads_every_language_and_names_whole_words(language):
    caption_word, foil_word = OPENS[language][2:]
    items = facts(pairs_in(language))
    found = blind.compute(items, draws=50)["overall"]
    assert (found["n_captions"], found["solver_accuracy"], found["caption_longer"]) == (60, 1.0, 0.5)
    assert (found["n_lexical_items"], found["n_unjudged"]) == (2, 0)
    assert {word["word"] for word in found["words"]} == {caption_word, foil_word}
    shifts = jensen_shannon.compute(items)["top_shifts"]
    assert [shift["word"] for shift in shifts[:2]] == sorted([caption_word, foil_word])
    changed = jensen_shannon.compute(items, unit="changed")["top_shifts"]
    assert {shift["word"] for shift in changed} == {caption_word, foil_word}


# From ViLMA's relations.json and change-state-action.json (MIT licence).
VILMA = [
    ("rolling a can on a flat surface", "rolling a can onto a flat surface"),
    ("pouring water onto a chair", "pouring water out of a chair"),
    ("pulling gymnastic bands from left to right", "pulling gymnastic bands over left to right"),
    ("pulling keys out of a lock", "pulling keys on a lock"),
    ("pouring water into a glass", "pouring water out of a glass"),
    ("pouring soda out of a soda can", "pouring soda from a soda can"),
    ("pushing small sunscreen lotion from right to left", "pushing small sunscreen lotion on right to left"),
    *[("The athlete jumps.", "The athlete descends.")] * 5,
]
# From SugarCrepe's swap_att.json (MIT licence).
SUGARCREPE = [
    (
        "Blue bathroom with two white towels hanging by the shower.",
        "White bathroom with two blue towels hanging by the shower.",
    ),
    (
        "A baby cow gets milk from its mother while two other cows stand nearby.",
        "Two baby cows get milk from their mother while another cow stands nearby.",
    ),
    ("Two giraffe and a zebra are standing in a field.", "A giraffe and two zebras are standing in a field."),
    ("One apple and several oranges sit in a bowl.", "Several apples and one orange sit in a bowl."),
    (
        "A blue vase with an orange floral patters sits in front of a map.",
        "An orange vase with a blue floral pattern sits in front of a map.",
    ),
    ("A woman in a red dress cutting a cake with a knife.", "A woman with a knife cutting a red cake."),
    (
        "a brick building with a blue sign on it in front of a metal pole",
        "a blue building with a brick sign on it in front of a metal pole.",
    ),
    (
        "A large elephant standing next to a bunch of trees.",
        "A bunch of elephants standing next to a large tree.",
    ),
]


@pytest.mark.parametrize(
    ("pairs", "audit", "apart"),
    [
        (VILMA, (0.75, 0.5), (0.3226223927399887, 4, 0.667891805707467)),
        (SUGARCREPE, (0.875, 0.625), (0.332866586181633, 20, 0.5729249182411725)),
    ],
    ids=["vilma", "sugarcrepe"],
)
def test_numbers_of_english_sets_equal_those_of_version_0_2(pairs, audit, apart):
    items = facts(pairs)
    found = blind.compute(items, draws=50)["overall"]
    assert [found[name] for name in ("fitted_accuracy", "caption_longer")] == list(audit)
    changed = jensen_shannon.compute(items, unit="changed")["js"]
    assert [found["js"], found["n_lexical_items"], changed] == pytest.approx(apart, abs=1e-12)


def test_a_balanced_choice_gives_nothing_away_in_a_script_without_spaces():
    pairs = [(f"{n}号男子打开箱子", f"{n}号男子关闭箱子") for n in range(20)]
    pairs += [(f"{n}号女子关闭箱子", f"{n}号女子打开箱子") for n in range(20)]
    assert set(fitted(pairs)) == {0.5}


def test_characters_reveal_foils_if_the_dictionary_joins_a_verb_to_each_noun():
    """Each word is new to the fold that it is held out from; its first character is not."""
    solved = blind.solve(facts([(f"他开{noun}", f"他关{noun}") for noun in "门窗灯车店锁盒柜" * 4]))
    assert solved["overall"]["solver_accuracy"] > 0.8


class TestRelease:
    pytestmark = pytest.mark.django_db

    @pytest.fixture
    def project(self):
        return make_project(blind_bar=0.6)

    @pytest.fixture
    def researcher(self, project):
        return make_member(project, Role.RESEARCHER)

    def fill(self, project, pairs, name="open"):
        subtest = make_subtest(project, name=name)
        for caption, foil in pairs:
            make_item(subtest, make_caption(make_video(project), caption), (foil,), state=ItemState.VALID)

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_what_is_solved_in_english_is_solved_in_chinese(self, project, researcher, language):
        self.fill(project, pairs_in(language))
        with pytest.raises(EvaluationError, match="solver 100%, the limit is 60%") as stopped:
            freeze_release(researcher, project)
        assert all(word in str(stopped.value) for word in OPENS[language][2:])
        assert not Release.objects.exists()

    def test_texts_that_no_probe_can_judge_need_a_reason_that_is_audited(self, project, researcher, tmp_path):
        pairs = [("a dog runs 🙂", "a dog runs 🙁"), ("🐕 🏃", "🐈 🏃"), ("a cat sits", "a cat lies")]
        self.fill(project, pairs, name="emoji")
        with pytest.raises(EvaluationError) as stopped:
            freeze_release(researcher, project)
        said = str(stopped.value)
        assert said.startswith("emoji cannot be evaluated: 2 of its pairs have no words, or the same words")
        assert "'a dog runs 🙂' / 'a dog runs 🙁'" in said
        assert "solved without the video" not in said
        with pytest.raises(EvaluationError, match="at least 20 characters"):
            freeze_release(researcher, project, override="because")
        release = freeze_release(researcher, project, override=REASON)
        event = AuditEvent.objects.get(action="evaluation.override_gate")
        assert (event.reason, event.details["stopped"]) == (REASON, ["emoji"])
        (row,) = release.gate.data["rows"]
        assert (row["n_unjudged"], row["solved"], row["too_few"]) == (2, False, True)
        foilworks.write(collect_release(release), tmp_path / "out", params={})
        sheet = (tmp_path / "out" / "datasheet.md").read_text(encoding="utf-8")
        assert "**2 pairs not judged**" in sheet
        assert "Texts could not be evaluated, and released with a reason: emoji (see below)." in sheet
        assert f"> {REASON}" in sheet
        assert verify(tmp_path / "out")["ok"]

    def test_the_page_lists_what_cannot_be_judged(self, client, project, researcher):
        self.fill(project, [("a dog runs 🙂", "a dog runs 🙁"), ("a cat sits", "a cat lies")])
        client.force_login(researcher)
        html = client.get(reverse("releases:freeze", args=[project.slug])).content.decode()
        read_page(html).check("1 pair cannot be evaluated", "a dog runs 🙂 / a dog runs 🙁")
        assert 'name="override"' in html
