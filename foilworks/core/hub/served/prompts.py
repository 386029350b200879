"""Prompts with which models that write text score: the same for local models and for endpoints. Pure."""

# Change the version with any of the texts: it is part of every score's revision.
PROMPTS = "1"
DESCRIBE = "Describe this video in one sentence."
MATCHES = 'Does this video show "{}"? Answer with yes or no.'
SUBTITLES = "These are the subtitles of the video:\n{}\n\n"
CHOOSE = "Which sentence describes this video?\n{}\nAnswer with the letter only."
YES, NO = ("Yes", "yes", " Yes", " yes"), ("No", "no", " No", " no")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(texts: list[str]) -> str:
    """List the texts of a choice, one per line, with their letters."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False))
