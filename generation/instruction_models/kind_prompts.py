"""Prompts for kinds of foils that rules cannot make: causes, roles, added events, comparison, camera motion.

One prompt per kind, with examples of our own. The text of a version never changes.
"""

from generation.instruction_models.prompt import ANSWER_FORM, QUESTION, Example, Prompt

CAUSES, ROLES, ADDED_EVENTS = "causes", "roles", "added-events"
COMPARISON, CAMERA_MOTION = "comparison", "camera-motion"
OUR_OWN = "the instruction and the examples are our own"
TRUE_OF_A_VIDEO = "You are given a caption that is true of a video. Write captions that are false of this video. "
RULES = (
    "Keep all other words, tense, capital letters and punctuation. Nothing in the captions may be unusual: each could "
    "be true of another video. No caption may follow from the given one, or say the same in other words. "
)


def _prompt(kind: str, label: str, change: str, source: str, *examples: Example) -> Prompt:
    system = f"{TRUE_OF_A_VIDEO}{change} {RULES}{ANSWER_FORM}"
    return Prompt(kind, 1, label, system, QUESTION, examples, source, kind=kind)


KIND_PROMPTS = (
    _prompt(
        CAUSES,
        "Causes and purposes",
        "Change only the cause, reason or purpose that the caption states, into one that would look different in the "
        "video. Keep the word that introduces it (because, since, to, so that).",
        OUR_OWN,
        (
            "The boy cries because his ice cream falls on the ground.",
            ("The boy cries because a dog takes his ice cream.", "The boy cries because his balloon flies away."),
        ),
        ("a woman opens the window to let a bird out", ("a woman opens the window to call a child",)),
        (
            "A man stops his car since a tree blocks the road.",
            ("A man stops his car since a cow blocks the road.", "A man stops his car since the light is red."),
        ),
    ),
    _prompt(
        ROLES,
        "Roles",
        "Exchange who does what: the one who acts and the one who is acted on, or the two things of the action. Use "
        "the same words in another order, and change the form of a word only where grammar needs it.",
        f"roles of VELOCITI (AgBind); {OUR_OWN}",
        ("A woman hands a bag to a boy.", ("A boy hands a bag to a woman.",)),
        ("the dog chases two cats around a tree", ("two cats chase the dog around a tree",)),
        (
            "A girl in a red dress paints the face of her brother.",
            ("Her brother paints the face of a girl in a red dress.",),
        ),
    ),
    _prompt(
        ADDED_EVENTS,
        "Added events",
        "Add one event that fits the scene and that the video does not show. Make room for it: leave out a detail, so "
        "that your caption has about as many words as the given one.",
        f"hallucination of VideoCon; {OUR_OWN}",
        (
            "A man in a blue shirt slices a large onion on a wooden board.",
            (
                "A man slices an onion on a board and then licks the knife.",
                "A man slices an onion, wipes his eyes and laughs out loud.",
            ),
        ),
        (
            "two kids play with a small brown dog in the garden",
            ("two kids play with a dog and then climb a tree",),
        ),
    ),
    _prompt(
        COMPARISON,
        "Comparison",
        "Turn the comparison round: exchange the two things that are compared, or replace the comparing word by its "
        "opposite (taller, shorter; more, fewer; first, last; faster, slower).",
        OUR_OWN,
        (
            "The boy on the left jumps higher than the girl.",
            ("The girl jumps higher than the boy on the left.", "The boy on the left jumps lower than the girl."),
        ),
        ("the red car is faster than the truck", ("the red car is slower than the truck",)),
        ("The woman pours more milk than coffee.", ("The woman pours less milk than coffee.",)),
    ),
    _prompt(
        CAMERA_MOTION,
        "Camera motion",
        "Change only how the camera moves or what it shows (zooms in, zooms out; pans left, pans right; tilts up, "
        "tilts down; follows, stands still; close-up, wide shot).",
        f"viewpoint of Vinoground; {OUR_OWN}",
        (
            "The camera zooms in on a man who reads a book.",
            (
                "The camera zooms out from a man who reads a book.",
                "The camera stands still in front of a man who reads a book.",
            ),
        ),
        ("the camera pans left across the beach", ("the camera pans right across the beach",)),
    ),
)
# Whether a caption implies a text that was meant to be false of its video.
SELF_CHECK = Prompt(
    "self-check",
    1,
    "Self-check",
    "You are given a caption that is true of a video, and a statement. Decide whether the statement must be true of "
    "the video too, because the caption says so. Answer with JSON and nothing else, in this form: "
    '{"answer": "yes"}, {"answer": "no"} or {"answer": "unsure"}.',
    "Caption: {caption}\nStatement: {statement}",
)
