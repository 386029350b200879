"""Guidelines as people write them: paragraphs; a line that starts with + or - is a good or bad example. Pure."""

from enum import StrEnum


class Block(StrEnum):
    PARAGRAPH = "paragraph"
    GOOD = "good"
    BAD = "bad"


def parse_guideline(text: str) -> list[tuple[Block, str]]:
    """(kind, text) of each block, in order. Lines of one paragraph are joined; an empty line or an example ends it.

    >>> parse_guideline("Change one word.\\n+ folds: unfolds\\n- folds: eats")
    [(<Block.PARAGRAPH: 'paragraph'>, 'Change one word.'), (<Block.GOOD: 'good'>, 'folds: unfolds'), \
(<Block.BAD: 'bad'>, 'folds: eats')]
    """
    blocks: list[tuple[Block, str]] = []
    open_paragraph = False
    for line in map(str.strip, text.splitlines()):
        if line[:1] in {"+", "-"} and line[1:].strip():
            blocks.append((Block.GOOD if line[0] == "+" else Block.BAD, line[1:].strip()))
            open_paragraph = False
        elif line and open_paragraph:
            blocks[-1] = (Block.PARAGRAPH, f"{blocks[-1][1]} {line}")
        elif line:
            blocks.append((Block.PARAGRAPH, line))
            open_paragraph = True
        else:
            open_paragraph = False
    return blocks
