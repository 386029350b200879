"""Word lists of contrasts: words of one line exclude each other; synonyms are joined by a slash. Lemmas."""

from functools import cache

from foilworks.core.text.language.word_lists import word_set

# Words whose change is no contrast: determiners, pronouns, auxiliaries, conjunctions, and adverbs of degree.
FUNCTION_WORDS = word_set(
    "a an the this that these those some any another other each every both all many several few various lots lot",
    "is are was were be been being am has have had do does did doing done will would can could may might must",
    "i you he she it we they him her them me us his its their my your our who which what whose where when how there",
    "here and or but nor so yet while as if than because then also too very really just only quite almost still even",
    "not no to of at by for from with about like s t re",
)
# A thing of any other kind may be one of these, so the other caption could be true as well.
GENERIC = word_set(
    "person people human individual someone somebody something thing object item stuff group crowd video clip film",
    "movie show scene footage picture image animation cartoon room place area location animal creature vehicle machine",
    "instrument food meal dish recipe ingredient product game sport event music song part piece way type kind "
    "different",
    "player character host guest star performer artist fan member team friend kid child adult family couple audience",
    "view screen background time day thing tool equipment device material substance mixture liquid stage performance",
    "do make get go use show perform take put have look see watch work try start begin continue play explain describe",
    "demonstrate discuss tell present give prepare say come keep let move turn",
)
VERBS = (
    # What the whole body does.
    (
        "walk/stroll/march/hike run/jog/sprint/race sit/seat/rest stand lie/lay/sleep/rest kneel/crouch/squat "
        "jump/leap/hop/dive swim/float/dive fly crawl climb ride/cycle/drive/race dance skate ski surf fall "
        "fight/wrestle/box/spar"
    ),
    # What is done to the same thing: the object must be equal.
    (
        "cut/chop/slice/dice/mince/carve peel wash/rinse/clean/wipe fry/saute/sear boil bake/roast grate crack "
        "pour/drain fold unfold open/unlock close/shut throw/toss/fling catch kick/punt push pull/drag lift/raise "
        "drop lower paint/draw/sketch read write eat/bite drink/sip sew/knit break/smash/destroy repair/fix "
        "build/assemble smell/sniff burn feed brush shave hug kiss chase ride buy sell wear"
    ),
    "sing/rap speak/talk/chat/converse/discuss",
    "laugh cry/weep",
)
# The group whose verbs exclude each other only if they are done to the same thing.
DONE_TO = VERBS[1]
NOUNS = (
    (
        "dog/puppy/pup cat/kitten horse/pony/foal cow/bull/calf pig/piglet/boar sheep/lamb goat rabbit/bunny/hare "
        "mouse/rat hamster squirrel bear/cub panda lion/lioness tiger leopard/cheetah/jaguar wolf fox deer elephant "
        "giraffe zebra monkey/ape/chimp/chimpanzee/gorilla/orangutan kangaroo koala parrot/bird pigeon/dove "
        "duck/duckling goose chicken/hen eagle/hawk/falcon owl penguin fish shark whale dolphin seal "
        "turtle/tortoise frog/toad snake/python lizard/gecko crocodile/alligator spider crab lobster octopus "
        "bee/wasp butterfly dinosaur dragon"
    ),
    (
        "guitar/bass piano/keyboard/organ violin/fiddle cello drum/drums trumpet/trombone/horn flute/recorder "
        "saxophone/sax clarinet harp accordion harmonica ukulele/banjo"
    ),
    (
        "car/automobile/suv/sedan/truck/lorry/pickup/van/jeep bus motorcycle/motorbike/scooter bicycle/bike/cycle "
        "train/tram/locomotive airplane/plane/aircraft/jet helicopter boat/ship/yacht/canoe/kayak/raft tractor "
        "skateboard surfboard rocket/spaceship tank wheelchair"
    ),
    (
        "onion garlic potato tomato carrot pepper/peppers cucumber cabbage lettuce mushroom broccoli corn bean "
        "eggplant egg chicken beef/steak pork/bacon/ham fish/salmon/tuna shrimp/prawn rice "
        "pasta/noodle/spaghetti/macaroni bread/toast cheese butter cake/cupcake cookie/biscuit pizza "
        "sandwich/burger/hamburger soup/stew salad pie pancake/crepe apple banana orange lemon/lime mango pineapple "
        "watermelon/melon strawberry grape coconut chocolate"
    ),
    (
        "football/soccer/rugby basketball baseball/softball tennis golf cricket hockey volleyball badminton "
        "ping-pong bowling chess boxing/wrestling gymnastics swimming/diving skiing/snowboarding skating surfing "
        "skateboarding cycling fishing"
    ),
    (
        "kitchen bathroom bedroom garage office classroom gym/gymnasium church restaurant store/shop/supermarket "
        "hospital library stadium/arena theater/cinema beach/shore forest/wood/jungle desert mountain field/meadow "
        "park street/road river/stream lake pool ocean/sea airport farm garden/yard cave bridge playground car boat"
    ),
    (
        "bowl/dish cup/mug glass plate/tray bottle/jar/flask pan/skillet/wok pot/kettle/saucepan bucket/pail "
        "box/carton/case bag/sack/purse basket drawer can/tin oven/stove microwave blender/mixer "
        "fridge/refrigerator/freezer"
    ),
    "chair/armchair/stool couch/sofa bed/mattress table/desk bench floor/ground swing trampoline",
    (
        "knife/blade/sword scissors/shears spoon/ladle fork hammer saw drill screwdriver brush gun/rifle/pistol bow "
        "stick rope ball balloon umbrella phone/telephone/smartphone/cellphone camera laptop/computer/pc book/novel "
        "newspaper pen/pencil/marker microphone/mic flag mirror ladder broom candle"
    ),
    "water milk juice beer wine coffee tea oil/grease",
    "snow/ice sand/dust mud/dirt/soil grass",
    "morning evening/night",
    "hand/finger/arm foot/leg/toe head/face back",
    "paper/cardboard wood metal/steel/iron plastic/rubber glass cloth/fabric clay",
)
COLOURS = (
    (
        "red/crimson/maroon/scarlet/pink/orange/purple/violet yellow/gold/golden/blonde green "
        "blue/navy/turquoise/teal black white/cream/beige/silver grey/gray brown/tan"
    ),
)
SYNONYMS = (
    (
        "big/large/huge/giant small/little/tiny/mini fast/quick/rapid quickly/rapidly/fast slowly/gradually "
        "happy/glad beautiful/pretty/attractive/cute/hot/sexy/lovely old/elderly/aged/older young/younger/teenage"
    ),
)


@cache
def groups(lines: tuple[str, ...]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return word -> (line, synonym class) of each place where it is listed."""
    lines_by_word: dict[str, tuple[tuple[int, int], ...]] = {}
    for row, line in enumerate(lines):
        for column, synonyms in enumerate(line.split()):
            for word in synonyms.split("/"):
                lines_by_word[word] = (*lines_by_word.get(word, ()), (row, column))
    return lines_by_word


def are_synonyms(word: str, other_word: str) -> bool:
    """Return whether a class of SYNONYMS joins the two words."""
    return bool(set(groups(SYNONYMS).get(word, ())) & set(groups(SYNONYMS).get(other_word, ())))


def exclude_each_other(word: str, other_word: str, lines: tuple[str, ...]) -> int | None:
    """Return the line in which the two words exclude each other, or None; synonyms never do."""
    first, second = groups(lines).get(word, ()), groups(lines).get(other_word, ())
    if set(first) & set(second):
        return None
    rows = {row for row, _ in first} & {row for row, _ in second}
    return min(rows, default=None)
