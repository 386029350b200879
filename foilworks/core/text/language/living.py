"""Nouns for persons and animals, with their gender: those that can act, and that pronouns refer to."""

from functools import lru_cache

from foilworks.core.text.language._tag_lists import word_set
from foilworks.core.text.language.inflection import lemmas, singular

MALE = word_set(
    "man boy guy gentleman gent lad dude bloke male father dad daddy papa son brother husband uncle nephew grandfather",
    "grandpa boyfriend groom king prince duke lord emperor priest monk pope policeman fireman fisherman cameraman",
    "businessman salesman sportsman cowboy chairman postman mailman milkman gunman swordsman horseman henchman",
    "workman craftsman repairman batsman waiter actor steward host wizard sorcerer god bull rooster stallion cock",
    "schoolboy playboy bellboy superman batman spiderman sir mr",
)
FEMALE = word_set(
    "woman girl lady gal female mother mom mum mommy mama daughter sister wife aunt niece grandmother grandma",
    "girlfriend bride queen princess duchess empress nun policewoman businesswoman waitress actress stewardess hostess",
    "witch goddess cow hen mare ballerina cheerleader maid housewife schoolgirl chairwoman saleswoman seamstress",
    "mrs ms widow mermaid",
)
NEUTRAL = word_set(
    "person individual human adult child kid baby toddler infant teenager teen youth youngster couple friend fellow",
    "someone somebody everyone everybody player team officer cop guard soldier thief robber burglar doctor surgeon",
    "nurse patient teacher professor student pupil coach trainer referee umpire boxer wrestler fighter athlete gymnast",
    "runner jogger swimmer diver dancer singer musician guitarist drummer pianist violinist chef cook baker butcher",
    "barber hairdresser customer client clown juggler acrobat knight warrior samurai ninja viking judge lawyer",
    "attorney farmer gardener worker builder driver rider passenger pedestrian pilot astronaut sailor captain",
    "commander general sergeant lieutenant colonel admiral reporter journalist photographer interviewer presenter",
    "newscaster guest pirate attacker assailant assassin killer murderer enemy opponent rival stranger crowd audience",
    "spectator cyclist biker motorcyclist skater skateboarder skier snowboarder surfer goalkeeper goalie pitcher",
    "catcher quarterback lifeguard magician artist painter sculptor model bully zombie vampire werewolf ghost",
    "monster creature beast demon devil angel fairy elf dwarf troll ogre giant robot android cyborg alien superhero",
    "hero villain blonde brunette redhead parent sibling twin cousin grandparent spouse partner relative",
    "cashier clerk receptionist secretary boss manager employee colleague assistant servant butler bartender",
    "detective inspector sheriff marshal agent spy bodyguard bouncer prisoner inmate convict hostage victim suspect",
    "criminal gangster thug mobster hitman villager peasant citizen civilian tourist traveler traveller visitor",
    "hiker climber camper hunter archer shooter sniper medic paramedic firefighter rescuer scientist engineer mechanic",
    "technician programmer scholar student graduate candidate politician president minister mayor senator",
    "preacher bishop rabbi worshipper minion imp mutant android character figure protagonist performer entertainer",
    "comedian narrator speaker lecturer instructor leader follower fan supporter protester activist beggar homeless",
    "neighbor neighbour tenant landlord owner shopper seller buyer vendor merchant trader dealer gambler drunk",
    "jockey wrangler racer competitor contestant participant winner loser champion member crew gang mob police",
    "people folk family group pair trio bunch squad army troop platoon pugilist entity being avatar guru scout",
    "ghoul skeleton snowman conductor composer dj rapper bassist cellist saxophonist contortionist trapeze bandit",
    "outlaw rebel scoundrel burglar intruder cop detainee orphan newborn boxer sparring-partner teammate",
    "operator crewman usher waitstaff janitor cleaner plumber electrician carpenter miner lumberjack blacksmith tailor",
    "director producer editor curator cosplayer gamer youtuber vlogger blogger celebrity star",
)
ANIMALS = word_set(
    "animal dog cat puppy kitten horse pony foal cow calf bear cub lion lioness tiger wolf monkey ape elephant bull ox",
    "buffalo bison goat sheep lamb ram pig piglet boar rabbit bunny hare bird parrot duck duckling goose chicken chick",
    "rooster turkey fox mouse rat hamster squirrel snake python cobra shark whale dolphin seal penguin panda gorilla",
    "chimpanzee chimp orangutan deer elk moose antelope gazelle wildebeest donkey mule camel llama alpaca cheetah",
    "leopard jaguar panther zebra giraffe hippo hippopotamus rhino rhinoceros crocodile alligator lizard gecko iguana",
    "turtle tortoise frog toad spider scorpion bee wasp eagle hawk falcon owl vulture crow raven pigeon dove swan",
    "peacock ostrich flamingo crab lobster octopus otter beaver raccoon skunk badger hedgehog kangaroo koala hyena",
    "coyote dinosaur dragon raptor t-rex lynx cougar puma",
)
# Common first names, and characters' names that are used like them.
MALE_NAMES = word_set(
    "adam adrian alan albert alex alexander alfred andrew andy anthony antonio arthur barney ben benjamin bill billy",
    "bob bobby brad brandon brian bruce carl carlos chandler charles charlie chris christopher clark craig dan",
    "daniel danny dave david dean dennis derek diego don donald doug douglas drew dylan eddie edward eli eric ethan",
    "evan frank fred gabriel gary george gerald greg gregory harold harry henry howard hugo hunter ian isaac ivan",
    "jack jackson jacob jake james jason jay jeff jeffrey jeremy jerry jesse jim jimmy joe joel joey john johnny",
    "jonathan jordan jose joseph josh joshua juan justin karl keith ken kenneth kevin kyle lance larry lawrence leo",
    "leon leonard liam logan louis lucas luis luke marcus mario mark marshall martin marvin matt matthew max michael",
    "mike mitch mohammed nathan ned neil nicholas nick noah oliver oscar otto owen patrick paul pedro peter phil",
    "philip philipp raj ralph ray raymond richard rick ricky rob robert rodney roger ron ronald ross roy russell",
    "ryan sam samuel scott sean sebastian sergio seth sheldon simon stan stanley stephen steve steven stuart ted",
    "terry theo theodore thomas tim timothy toby todd tom tommy tony travis tyler victor vincent wade walter warren",
    "wayne will william zach zack zachary derek",
)
FEMALE_NAMES = word_set(
    "abby abigail addison alexandra alexis alice alicia allison amanda amber amelia amy andrea angela anita ann anna",
    "anne annie april ashley audrey barbara bella bernadette beth betty beverly bonnie brenda bridget brittany",
    "callie camila carla carmen carol caroline catherine celia charlotte cheryl chloe christina christine cindy",
    "claire clara claudia connie cristina crystal cynthia daisy dana daphne dawn deborah debra denise diana diane",
    "donna dora doris dorothy edith eileen elaine eleanor elena elizabeth ella ellen emily emma erica erin esther",
    "eva eve evelyn faith fiona florence gina gloria grace hannah harriet hazel heather heidi helen holly irene iris",
    "isabel isabella ivy izzie jackie jane janet janice jasmine jean jen jenna jennifer jenny jessica jill joan",
    "joanna josephine joy joyce judith judy julia julie karen kate katherine kathleen kathy katie kelly kim kristen",
    "lanie laura lauren leah lena lexie lillian lily linda lisa liz lola louise lucy lydia mandy margaret maria",
    "marie marilyn martha mary maya megan melissa meredith mia michelle molly monica nancy naomi natalie nicole nina",
    "nora olivia pamela patricia paula penny phoebe priya rachel rebecca robin rosa rose roxanne ruby ruth sally",
    "samantha sandra sara sarah sharon sofia sonia sophia sophie stella stephanie sue susan sylvia tara teresa",
    "theresa tiffany tina tracy ursula valerie vanessa vera veronica victoria violet virginia vivian wendy yvonne",
    "zoe",
)
COLLECTIVES = word_set(
    "couple team crowd audience crew gang mob police people folk family group pair trio bunch squad army troop platoon",
    "personnel staff cattle",
)
PEOPLE = MALE | FEMALE | NEUTRAL
ENDINGS = {"woman": "f", "women": "f", "girl": "f", "girls": "f", "lady": "f", "ladies": "f"}
ENDINGS |= {"man": "m", "men": "m", "boy": "m", "boys": "m", "guy": "m", "guys": "m", "person": "n", "people": "n"}
# "man" at the end says nothing about a person.
NOT_PERSONS = word_set(
    "ottoman doberman walkman hangman talisman specimen semen abdomen omen stamen acumen regimen ramen yemen caiman",
    "tallboy",
)
IRREGULAR = {"men": "man", "women": "woman", "children": "child", "mice": "mouse", "geese": "goose", "wolves": "wolf"}
IRREGULAR |= {"calves": "calf", "thieves": "thief", "oxen": "ox", "deer": "deer", "sheep": "sheep", "wives": "wife"}


def _singular_or_word(word: str) -> str:
    if word in PEOPLE or word in ANIMALS:
        return word
    return IRREGULAR.get(word) or singular(word) or word


@lru_cache(maxsize=20_000)
def kind_of(word: str) -> str:
    """Return "m", "f", "n" (a person of any gender) or "a" (an animal) for a noun that can act, else ""."""
    lowered = word.lower()
    singular_word = _singular_or_word(lowered)
    for kind, words in (("m", MALE), ("f", FEMALE), ("n", NEUTRAL), ("a", ANIMALS)):
        if singular_word in words:
            return kind
    if lowered in NOT_PERSONS or "-" in lowered:
        return ""
    ending = next((end for end in ENDINGS if lowered.endswith(end)), "")
    return ENDINGS[ending] if ending and (not lemmas(lowered) or "NOUN" in lemmas(lowered)) else ""


def gender_of_name(name: str) -> str:
    """Return "m" or "f" for a common first name, else ""."""
    lowered = name.lower()
    return "m" if lowered in MALE_NAMES else "f" if lowered in FEMALE_NAMES else ""
