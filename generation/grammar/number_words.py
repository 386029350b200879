"""Word lists of the number method: what is not counted, and words at the end of a counted noun's phrase."""

from generation.grammar.surface import word_set

# "1 tsp cumin seeds" is not "2 tsp cumins seeds".
UNITS = word_set(
    "tsp tbsp tbs tb teaspoon tablespoon cup cups oz ounce ounces lb lbs pound g gram kg ml l liter litre pinch dash",
    "clove stick can inch slice piece bunch handful bottle",
)
MASS = word_set(
    "salt pepper flour sugar water oil milk butter cheese garlic ginger sauce cream mustard dijon vinegar cumin paste",
    "stock broth rice bread meat beef pork chicken soda powder turmeric parsley cilantro basil mayonnaise honey",
    "wine luggage furniture hair grass snow spice spices seasoning",
)
PREPOSITIONS = word_set(
    "of in on at to into onto from with without within over under up down off out across along around",
    "round through by for near beside between behind before after during against toward towards past",
    "above below inside outside about as than like until till via upon",
)
CLOSED = word_set(
    "and or but while when where who whom whose which that then so because if a an the his her hers its",
    "their our my your this these those each every all both per he she it they we i you him them is are",
    "was were be been being has have had does do did will would can could may might must there again too",
    "also only just not no using",
)
TRAILING = word_set(
    "forward forwards backward backwards clockwise counterclockwise anticlockwise upward upwards downward",
    "downwards sideways around together away back forth again more apart ahead overhead straight today",
    "total",
)
PRONOUNS = word_set(
    "he she it they his her hers its their theirs him them himself herself itself themselves",
)
PAIRED = word_set(
    "hand hands arm arms leg legs foot feet eye eyes ear ears knee knees shoulder shoulders thumb thumbs",
    "paw paws wing wings hoof hooves lip lips cheek cheeks heel heels",
)
IRREGULAR_PLURALS = word_set("men women children people feet teeth mice geese")
# The past of these is their plain form: "set up and started".
UNCHANGED = word_set("set put cut hit let read shut spread split bet quit cast beat hurt")
ONE_NAMES = word_set(
    "another by after who that which side end way direction day of",
)
# Behind these a word is rather a noun: "to the walk".
BEFORE_NOUN = word_set("to of in on at with for by from a an the his her their its and or up down into onto over")
BE_FORMS = word_set("is are was were has have do does")
# One of the two who did it also did it.
MOMENTS = word_set("begin start leave enter exit appear arrive")
OPENERS = word_set(
    "and but while as when where that because if whereas then",
)
