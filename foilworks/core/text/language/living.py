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
COLLECTIVES = word_set(
    "couple team crowd audience crew gang mob police people folk family group pair trio bunch squad army troop platoon",
    "personnel staff cattle",
)
PEOPLE = MALE | FEMALE | NEUTRAL
ENDINGS = {"woman": "f", "women": "f", "girl": "f", "girls": "f", "lady": "f", "ladies": "f"}
ENDINGS |= {"man": "m", "men": "m", "boy": "m", "boys": "m", "guy": "m", "guys": "m", "person": "n", "people": "n"}
# "man" at the end says nothing about a person.
NOT_PERSONS = word_set("talisman specimen semen abdomen omen stamen acumen regimen ramen yemen caiman tallboy")
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
