"""Read which option a model's answer names, or why none can be read. Pure; imports only the standard library.

It runs on Python 3.9, too, as harnesses do. Thoughts are removed first. Then the strongest statement decides: a closed
mark, a final statement, a first label, another marked label, the text of an option (docs/how-to/score.md#read-answers).
Every pattern takes linear time (docs/decisions/0075-no-text-stalls-a-worker.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

# Change the version with any rule of this module: scores that follow from answers depend on it.
VERSION = "5"
YES_NO = ("yes", "no")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

EMPTY, CUT_OFF, REFUSED = "empty", "cut off", "refused"
NO_OPTION, SEVERAL_OPTIONS = "no option", "several options"
# Finish reasons of servers that stopped at the limit of tokens.
CUT_REASONS = frozenset({"length", "max_tokens", "max_length", "max_output_tokens", "model_length"})
# Levels of a statement: the highest level in an answer decides, but texts and other marked labels count together.
TEXT_LEVEL, MARKED_LEVEL, FIRST_LEVEL, FINAL_LEVEL = 1, 2, 3, 4


@dataclass(frozen=True)
class ModelAnswer:
    """`option`: the index of the option that the answer names; None if it is unreadable, for a `reason` above."""

    option: int | None
    reason: str = ""


class _Question(NamedTuple):
    """`texts`: the options in plain form, in their order."""

    texts: tuple[str, ...]
    has_letters: bool


@dataclass(frozen=True)
class _Mention:
    """An option that the characters `start` to `end` of the answer name, or deny if `negated`."""

    option: int
    level: int
    start: int
    end: int
    negated: bool = False


def read_answer(text: str, options: Sequence[str], *, has_letters: bool = True, finish_reason: str = "") -> ModelAnswer:
    """Read which of `options` (their texts, in the order of the question) the answer names.

    `text`: without what a server reports as `reasoning_content`. `has_letters`: the question names the options A, B, C
    …; False for a plain question of yes or no. `finish_reason`: as the server reports it.
    """
    was_cut = finish_reason.strip().casefold() in CUT_REASONS
    answer, is_open = without_thoughts(text)
    if is_open:
        return ModelAnswer(None, CUT_OFF)
    if not re.search(r"\w", answer):
        return ModelAnswer(None, CUT_OFF if was_cut else EMPTY)
    question = _Question(tuple(_plain(_OWN_LABEL.sub("", option)) for option in options), has_letters)
    answer = _LATEX_TEXT.sub(r"\1", _normal(_STRUCK.sub(" ", _ESCAPED_BREAK.sub("\n", answer))))
    if (runs_on := _RUNS_ON.search(answer)) and re.search(r"\w", answer[: runs_on.start()]):
        answer = answer[: runs_on.start()]
    if contents := _closed_marks(answer[_last_end(_STARTS_AGAIN, answer) :]) or _closed_marks(answer):
        answers = [_read_statement(content, question) for content in contents]
        return answers[0] if len({answer.option for answer in answers}) == 1 else ModelAnswer(None, SEVERAL_OPTIONS)
    if was_cut and not _is_complete(answer, question):
        return ModelAnswer(None, CUT_OFF)
    return _read_statement(_unmarked(answer), question)


# Thoughts. Tags of DeepSeek-R1, Qwen3, GLM-4.1V (<think>), Kimi-VL (◁think▷), Magistral ([THINK]), Seed-OSS
# (<seed:think>), Command A (<|START_THINKING|>), OpenThinker (<|begin_of_thought|>), Gemma (<|channel>thought).
_TAG = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|seed:think)>"
OPENS = re.compile(rf"(?i)<{_TAG}|◁think▷|\[THINK\]|<\|START_THINKING\|>|<\|begin_of_thought\|>|<\|channel>thought")
CLOSES = re.compile(rf"(?i)</{_TAG}|◁/think▷|\[/THINK\]|<\|END_THINKING\|>|<\|end_of_thought\|>|<channel\|>")
# Channels of gpt-oss (harmony), and what they look like after its special tokens were removed.
_CHANNEL = "<|channel|>"
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,3}final[^<]{0,40}<\|message\|>")
_BARE_ANALYSIS, _BARE_FINAL = re.compile(r"\s{0,9}analysis(?=[A-Z])"), "assistantfinal"
# Special tokens, except those around an answer (GLM-4.1V).
_SPECIAL = re.compile(r"<\|(?!begin_of_box\|>|end_of_box\|>)[\w:]{1,40}\|>")


def without_thoughts(text: str) -> tuple[str, bool]:
    """Return (the text after the last thought, whether a thought is open at the end)."""
    if _CHANNEL in text:
        begins = _last_end(_FINAL_CHANNEL, text)
        if not begins:
            return "", True
        text = text[begins:]
    elif _BARE_ANALYSIS.match(text):
        _, final, text = text.rpartition(_BARE_FINAL)
        if not final:
            return "", True
    text = text[_last_end(CLOSES, text) :]
    return _SPECIAL.sub(" ", text), OPENS.search(text) is not None


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=0)


# A line break that a file has as two characters, and the letter of an option inside its text: "A. a cup".
_ESCAPED_BREAK, _OWN_LABEL = re.compile(r"\\[nr](?![a-z])"), re.compile(r"^\s?\(?[A-Z][.):]\s{1,3}")
# Text that is struck through; a small model that goes on with the next question of its prompt.
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_RUNS_ON = re.compile(r"\n\s{0,9}(?:Question|Q|Human|User)(?: \d{1,3})?\s?:")
# Marks around an answer.
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]{0,400})\}")
_OPENS_ANSWER = re.compile(r"<answer>|<\|begin_of_box\|>", re.IGNORECASE)
_CLOSES_ANSWER = re.compile(r"</answer>|<\|end_of_box\|>", re.IGNORECASE)
_BOXED = re.compile(
    r"\\boxed\s?\{([^{}]{0,400})\}|\"(?:final_)?(?:answer|choice|option)\"\s{0,3}:\s{0,3}\"([^\"]{0,400})\""
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-"})
# A single letter between marks: **B**, `B`, "B", $B$, [B], {B}.
_MARKED_LETTER = re.compile(r"(?:\*{1,3}|__|[`\"$\[{'])\s?\(?([A-Za-z])\)?([.:)]?)\s?(?:\*{1,3}|__|[`\"$\]}'])")
_MARKDOWN = re.compile(r"\*{1,3}|__|[`\"$]|\\[\[\]()]|^[ \t]{0,3}(?:#{1,6}|>|[-•])[ \t]", re.MULTILINE)


# Where a Latin letter touches a script without blanks: "答案是B", "B입니다".
_TOUCHES = re.compile("(?<=[\u3040-\u9fff\uac00-\ud7a3])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u3040-\u9fff\uac00-\ud7a3])")


def _normal(text: str) -> str:
    """Return a text with plain quotes and letters of usual width (NFKC), and blanks around Latin words."""
    return _TOUCHES.sub(" ", unicodedata.normalize("NFKC", text).translate(_QUOTES))


def _closed_marks(text: str) -> list[str]:
    """Return the contents of the marks in which a text gives its answer."""
    contents: list[str] = []
    opening = _OPENS_ANSWER.search(text)
    while opening:
        closing = _CLOSES_ANSWER.search(text, opening.end())
        contents.append(text[opening.end() : closing.start() if closing else len(text)])
        opening = _OPENS_ANSWER.search(text, closing.end()) if closing else None
    contents += [match.group(1) or match.group(2) or "" for match in _BOXED.finditer(text)]
    return [_unmarked(_BOXED.sub(r"\1\2", content)).strip() for content in contents]


def _unmarked(text: str) -> str:
    """Return a text without the marks of Markdown; a marked letter is in parentheses."""
    return _MARKDOWN.sub("", _MARKED_LETTER.sub(r"(\1)\2", text))


_WORD = re.compile(r"\w+(?:'\w+)?")
_ARTICLE = re.compile(r"^(?:a|an|the|to) ")


def _plain(text: str) -> str:
    """Return the words of a text, in lower case, with one blank between them."""
    return " ".join(_WORD.findall(_normal(text).casefold()))


def _is_complete(answer: str, question: _Question) -> bool:
    """Report whether a text that was cut is a whole option, or only the beginning of one with its label."""
    plain = _plain(answer)
    if plain in question.texts or (plain in _POLAR and set(YES_NO) & set(question.texts)):
        return True
    is_label = len(plain) == 1 or (
        len(plain.split()) <= 4 and re.search(r"(?:^|[\s(])[A-Z]\W{0,4}$", _unmarked(answer))
    )
    labelled = (f"{LETTERS[index].lower()} {text}" for index, text in enumerate(question.texts[: len(LETTERS)]))
    return question.has_letters and (bool(is_label) or any(text.startswith(plain) for text in labelled))


def _read_statement(text: str, question: _Question) -> ModelAnswer:
    """Read a text without thoughts and marks."""
    text = text[_last_end(_STARTS_AGAIN, text) :].lstrip(" ,.!:…-")
    if _contradicts_itself(text, question):
        return ModelAnswer(None, SEVERAL_OPTIONS)
    if whole := _whole_text(text, question):
        return ModelAnswer(whole[0]) if len(whole) == 1 else ModelAnswer(None, SEVERAL_OPTIONS)
    mentions = [mention for mention in _mentions(text, question) if not mention.negated]
    level = max((mention.level for mention in mentions), default=0)
    # Marked labels and texts count together.
    options = {mention.option for mention in mentions if mention.level == level or level <= MARKED_LEVEL}
    if (level < FIRST_LEVEL and _DECLINES.search(text)) or (not level and _UNSURE.search(text)) or _ASKS.search(text):
        return ModelAnswer(None, REFUSED)
    if _RETRACTED.search(text, max((mention.end for mention in mentions), default=0)):
        return ModelAnswer(None, SEVERAL_OPTIONS)
    if len(options) == 1:
        return ModelAnswer(options.pop())
    return ModelAnswer(None, SEVERAL_OPTIONS if options else NO_OPTION)


# After these words an answer begins again.
_STARTS_AGAIN = re.compile(
    r"\b(?:wait|on second thoughts?|scratch that|correction)\b(?=\s?[,.!:…-])"
    r"|\blet me (?:recheck|reconsider|re-?examine|rethink|check again|look again)\b",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\bsorry\b|\bapologi[sz]e|\bas an ai\b"
    r"|\b(?:can(?:no|')?t|cannot|am unable to|am not able to|won't|will not|could not|couldn't) "
    r"(?:help|assist|answer|comply|provide|view|see|watch|access|describe|do that|process|analy[sz]e|play)\b"
    r"|\blo siento\b|\bno puedo\b|\bdésolée?\b|\bje ne peux pas\b|\bes tut mir leid\b|\bich kann (?:nicht|kein)"
    r"|\bmi dispiace\b|\bdesculpe\b|\bnão posso\b"
    r"|抱歉|对不起|無法|无法|不能观看|申し訳|できません|죄송|할 수 없|извините|не могу",
    re.IGNORECASE,
)
# What is asked for instead of an answer, and words that take back what is before them, or return to what was first.
_ASKS = re.compile(
    r"\b(?:please|just|could you|can you|if you) (?:re-?)?(?:upload|share|send|provide|attach|paste)\b", re.IGNORECASE
)
_RETRACTED = re.compile(
    r"\b(?:scrap that|strike that|i was wrong|i take (?:it|that) back"
    r"|back to my (?:first|original|initial) (?:choice|answer|guess))\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:do not|don't) know\b|\b(?:cannot|can't|unable to|impossible to) (?:be )?(?:tell|determine|say|know)"
    r"|\bnot (?:sure|certain|enough information)\b",
    re.IGNORECASE,
)


def _whole_text(text: str, question: _Question) -> list[int]:
    """Return the options that equal the whole text, but for an article; with its label, a text can be two options."""
    plain = _plain(text)
    bare = _ARTICLE.sub("", plain)
    options = {
        index
        for index, option in enumerate(question.texts)
        if option and (option == plain or (len(bare) > 1 and _ARTICLE.sub("", option) == bare))
    }
    if len(plain) == 1 and options and question.has_letters:
        options |= {index for index in [LETTERS.find(plain.upper())] if 0 <= index < len(question.texts)}
    return sorted(options)


def _mentions(text: str, question: _Question) -> list[_Mention]:
    """Return what a text says of the options, in order."""
    mentions = _labels(text, question) if question.has_letters else []
    mentions += _polar_mentions(text, question)
    mentions += _texts(text, question, mentions)
    return sorted(mentions, key=lambda mention: mention.start)


# What is before a mention. The context is short, so that its patterns take constant time at each mention.
CONTEXT = 64
_NOUN = r"(?:option|choice|letter|sentence|statement|caption|description|answer)s?"
_IS = (
    r"(?:\s?(?:is|are|was|to be|would be|must be|should be"
    r"|ist|lautet|est|es|é|è|jest|هي)\b(?:\s?:)?(?:\s(?:la|le|el|a|o)\b)?|\s?[:=-]"
    r"|\s(?=\(?[A-Z]\)?\b)|\s?(?:是|为|為|は|은|는))?"
)
_FINAL_LEAD = re.compile(
    rf"(?:\b(?:answer|solution|antwort|réponse|respuesta|resposta|risposta|ответ|ans)"
    rf"|\b(?:correct|right|best|final|true|my) {_NOUN}|答案|答え|回答|정답|답|الإجابة|उत्तर"
    rf"|\bthe (?:\w{{1,12}} )?{_NOUN} (?:that|which|to|for|of) [^.!?,;\n]{{1,40}}(?=\sis\s))"
    rf"(?:\s(?:correcta|correcte|correta|corretta|الصحيحة))?{_IS}"
    rf"\s{{0,3}}(?P<negation>not\s|isn't\s)?(?:probably |definitely |clearly |therefore |thus )?"
    rf"(?:{_NOUN}\s)?[(\s]{{0,3}}$",
    re.IGNORECASE,
)
_CHOICE_LEAD = re.compile(
    rf"(?:\b(?:choose|pick|select|chose|go with|going with|opt for|guess|so|therefore|thus|hence|actually|conclude)"
    rf"|选择?|選択?|\b(?:statement|caption|claim|sentence|description)\s(?:is|was))"
    rf"[,:]?\s?(?:it is |it's |is |that |for )?(?:the )?(?:{_NOUN}\s)?[(\s]{{0,3}}$",
    re.IGNORECASE,
)
_MARKED_LEAD = re.compile(
    r"\b(?:it is|it's|it must be|it would be|that would be|must be|could be|may be|might be|between|hmm|well|okay|oh"
    r"|say|think|believe|but|rather|either|both|neither|nor|not|than|instead of|definitely|probably|clearly|likely"
    rf"|maybe|certainly|perhaps|or|and|a|{_NOUN})"
    rf"[,:]?\s(?:it is |it's |that |for )?(?:the )?(?:{_NOUN}\s)?[(\s]{{0,3}}$"
    r"|(?:选项|選項|選択肢|옵션|\bвариант|\bopción|\bopção|\bopzione)\s?$",
    re.IGNORECASE,
)
_DENIES_NEXT = re.compile(
    r"(?:\b(?:not|never|neither|nor|than|instead of|except|exclude|eliminate|rule out|unlike)|n't)"
    rf"(?: be| say| a| the| {_NOUN}| necessarily){{0,3}}[\s(]{{0,3}}$",
    re.IGNORECASE,
)
# What is after a mention.
_DENIED = re.compile(
    r"\s?\)?\s?,?\s?(?:(?:is|are|was|seems|looks|would be|can be)\s(?:also |clearly |definitely )?"
    r"(?:not\b|wrong|incorrect|false|unlikely|impossible|out\b|ruled out|invisible)"
    r"|(?:isn't|aren't|does not|doesn't|do not|don't|cannot|can't|won't|wouldn't)\b)",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\s?\)?\s?(?:is|are|seems|must be|fits)\s(?:the |also |clearly |definitely |probably )?"
    r"(?:correct|right|true|best|better|answer|most)",
    re.IGNORECASE,
)
# After "A" or "I", these words show that the letter is a label: no noun begins like this.
_AFTER_LABEL = re.compile(
    r"\s(?:is|was|or|and|but|nor|because|since|as|matches|describes|fits|shows|seems|rather|instead|over|isn't|does"
    r"|doesn't|can|cannot|can't)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<![\w'-])[A-Za-z](?!['\w]|-\w)")
_LATIN_WORD = re.compile(r"\s(?![A-Z](?:\s|$))[^\W\d_\u3040-\ud7a3]")
_NUMBERED = re.compile(r"\b(?:option|choice|sentence|statement|caption)\s\(?([1-9])\b(?![.,]\d)", re.IGNORECASE)
_BEGINS_SENTENCE = re.compile(r"(?:^|[\n.!?;:。！？]\s{0,9}|\n)[\s(•-]{0,9}$")
_BEGINS_CLAUSE = re.compile(r"(?:[,;]|\b(?:and|but|while))\s$")
_ENDS_SENTENCE = re.compile(r"[\s)]{0,3}(?:$|[\n.!?。！？])")
_AFTER_FIRST = re.compile(r"\s?\)?\s?(?:$|[\n.,:;!?)。、-])")
_JOINS = re.compile(
    r"[\s).…?]{0,6}(?:,|/|&|and|or|und|oder|et|ou|y|o|、|和|或){1,2}\s{0,3}(?:and |or |maybe |perhaps )?"
    r"(?:option |choice )?[\s(]{0,3}"
)


def _labels(text: str, question: _Question) -> list[_Mention]:
    """Return the letters, and numbers after a word such as "option", that name options."""
    mentions: list[_Mention] = []
    for match in _LETTER.finditer(text):
        index = LETTERS.find(match.group().upper())
        if index < len(question.texts) and (mention := _label(text, match, index, mentions)):
            mentions.append(mention)
    mentions += [
        _Mention(int(match.group(1)) - 1, MARKED_LEVEL, match.start(), match.end(), _is_denied(text, match))
        for match in _NUMBERED.finditer(text)
        if int(match.group(1)) <= len(question.texts)
    ]
    return _with_final_line(text, mentions)


def _label(text: str, match: re.Match[str], index: int, earlier: Sequence[_Mention]) -> _Mention | None:
    """Return the mention of a letter, if it is a label."""
    before, after = text[max(0, match.start() - CONTEXT) : match.start()], text[match.end() : match.end() + CONTEXT]
    letter = match.group()
    is_enclosed = before.endswith("(") and after.startswith(")")
    is_first = match.start() < CONTEXT and not text[: match.start()].strip(" (\n")
    begins_a_phrase = not is_enclosed and (letter in "AI" or letter.islower()) and _LATIN_WORD.match(after)
    if begins_a_phrase and not (_AFTER_LABEL.match(after) and (letter.isupper() or is_first)):
        return None
    level = _label_level(before, after, letter, is_enclosed)
    negated = _is_denied(text, match)
    if earlier and _JOINS.fullmatch(text, earlier[-1].end, match.start()) and letter.isupper():
        level, negated = max(level, earlier[-1].level), negated or earlier[-1].negated
    return _Mention(index, level, match.start(), match.end(), negated) if level else None


def _label_level(before: str, after: str, letter: str, is_enclosed: bool) -> int:
    begins, ends = _BEGINS_SENTENCE.search(before) is not None, _ENDS_SENTENCE.match(after) is not None
    if _FINAL_LEAD.search(before) and (letter.isupper() or ends):
        return FINAL_LEVEL
    if letter.isupper() and (_CHOICE_LEAD.search(before) or _CONFIRMED.match(after)):
        return FINAL_LEVEL
    if begins and (_AFTER_FIRST.match(after) or (letter.isupper() and re.match(r"\s", after))):
        return FIRST_LEVEL
    if is_enclosed or _MARKED_LEAD.search(before) or (_BEGINS_CLAUSE.search(before) and _AFTER_LABEL.match(after)):
        return MARKED_LEVEL if letter.isupper() or is_enclosed or ends else 0
    return 0


def _is_denied(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - CONTEXT) : match.start()]
    lead = _FINAL_LEAD.search(before)
    return bool(
        _DENIES_NEXT.search(before)
        or (lead and lead["negation"])
        or _DENIED.match(text, match.end(), match.end() + CONTEXT)
    )


def _with_final_line(text: str, mentions: Sequence[_Mention]) -> list[_Mention]:
    """Raise the label that is the whole last line of a text with other words."""
    lines = text.strip().rsplit("\n", 1)
    if len(lines) == 1 or not re.search(r"\w{3}", lines[0]) or len(_plain(lines[1]).split()) != 1:
        return list(mentions)
    begins = len(text.rstrip()) - len(lines[1])
    return [replace(mention, level=FINAL_LEVEL) if mention.start >= begins else mention for mention in mentions]


# Words for yes and no: a first word, a whole sentence, or after a lead.
_YES_WORDS = """
    yes yeah yep yup true oui sí si ja да так sim sì tak evet نعم بله हाँ हां ναι igen ano áno da jah kyllä có ใช่ ya jo
    是 是的 对 對 对的 有 はい ええ 네 예 כן correct richtig wahr vrai verdadero верно 正确 正確 正しい
"""
_NO_WORDS = """
    no nope nah false non nein нет ні não nao nie hayır لا نه خیر नहीं όχι nem ne nu ei không ไม่ใช่ tidak nej nee
    不 不是 否 不对 不對 没有 沒有 いいえ 아니요 아니오 아뇨 לא incorrect falsch faux falso не неверно 错误 錯誤 誤り
"""
_POLAR = dict.fromkeys(_YES_WORDS.split(), "yes") | dict.fromkeys(_NO_WORDS.split(), "no")
_POLAR_WORD = re.compile(
    r"(?<![\w'-])(?:" + "|".join(sorted(map(re.escape, _POLAR), key=len, reverse=True)) + r")(?![\w'-])", re.IGNORECASE
)


def polar(word: str) -> str:
    """Return "yes" or "no" for a word that says it in one of the languages; "" for others."""
    return _POLAR.get(word.casefold(), "")


# After "no" or "yes" as an answer. "No" before another word is a determiner: "no audio".
_AFTER_NO = re.compile(r"\s(?:the|this|that|it|he|she|they|there|we|i)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<!\.)[.!?\n](?!\.)")
_ENDS_CLAUSE = re.compile(r"\s{0,3}(?:$|[\n.,:;!?)。，、！？-])")


# An option with its letter.
_LABELLED = re.compile(r"\(?([A-Z])[.:)]\s{1,3}(.{1,400})")


def _contradicts_itself(text: str, question: _Question) -> bool:
    """Report whether a text is nothing but different letters, or its first sentence says both yes and no: "yes, no"."""
    words = _plain(text).split()
    if question.has_letters and len(words) > 2 and {*map(len, words)} == {1} and len({*words}) > 1:
        return True
    labelled = _LABELLED.fullmatch(text.strip())
    if labelled and question.has_letters and (other := _plain(labelled[2])) in question.texts:
        index = LETTERS.index(labelled[1])
        return index < len(question.texts) and other != question.texts[index]
    sentence = _SENTENCE_END.split(text.strip(), maxsplit=1)[0]
    polar = [match for match in _POLAR_WORD.finditer(sentence) if _POLAR[match.group().casefold()] in question.texts]
    alone = {
        _POLAR[match.group().casefold()]
        for match in polar
        if _ENDS_CLAUSE.match(sentence, match.end()) or _POLAR_WORD.match(sentence, match.end() + 1)
    }
    return len(alone) > 1 and polar[0].start() == 0


def _polar_mentions(text: str, question: _Question) -> list[_Mention]:
    """Return the words for yes and no that answer the question."""
    mentions: list[_Mention] = []
    for match in _POLAR_WORD.finditer(text):
        word = match.group().casefold()
        if _POLAR[word] not in question.texts:
            continue
        index = question.texts.index(_POLAR[word])
        level = _polar_level(text, match, word)
        if mentions and _JOINS.fullmatch(text, mentions[-1].end, match.start()) and word in YES_NO:
            level = max(level, mentions[-1].level)
        if level:
            mentions.append(_Mention(index, level, match.start(), match.end(), _is_denied(text, match)))
    return _with_final_line(text, mentions)


def _polar_level(text: str, match: re.Match[str], word: str) -> int:
    before, after = text[max(0, match.start() - CONTEXT) : match.start()], text[match.end() : match.end() + CONTEXT]
    ends = _ENDS_CLAUSE.match(after) is not None
    joins = re.match(r"\s(?:and|or)\s", after) is not None
    if not (ends or joins or (word == "no" and _AFTER_NO.match(after)) or word == "yes"):
        return 0
    if ends and (_FINAL_LEAD.search(before) or _CHOICE_LEAD.search(before)):
        return FINAL_LEVEL
    if _BEGINS_SENTENCE.search(before) and (word in YES_NO or match.start() == 0 or _ENDS_SENTENCE.match(after)):
        return FIRST_LEVEL
    return MARKED_LEVEL if (ends or joins) and word in YES_NO and _MARKED_LEAD.search(before) else 0


_CLAUSE_END = re.compile(r"[.!?;:\n。！？]|,\s(?:so|but|and|then|therefore|it|this|that|they)\b|\bbut\b")
_DENIES_CLAUSE = re.compile(r"(?i)\b(?:not|never|no|neither|nor|nobody|without|rather than|instead of)\b|n't\b")
_CONCEDED = re.compile(r"[^.!?;:\n]{0,40}?,?\sbut\b")


def _texts(text: str, question: _Question, labels: Sequence[_Mention]) -> list[_Mention]:
    """Return the options whose whole text the answer repeats; a shorter option inside a longer one is not repeated."""
    plain, places = _plain_with_places(text)
    mentions: list[_Mention] = []
    label_by_end = {label.end: label for label in labels}
    taken = [False] * len(plain)
    for index, option in sorted(enumerate(question.texts), key=lambda pair: -len(pair[1])):
        if len(option) < (1 if option.isdigit() or not option.isascii() else 2) or option in YES_NO:
            continue
        spaced = f" {option} " if option.isascii() or " " in option else option
        at = plain.find(spaced)
        while at >= 0:
            begins, ends = at + (spaced != option), at + len(spaced) - (spaced != option)
            if not any(taken[begins:ends]) or question.texts.count(option) > 1:
                taken[begins:ends] = [True] * (ends - begins)
                mentions.append(_text_mention(text, index, places[begins], places[ends - 1] + 1, label_by_end))
            at = plain.find(spaced, at + max(1, len(option)))
    return mentions


def _plain_with_places(text: str) -> tuple[str, list[int]]:
    """Return the plain form of a text, with a blank at both ends, and the place in the text of each character."""
    characters, places = [" "], [0]
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        characters.append(word + " ")
        places += [min(match.start() + offset, match.end() - 1) for offset in range(len(word))]
        places.append(match.end() - 1)
    return "".join(characters), places


def _text_mention(text: str, index: int, start: int, end: int, labels: Mapping[int, _Mention]) -> _Mention:
    before = text[max(0, start - 2 * CONTEXT) : start]
    clause = before[_last_end(_CLAUSE_END, before) :]
    denied = _DENIES_CLAUSE.search(clause) is not None or _CONCEDED.match(text, end, end + CONTEXT) is not None
    level = TEXT_LEVEL
    # A label and the text after it are one statement.
    label = next((labels[end] for end in range(start, start - 5, -1) if end in labels), None)
    if label is not None and not _WORD.search(text, label.end, start):
        level, denied = label.level, label.negated
    elif _FINAL_LEAD.search(before):
        level = FINAL_LEVEL
    return _Mention(index, level, start, end, denied)
