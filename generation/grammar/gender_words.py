"""The words of gender: nouns that a swap replaces, other persons, pronouns, and attributes of one gender."""

from generation.grammar.surface import phrase_pattern, word_set

# Directed, keeps singular and plural (contrast sets, Table 6). "woman" is listed here as man (and guy: see paper).
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

# "You guys", "little guys": may name women, too.
NEUTRAL = frozenset({"guys"})
ADULTS = word_set("man men guy guys woman women lady ladies")
MALE, FEMALE = "male", "female"

GENDER = dict.fromkeys(word_set("man men boy boys guy guys"), MALE) | dict.fromkeys(
    word_set("woman women girl girls lady ladies"), FEMALE
)

# Persons that a pronoun may refer to although they are never swapped.
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

# What is worn or had by one gender almost alone: "a bearded woman" or "a man in a sari" is found without the video.
MALE_ATTRIBUTES = word_set(
    "beard beards bearded moustache moustaches mustache mustaches goatee sideburns balding shirtless tuxedo",
    "tuxedos masculine manly macho",
)
FEMALE_ATTRIBUTES = word_set(
    "pregnant pregnancy breastfeeding breastfeeds maternity lipstick mascara eyeliner eyeshadow makeup make-up",
    "skirt skirts bikini bikinis bra bras sari saris saree sarees gown gowns blouse blouses hijab tutu pigtails",
    "lingerie stockings pantyhose brunette busty cleavage breasts handbag purse feminine manicure",
    "headscarf headscarves swimsuit swimsuits sundress sundresses leotard leotards bathing corset ponytail braids",
    "bridal high-heels heels earrings",
)
# "a dress shirt", "women dress in black": no dress.
NO_DRESS = word_set("shirt shirts shoe shoes pants code up in as like")

# Names with a word of the table, and the words that only they have.
_NAMES = """
    ant man|aqua man|bat man|bionic man|iron man|mega man|music man|pac man|rain man|rocket man|spider man|super man
    stick man|tin man|x men|mad men|cat woman|pretty woman|super woman|wonder woman|backstreet boys|beach boys
    beastie boys|jersey boys|pet shop boys|geek guy|family guy|cable guy|science guy|guy fawkes|guy ritchie
    lady antebellum|lady bird|lady bug|lady di|lady diana|lady gaga|lady liberty|lady macbeth|first lady|gilmore girls
    golden girls|gossip girl|mean girls|powerpuff girls|spice girls|east men|
    boy scout|boy scouts|girl scout|girl scouts
    ladies and gentlemen|ladies and gents|man s best friend|man's best friend|no man s land|no man's land|boy george
    """.replace("\n", "|")
NAMES = phrase_pattern(_NAMES.split("|"))
NAME_WORDS = word_set(_NAMES.replace("|", " ")) - word_set("and no s", *GENDER, "man's")
