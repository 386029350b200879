"""Name the columns that files use for each role, and find a role in a record. Pure.

The only list of names: imports, audits and readers of scores use it. A name that is not listed is read by its words, in
any spelling ("Falsche Beschreibung", "negCap2"). Values decide more than names: `column_roles.py`.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from foilworks.core.corpus.import_formats.parsing.row_values import value_at

# Role -> names as `plain_name` writes them, the more specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        "id", "qid", "question_id", "item_id", "item", "uid", "q_uid", "sample_id", "identifier", "index",
        "annotation_id", "narration_id", "sen_id", "entry_id", "sentence_id", "key", "uuid",
    ),
    "video": (
        "video_file", "video_id", "video_name", "video_path", "videopath", "videoid", "gif_name", "vid_id", "video",
        "vid", "clip", "image_file", "filename", "filepath", "image_id", "image_path", "image_name", "image",
        "youtube_id", "dataset_idx", "video_filename", "file", "file_name", "path", "clip_path", "clip_name", "media",
        "media_path", "file_path", "videos", "clips", "yt_id", "ytid", "video_uid", "clip_id",
    ),
    "url": ("url", "video_url", "content_url", "link"),
    "start_time": (
        "start", "start_time", "time_start", "start_sec", "start_second", "start_seconds", "start_timestamp", "begin",
        "begin_time", "t_start", "onset", "segment_0", "timestamp_0", "timestamps_0", "start_frame", "starttime",
        "start_s", "begin_s", "begin_sec", "t0",
    ),
    "end_time": (
        "end", "end_time", "time_end", "end_sec", "end_second", "end_seconds", "end_timestamp", "stop_timestamp",
        "stop", "stop_time", "t_end", "offset", "segment_1", "timestamp_1", "timestamps_1", "end_frame", "stop_frame",
        "endtime", "end_s", "finish", "finish_s", "finish_time", "stop_s", "stop_sec", "t1",
    ),
    "subtest": ("subtest", "subtask", "task_type", "question_type", "aspect", "task", "category", "type"),
    "split": ("split", "subset", "partition", "set", "fold", "phase", "usage"),
    "class_label": (
        "class_label", "class", "label", "action", "class_name", "activity", "recipe_type", "label_name", "classname",
        "labels", "class_text", "action_label", "action_class", "target",
    ),
    "category": ("category", "genre", "topic", "scene", "type"),
    "movie": ("movie", "movie_id", "film"),
    "question": ("question", "query"),
    # What a label or a yes is about, if no column is called question.
    "statement": ("statement", "sentence", "hypothesis", "claim", "caption", "query", "text", "prompt"),
    "right": (
        "caption", "true_caption", "positive_caption", "pos_caption", "pos_cap", "positive", "correct_caption",
        "sentence",
    ),
    "wrongs": (
        "foils", "foil", "negative_caption", "negative_captions", "counterfactual", "false_caption", "neg_caption",
        "neg_cap", "hard_negatives", "hard_negs", "negatives", "negative", "distractors", "wrong_caption",
        "wrong_sentence", "incorrect_caption", "foil_caption",
    ),
    "options": ("options", "candidates", "choices", "caption_options", "answer_options", "option",
                "choices_choice", "multi_choice"),
    "answer": (
        "answer", "label", "correct_answer", "answer_id", "answer_idx", "correct_choice", "correct_option", "gt",
        "gt_answer", "correct", "correct_idx", "ground_truth", "truth", "match",
    ),
    "licence": ("license", "licence"),
    "language": ("language", "lang"),
    # Only if it is mapped: a column of this name can be the caption.
    "transcript": (),
}  # fmt: skip
# Of captions without foils. The names behind `transcript` are more often those of a class, or of something else.
CAPTIONS = (
    "caption", "sentence", "description", "text", "narration", "statement", "captions", "sentences", "descriptions",
    "en_cap", "desc", "script", "title", "query", "annotation", "prompt", "transcript", "label", "name",
)  # fmt: skip
WEAK_CAPTIONS = frozenset({"label", "name", "title", "query", "annotation", "prompt", "transcript"})
# `--column` of an audit maps these. `statement` is not a role of its own: question=NAME maps it.
ROLES = (
    "id", "video", "subtest", "split", "question", "right", "wrongs", "options", "answer", "licence", "language",
    "transcript",
)  # fmt: skip
# Columns with one option each: a0, ending0, option_0, choice_a, answer_a, A …
SERIES = tuple(
    re.compile(form)
    for form in (
        r"a[0-9]",
        r"s[0-9]",
        r"ending[0-9]",
        r"option[ _]?([0-9]|[a-j])",
        r"choice[ _]?([0-9]|[a-j])",
        r"answer[ _]?([0-9]|[a-j])",
        r"candidate[ _]?([0-9]|[a-j])",
        r"caption[ _]?([0-9]|[a-j])",
        r"[A-J]",
    )
)
MAX_LABEL = 200
# Words in English, German, French, Spanish, Italian and Portuguese, without accents.
_NEGATIVE = re.compile(
    r"neg|negs|negativ\w*|negat|wrong\w*|false\w*|fals[aoh]?|falsch\w*|incorrect\w*|inkorrekt\w*|inexact\w*|foils?|"
    r"foiled|distract?or\w*|distrac\w*|counterfactual\w*|cf|altered|alter|alterad[oa]s?|fakes?|faked|hard|bad"
    r"|decoys?|adversarial\w*|"
    r"contrast|contrastive|corrupt\w*|perturb\w*|mislead\w*|mismatch\w*|misalign\w*|untrue|unwahr\w*|irref\w*|"
    r"verfalscht\w*|verandert\w*|faux|fausse\w*|errone\w*|erreur|errors?|mistakes?|fehler\w*|rejected|hn"
    r"|leurres?|pieg\w*|traps?|trampas?|sbagliat\w*|errat[oa]|errad[oa]|invalid\w*|"
    r"impostors?|lie|lies|adulter\w*|lockbete|hallucinat\w*|manipulat\w*|nonfactual|contradict\w*|swap|swapped|exchang\w*|replac\w*|"
    r"substitut\w*"
)
# Scripts without blanks: parts of names in Chinese, Japanese and Korean.
_PARTS: dict[str, re.Pattern[str]] = {
    "negative": re.compile(r"错误|錯誤|错|虚假|负|負|干扰|誤|間違|不正|偽|거짓|오답|틀린|잘못|부정|不匹配|假"),
    "positive": re.compile(r"正确|正確|真实|真實|校正|原文|原始|正しい|正解|元の|원본|정답|올바른|맞는|校对|人工"),
    "text": re.compile(r"描述|字幕|说明|說明|句|文本|記述|説明|キャプション|문장|설명|캡션|자막|陈述"),
    "video": re.compile(r"视频|視頻|影片|動画|映像|ビデオ|영상|비디오|动画"),
    "id": re.compile(r"编号|編號|序号|番号|번호|通し"),
    "question": re.compile(r"问题|問題|提问|質問|設問|질문|문제"),
    "options": re.compile(r"选项|選項|選択肢|候选|보기|선택지"),
    "answer": re.compile(r"答案|正解|答え|回答|정답|답"),
    "start_time": re.compile(r"开始|開始|起始|시작"),
    "end_time": re.compile(r"结束|結束|終了|종료|끝"),
    "subtest": re.compile(r"类型|類型|类别|種類|유형|종류"),
}
# Of a rewritten text: the foil beside an original, but also a correction.
_CHANGED = re.compile(
    r"edits?|edited|modified|changed|rewritten|new|modifie\w*|modificad\w*|geandert\w*|variant\w*|alt|"
    r"abwandlung\w*|abgewandelt\w*|variante\w*|variacion\w*|variation\w*"
)
_POSITIVE = re.compile(
    r"true|truth|correct|corrected|corrig\w*|korrigiert\w*|corregid\w*|verified|human|right|pos|positive\w*|positiv\w*|gold|golden|orig|original\w*|real|gt|factual|actual|valid|"
    r"faithful|matching|chosen|seed|source|same|paraphras\w*|equivalent|synonym\w*|riktig\w*|esatt[ao]|ausgangs\w*|wahr\w*|richtig\w*|korrekt\w*|echt\w*|vrai\w*|correcte?s?|juste|exacte?|correct[oa]s?|"
    r"verdad\w*|ciert[oa]|ver[oa]|corrett[oa]|cert[oa]|anchor|reference|ref"
)
_PERSON = re.compile(
    r"participants?|annotators?|raters?|workers?|users?|subjects?|respondents?|blind|humans?|people|crowd|guess\w*|"
    r"pred|preds|predict\w*|models?|gpt\w*|llm|responses?|replies|teilnehmer\w*|probanden?|annotateurs?|"
    r"participante?s?|usuario|учасника|участника|ответчика"
)
_REMARK = re.compile(
    r"comments?|notes?|remarks?|reasons?|why|rationale|explanations?|bemerkung\w*|kommentar\w*|grund|commentaires?|"
    r"remarques?|comentarios?|observac\w*|nota|motivo|razon"
)
_NOT = frozenset({"not", "non", "nicht", "un", "in", "pas", "no", "keine"})
_TEXT = re.compile(
    r"cap|caps|caption|captions|sentences?|sent|sen|desc|descr|descriptions?|texts?|narrations?|statements?|phrases?|"
    r"utterances?|beschreibung\w*|satz|satze|aussagen?|bildtext|legendes?|phrase|texte|enonces?|descripcion\w*|"
    r"oracion\w*|frases?|textos?|leyendas?|enunciad\w*|didascali\w*|testo|legendas?|descric\w*|descrizion\w*|subtitle"
)
_WORDS_OF_ROLES: dict[str, re.Pattern[str]] = {
    "video": re.compile(
        r"videos?|clips?|vid|file\w*|path|media|gif|images?|img|footage|movie|youtube|yt|datei\w*|film|filmdatei|"
        r"fichier|archivo|arquivo|clipname|aufnahme|recording|mp4|pelicula"
    ),
    "id": re.compile(
        r"id|ids|uid|uuid|qid|index|idx|key|nr|nummer|number|numero|num|no|sample|record|kennung|identif\w*|row|zeile|"
        r"ligne|fila"
    ),
    "start_time": re.compile(r"start\w*|begin\w*|onset|von|beginn|debut|inicio|anfang|inizio|from|in"),
    "end_time": re.compile(r"end\w*|stop\w*|bis|ende|fin|final|finish|fine|fim|until|to|out"),
    "split": re.compile(r"split\w*|subset|partition|fold|aufteilung|ensemble|conjunto|particion"),
    "subtest": re.compile(r"subtests?|tasks?|types?|category|categories|kategorie|art|aufgabe|categorie|tipo|"
                          r"categoria|skill|aspect|dimension|tache|kind"),
    "question": re.compile(r"questions?|query|frage|pregunta|domanda|pergunta|q"),
    "options": re.compile(r"options?|opt|choices?|candidates?|antwort\w*|opcion\w*|opzion\w*|reponses?|alternativ\w*|"
                          r"endings?|auswahl|respuestas|a|opcao|opcoes|antwortmoglichkeiten"),
    "answer": re.compile(r"answers?|ans|gt|label|truth|losung|antwort|reponse|respuesta|resposta|risposta|solution|"
                         r"correct\w*|target|richtig\w*|solucion|gold|key|match\w*|fits?|agree\w*|support\w*|trifft|zutreffend|verdicts?|judge?ments?|esatt[ao]|urteil|jugement"),
}  # fmt: skip
# Parts of names without a separator: truecaption, negcap, startzeit.
_GLUED = re.compile(
    r"(neg|pos|true|false|wrong|correct|incorrect|right|hard|foil|orig|original|gt|fake|positive|negative|falsche|"
    r"richtige|wahre)(cap|caps|caption|captions|text|texts|sentence|sent|desc|description|satz|beschreibung)"
)
_LATIN_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_PLAIN_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")

Columns = Mapping[str, str]


def plain_name(name: str) -> str:
    """Return a name in lower case with underscores: `VideoID` and `video id` are `video_id`."""
    return "_".join(_PLAIN_WORD.findall(name)).lower()


@lru_cache(maxsize=5000)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without accents; numbers are words, and "negcap" is two."""
    unaccented = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    words = [word.lower() for word in _LATIN_WORD.findall(unaccented)]
    return tuple(part for word in words for part in _parts(word))


def _parts(word: str) -> tuple[str, ...]:
    glued = _GLUED.fullmatch(word)
    return glued.groups() if glued else (word,)


def is_negative(name: str) -> bool:
    """Report whether a name says that the text is false, so that it is never the caption."""
    words = name_words(name)
    if _PARTS["negative"].search(name):
        return True
    negatives = [word for word in words if _NEGATIVE.fullmatch(word)]
    if any(first in _NOT and _POSITIVE.fullmatch(second) for first, second in pairwise(words)):
        return True
    # A hard positive is true.
    return bool(negatives) and not (negatives == ["hard"] and any(map(_POSITIVE.fullmatch, words)))


def is_of_errors(name: str) -> bool:
    """Report whether a yes in the column means false, as in "hallucinated", but not in "true or false"."""
    return is_negative(name) and not any(map(_POSITIVE.fullmatch, name_words(name)))


def is_changed(name: str) -> bool:
    """Report whether a name says that the text was rewritten."""
    return any(map(_CHANGED.fullmatch, name_words(name)))


def is_positive(name: str) -> bool:
    """Report whether a name says that the text is true."""
    is_named = any(map(_POSITIVE.fullmatch, name_words(name))) or bool(_PARTS["positive"].search(name))
    return is_named and not is_negative(name)


def is_of_person(name: str) -> bool:
    """Report whether a name says that somebody, or a model, answered; what is right is another column."""
    return any(map(_PERSON.fullmatch, name_words(name)))


def is_remark(name: str) -> bool:
    """Report whether a name says that the text is about the record, not about the clip."""
    return any(map(_REMARK.fullmatch, name_words(name)))


def names_text(name: str) -> bool:
    """Report whether a name has a word for a text, such as sentence or Beschreibung."""
    is_named = plain_name(name) in CAPTIONS or any(map(_TEXT.fullmatch, name_words(name)))
    return is_named or bool(_PARTS["text"].search(name))


def has_word(name: str, role: str) -> bool:
    """Report whether a word of the name is one of the role."""
    if role in _PARTS and _PARTS[role].search(name):
        return True
    return any(map(_WORDS_OF_ROLES[role].fullmatch, name_words(name))) if role in _WORDS_OF_ROLES else False


def named(values: Mapping[str, Any], role: str, columns: Columns) -> Any:
    """Return the value of a role: of the mapped column, or of the first of the known names; None without one."""
    if role in columns:
        names = [name.strip() for name in columns[role].split("+")]
        role_values = [value_at(values, name) for name in names]
        if len(names) == 1:
            return role_values[0]
        lists = [value if isinstance(value, list) else [value] for value in role_values]
        return [value for values_of_column in lists for value in values_of_column if value not in (None, "")]
    if role in {"right", "wrongs"} and {"options", "answer"} & columns.keys():
        return None
    return next((values[name] for name in columns_of(values, role)), None)


def columns_of(values: Mapping[str, Any], role: str) -> list[str]:
    """Return the columns of a record that have a known name of a role and a value; "Video Path" is video_path.

    An object has fields of its own, so it is not a text; options and foils can be an object.
    """
    return [
        name
        for name in _known_columns(tuple(values), role)
        if values[name] is not None and (role in {"options", "wrongs"} or not isinstance(values[name], dict))
    ]


def has_role(names: Collection[str], role: str) -> bool:
    """Report whether one of the columns has a known name of the role."""
    return bool(_known_columns(tuple(names), role))


@lru_cache(maxsize=1000)
def _known_columns(names: tuple[str, ...], role: str) -> tuple[str, ...]:
    spelled = {name.strip().lower().replace(" ", "_"): name for name in reversed(names) if len(name) > 1}
    columns = [name if name in names else spelled.get(name) for name in NAMES[role]]
    return tuple(name for name in columns if name is not None)


def series_of(values: Mapping[str, Any], series: re.Pattern[str]) -> list[str]:
    """Return the columns of a record that have one option each, in order."""
    return sorted(name for name in values if series.fullmatch(name) and values[name] is not None)
