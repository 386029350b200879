"""Words of gender: the map of (contrast sets, Table 6), other persons of each gender, pronouns."""

from generation.grammar.surface import word_set

# Directed, singular and plural kept (contrast sets, Table 6). "woman" is listed here as man (and guy: see paper).
TABLE_6 = {
    "man": ("woman",),
    "men": ("women",),
    "boy": ("girl",),
    "boys": ("girls",),
    "guy": ("woman", "girl"),
    "guys": ("women", "girls", "ladies"),
    "woman": ("man",),
    "women": ("men", "guys"),
    "girl": ("boy", "guy"),
    "girls": ("boys", "guys"),
    "lady": ("man", "guy"),
    "ladies": ("men", "guys"),
}
PLURALS = word_set("men women boys girls guys ladies")
MALE, FEMALE = "male", "female"
GENDER = dict.fromkeys(word_set("man men boy boys guy guys"), MALE) | dict.fromkeys(
    word_set("woman women girl girls lady ladies"), FEMALE
)
# Persons that a pronoun may be about although they are never swapped.
OTHERS = dict.fromkeys(
    word_set(
        "gentleman gentlemen father fathers dad son sons brother brothers husband uncle grandfather grandpa",
        "king prince",
        "policeman policemen fireman firemen fisherman cameraman businessman waiter actor groom boyfriend lad gents mr",
        "sir monk nephew dude dudes males male salesman sportsman cowboy cowboys chairman postman emperor",
    ),
    MALE,
) | dict.fromkeys(
    word_set(
        "mother mothers mom mum daughter daughters sister sisters wife aunt grandmother grandma queen princess actress",
        "policewoman policewomen businesswoman waitress bride girlfriend mrs ms miss nun niece females female",
        "ballerina",
        "cheerleader cheerleaders housewife stewardess goddess hostess witch saleswoman",
    ),
    FEMALE,
)
PRONOUNS = {
    "he": MALE,
    "him": MALE,
    "his": MALE,
    "himself": MALE,
    "she": FEMALE,
    "her": FEMALE,
    "hers": FEMALE,
    "herself": FEMALE,
}
PLAIN = {"he": "she", "him": "her", "himself": "herself", "she": "he", "hers": "his", "herself": "himself"}
# "hands her flowers": to her, or those of hers?
TWO_OBJECTS = word_set("give hand offer show tell send bring throw teach feed pass buy ask serve lend pay read sell")
PERCEPTION = word_set("see watch hear let make help feel have")
# "keeps her warm", "paints her green": what she becomes, or a thing of hers?
RESULTING = word_set(
    "make keep leave get turn set call find consider render pull push paint dye color colour wash wipe"
)
# Beside it: the lexicon has "head", "home" and "dress" as adjectives too.
RESULTS = word_set(
    "warm cool cold calm safe busy awake asleep alone alive dead free ready dry wet clean dirty tidy still quiet",
    "happy sad glad mad angry crazy jealous lonely nervous proud shy sick ill well sore drunk sober deaf bald fat slim",
    "young old stiff limp right wrong red orange yellow green blue purple violet pink brown black white grey gray",
    "blonde blond brunette upright plain flat bare naked nude",
)
# "sees her riding horses", "films her …": what she does, or a thing of hers?
WATCHING = PERCEPTION | word_set(
    "film catch find notice show photograph record leave keep stop observe spot follow spy"
)
# Adverbs by the lexicon that stand before a noun as well.
BEFORE_THINGS = word_set("only second third fourth fifth sixth next last first")
