"""Who can act on whom, what describes a person, and what two persons do alike."""

from generation.grammar.surface import word_set

PERSONS = word_set(
    "man men woman women person people boy boys girl girls child children kid kids baby babies toddler toddlers",
    "guy guys",
    "lady ladies gentleman gentlemen teenager teenagers adult adults couple friend friends player players team teams",
    "policeman policemen policewoman officer officers cop cops guard guards soldier soldiers fireman firemen",
    "thief thieves",
    "robber robbers doctor doctors nurse nurses patient patients teacher teachers student students pupil pupils coach",
    "coaches trainer trainers referee boxer boxers wrestler wrestlers fighter fighters athlete athletes gymnast",
    "gymnasts",
    "runner runners swimmer swimmers dancer dancers singer singers actor actors actress actresses musician musicians",
    "guitarist drummer chef chefs cook cooks waiter waiters waitress waitresses barber customer customers clown clowns",
    "mother father mom dad son daughter brother brothers sister sisters husband wife uncle aunt grandmother",
    "grandfather",
    "king queen prince princess knight knights judge lawyer farmer farmers worker workers driver drivers rider riders",
    "passenger passengers pilot reporter reporters photographer interviewer host guest guests bride groom",
    "priest pirate",
    "cowboy cowboys gunman attacker attackers enemy enemies opponent opponents stranger strangers crowd audience youth",
    "salesman businessman businesswoman cyclist goalkeeper pitcher batter lifeguard magician artist model bully zombie",
    "vampire monster robot robots alien superhero villain villains blonde brunette male female individual someone",
    "dog dogs cat cats puppy puppies kitten kittens horse horses cow cows bear bears lion lions tiger tigers",
    "wolf wolves",
    "monkey monkeys elephant elephants bull bulls goat goats sheep pig pigs rabbit rabbits bird birds parrot",
    "duck ducks",
    "goose geese chicken chickens rooster fox foxes mouse mice rat rats snake snakes shark sharks whale dolphin",
    "dolphins",
    "panda gorilla chimpanzee deer donkey camel cheetah leopard zebra squirrel turtle frog spider bee eagle",
    "hawk owl crab",
)
# Verbs (lemmas) that say the same with the participants exchanged.
SYMMETRIC = word_set(
    "hug embrace meet kiss marry wed date resemble equal match cuddle snuggle wrestle duel spar collide intersect",
    "accompany encounter reconcile converse chat argue quarrel debate compete shake clash merge touch face high-five",
    "handshake join hold-hands slow-dance",
)
# "kisses her on the cheek" is done by one to the other.
ONE_SIDED_BEHIND = {
    "kiss": word_set("cheek forehead hand neck head nose foot"),
    "touch": word_set("shoulder face hair head"),
}
TOGETHER = frozenset({"each other", "one another"})
# "dances with", "stands beside", "sits next to": both do.
SHARING = word_set("with beside alongside near next by like between among and or than against as opposite")
DESCRIBES = frozenset({"in", "with", "wearing", "dressed", "clad", "named", "called"})
FEATURES = word_set(
    "hair beard moustache mustache glasses sunglasses hat cap helmet ponytail ponytails braids tattoo tattoos",
    "bandana mask",
    "backpack crown scar scarf mohawk dreadlocks headphones headband goggles earrings makeup shirt jacket dress",
    "suit coat",
    "umbrella cane crutches wheelchair stroller briefcase purse apron tie wig wings horns tail mane spots stripes eyes",
)
# "A man pushes another man in red": these stay where they are.
STAYING = frozenset({"another", "other"})
