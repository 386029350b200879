"""Hold the sample project's guidelines for each stage. Lines that start with + or - are good and bad examples."""

from annotation.models import Stage
from foilworks.site.demo import plan

GENERAL = {
    Stage.EDIT: """Change the caption as little as possible, so that it becomes false of the video.

Keep what the sentence is about: the same thing, the same colour. Change what happens to it.
+ a red star moves from left to right -> a red star moves from right to left
- a red star moves from left to right -> a red star travels from left to right (still true)
- a red star moves from left to right -> nothing moves here at all (another sentence)""",
    Stage.REVIEW: """Play the video, then read both sentences. Accept a foil that is false of the video, reads well and
changes one thing only.

Send it back when it is still true, and say why; fix it yourself when a word will do.
+ accept: a blue ring fades into view -> a blue ring fades out of view
- accept: a blue ring fades into view -> a blue ring comes gradually into view (still true)""",
    Stage.VALIDATION: """Play the video to its end before you answer. Some things move very little: play it again.

Judge both sentences against the video alone. Choose "both" when both are true of it, "neither" when none is, and
"cannot tell" when the video does not show it.""",
}
FOR_EDITING = {
    plan.COUNTING_SUBTEST: """The caption says how often the thing blinks. Give another number, between two and five.

+ a green cross blinks exactly three times -> a green cross blinks exactly two times
- a green cross blinks exactly three times -> a green cross blinks several times (still true)""",
    plan.FREE_SUBTEST: """Nothing is suggested here: write two foils of your own. Each foil must say something
that the shape in the caption could do, but does not do in the video.

+ a white ring drifts toward the middle -> a white ring spins in the middle
- a white ring drifts toward the middle -> a white ring drifts toward the centre (still true)""",
}
