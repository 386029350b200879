"""Parse and write counts as in captions: words, digits, and the adverbs once, twice, thrice."""

WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
LARGE = frozenset({"hundred", "thousand", "million", "billion", "dozen", "dozens", "hundreds", "thousands"})
ADVERBS = {"once": 1, "twice": 2, "thrice": 3}
VALUES = {word: value for value, word in enumerate(WORDS)} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}


def value_of(word: str) -> int | None:
    """Return the value of a word, digits or an adverb (once); None if it is not a number."""
    lowered = word.lower()
    if lowered.isascii() and lowered.isdigit() and len(lowered) < 10:
        return int(lowered)
    return VALUES.get(lowered, ADVERBS.get(lowered))


def written_like(value: int, source: str) -> str:
    """Write `value` (0..20) in digits if `source` is in digits, else in words; capitals as in `source`."""
    return str(value) if source.isdigit() else match_case(source, WORDS[value])


def match_case(source: str, target: str) -> str:
    """Return `target` with the capitals of `source`: ALL CAPITALS, First Letter Only, or as it is."""
    letters = [char for char in source if char.isalpha()]
    if len(letters) > 1 and all(char.isupper() for char in letters):
        return target.upper()
    return target[:1].upper() + target[1:] if letters and letters[0].isupper() else target
