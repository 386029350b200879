"""Word lists for the offline tagger: closed classes and usage in captions, which a lexicon of forms does not have."""


def word_set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


DETERMINERS = word_set(
    "a an the this that these those each every some any no another both all either neither several many few"
)
POSSESSIVES = word_set("my your his her its our their whose")
PRONOUNS = word_set(
    "i you he she it we they me him her us them himself herself itself themselves ourselves myself yourself oneself",
    "someone somebody something everyone everybody everything anyone anybody anything nobody nothing who whom",
    "which what mine yours hers ours theirs his other others",
)
PLURAL_PRONOUNS = word_set("they we you i these those")
AUXILIARIES = word_set(
    "is are was were be been being am has have had do does did will would can could may might must shall should"
)
BE = word_set("is are was were be been being am")
HAVE_DO = word_set("has have had do does did")
CONJUNCTIONS = word_set("and or but nor")
SUBORDINATORS = word_set(
    "while when as because if although though whereas where how why whether that than since once unless"
)
PREPOSITIONS = word_set(
    "of in on at to into onto from with without within over under up down off out across along around through by for",
    "near beside between behind before after during against toward towards past above below inside outside about until",
    "till via upon underneath beneath among amongst like per amid despite except throughout round onto",
    "alongside opposite",
    "beyond",
)
ADVERBS = word_set(
    "then again away together back forth forward forwards backward backwards upwards downwards sideways there here now",
    "too also very quite really just only even still not never always often twice once thrice later soon fast slowly",
    "far so as else apart ahead clockwise counterclockwise upside exactly almost outdoors indoors afterwards more most",
    "suddenly repeatedly well maybe perhaps yet next upstairs downstairs abroad",
)
NUMERAL_WORDS = word_set("half dozen hundred thousand")
# Verbs after which "to" is followed by a verb.
BEFORE_INFINITIVE = word_set(
    "try start begin want attempt prepare continue manage need learn like love go get help teach decide plan hope fail",
    "refuse wait stop proceed seem appear use have how ready able going about order",
)
# "watches him dance", "lets it drop": a plain verb follows the object.
BEFORE_PLAIN_VERB = word_set("let make watch see hear help have feel")
# Words that the lexicon has as verbs but captions use as nouns.
NEVER_VERB = word_set(
    "man men woman women person people boy boys girl girls child children baby babies dog dogs cat cats guy guys lady",
    "ladies kid toddler table chair chairs room field ground ball balls car cars bike bottle bottles cup cups guitar",
    "piano boat horse horses group crowd team camera phone knife hair ice cake cakes pan pot bowl bowls head arm arms",
    "finger fingers leg legs stage street garden pool pizza bread tomato carpet mirror wheel bird birds candle paper",
    "ship shop can jar box boxes book books bag bags basket dough pencil pen court garage fan model chicken butter",
    "clothing pants shorts trousers jeans glasses clothes lips hips shoes gloves goggles boots socks uniform uniforms",
    "oil flour sand snow rain egg eggs onion onions potato potatoes carrot carrots",
)
# Verbs with a result: "paints the wall white".
RESULTATIVE = word_set("paint dye color colour make turn keep wipe wash scrub push pull cut find leave consider")
# Verbs that begin a recipe's sentence without an article after them: "add salt".
IMPERATIVES = word_set(
    "add mix stir pour cut chop fold put place remove heat fry bake spread boil take cook serve sprinkle peel",
    "slice wash",
    "blend whisk combine cover drain season roll knead grate mash melt flip turn transfer let set bring use open close",
    "drop crack squeeze push pull press hold move throw lift attach detach screw unscrew plug unplug wrap unwrap tear",
    "dip brush coat crush dice drizzle garnish grill marinate mince rub rinse roast saute simmer soak strain toss whip",
)
