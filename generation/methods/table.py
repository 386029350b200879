"""The foil methods. One method = one file beside this one and one row here; nothing is imported to show the menu."""

from text.registry import Entry, Param

METHODS: dict[str, Entry] = {
    "number": Entry(
        label="Number replacement",
        path="generation.methods.number",
        summary="“exactly three times” becomes “exactly nine times”; nouns and verbs agree.",
        params=(
            Param("foils", 1, "foils for each caption", "int"),
            Param("max", 10, "captions with a larger count are skipped (ViLMA: 10); at most 20", "int"),
            Param(
                "split",
                "any",
                "easy: captions with 1, 2, 3; difficult: those in the foil; any: both",
                "choice",
                ("any", "easy", "difficult"),
            ),
            Param(
                "anchor",
                "exactly",
                "exactly: only “exactly N” and “N times in total”; any: any number word that counts something",
                "choice",
                ("exactly", "any"),
            ),
            Param(
                "leftover",
                "skip",
                "a caption that no other can trade counts with: skip it, or draw a count freely",
                "choice",
                ("skip", "draw"),
            ),
        ),
        deviations=(
            (
                "corrected: counts are traded between the captions of a run, so that a pair {a, b} has a true as often "
                "as b and “the smaller number is true” wins nothing; the paper draws the wrong count freely."
            ),
            (
                "corrected: foils may also differ within 1..3 or within 4..max; the paper's easy and difficult "
                "subtests always cross. With split=easy or difficult, each half alone stays solvable: use both."
            ),
            (
                "both modes: a caption whose count contradicts its video's annotated count is skipped; nouns and verbs "
                "are inflected by rule where the paper wrote templates by hand."
            ),
        ),
    ),
    "preposition": Entry(
        label="Preposition replacement",
        path="generation.methods.preposition",
        summary="“pouring water onto a chair” becomes “pouring water out of a chair”.",
        params=(
            Param("top", 10, "candidates for each caption at most (ViLMA: the 10 best)", "int"),
            Param(
                "pairs",
                "",
                "exact opposites only, as “left to right:right to left,up:down”; both directions are taken",
            ),
            Param(
                "min_corpus",
                20,
                "draw from the captions' own prepositions where at least so many captions have one, else from the "
                "built-in list",
                "int",
            ),
        ),
        deviations=(
            (
                "both modes: no language model ranks the candidates yet; they stand in drawn order, weighted by how "
                "often the run's own captions use each preposition, and each candidate names this."
            ),
            (
                "corrected: “from left to right” and its kind change only as a whole into the opposite; the paper also "
                "writes “over left to right”."
            ),
            (
                "corrected: replacements that would stay true (on/onto, in/into, out of/from …) are blocked, particles "
                "of verbs (pick up), fixed phrases (in total, in a red shirt) and “with” are left alone, and a place "
                "is replaced by a place, a path by a path."
            ),
        ),
    ),
    "person": Entry(
        label="A person writes it",
        path="generation.methods.person",
        summary="Blanks that annotators fill (VerbH, Feint6K); no candidate is made.",
        params=(Param("foils", 0, "foils for each caption; 0: as many as the subtest asks for (Feint6K: 5)", "int"),),
    ),
    "fake": Entry(
        label="Deterministic word swap",
        path="generation.methods.fake",
        summary="For tests, demonstrations and object swaps by list: “circle” becomes “square”.",
        params=(
            Param("foils", 1, "foils for each caption at most", "int"),
            Param(
                "lexicon",
                "",
                "“circle:square,square:triangle|star”: words or phrases and what replaces them; empty: any longer "
                "word is replaced by a noun of a fixed list",
            ),
        ),
    ),
}
