"""Words for looks: clothes, colours, and parts and things that a phrase with "with" describes somebody by."""

from foilworks.core.text.language._tag_lists import word_set

CLOTHES = word_set(
    "shirt shirts t-shirt t-shirts tshirt tee tee-shirt overall jacket jackets dress dresses suit suits coat",
    "coats uniform uniforms costume costumes jeans shorts pants trousers slacks overalls dungarees sweater",
    "sweaters sweatshirt hoodie cardigan jumper pullover hat hats cap caps helmet helmets glasses sunglasses",
    "goggles apron robe robes gown skirt tights bikini swimsuit swimwear trunks underwear bra shoes boots",
    "heels sandals sneakers socks gloves mask masks scarf tie bowtie vest vests leotard kimono tuxedo tutu",
    "clothes clothing outfit outfits pajamas pyjamas makeup attire garb apparel armor armour blazer blouse",
    "overcoat raincoat trenchcoat cape cloak hood veil sari saree turban toga tunic jersey jumpsuit onesie",
    "nightgown nightie nighty negligee polo top tank camouflage khaki denim leather fur lace silk plaid",
    "stripes black-tie drag bathrobe towel loincloth spacesuit wetsuit scrubs",
)
COLOURS = word_set(
    "black white red blue green yellow pink purple orange grey gray brown beige tan gold silver violet turquoise navy",
    "maroon khaki cream crimson scarlet blonde blond",
)
FEATURES = CLOTHES | word_set(
    "hair beard moustache mustache goatee sideburns stubble ponytail ponytails pigtails braids bangs bun curls",
    "locks afro tattoo tattoos bandana backpack crown scar scars mohawk dreadlocks headphones headband headset",
    "earrings necklace chain collar wig wings horns tail mane spots eyes skin complexion muscles hairline head",
    "face chest nose hump limp umbrella cane crutches wheelchair stroller briefcase purse suitcase badge bandage",
    "bandages earpiece eyepatch sleeves crutch halo fangs paint freckles dimples physique build",
)
# "with a smile", "with all his strength": how, not who.
MANNERS = word_set(
    "smile grin frown expression look force strength power might anger fear care caution determination difficulty ease",
    "enthusiasm passion love affection joy hate rage fury worry concern curiosity interest speed effort intensity",
    "surprise shock amazement disbelief disgust contempt suspicion confidence pride respect energy excitement",
    "help aim purpose gesture motion kick punch blow slap intent glare stare gaze sigh laugh scream tears",
)
# What somebody is hit, touched or held by: "the man's arm".
BODY = word_set(
    "head face hair eye eyes ear ears nose mouth lip lips cheek cheeks chin neck throat shoulder shoulders arm arms",
    "forearm elbow hand hands fist wrist finger fingers chest stomach belly back waist hip hips leg legs knee knees",
    "thigh foot feet toe toes ankle body skin jaw tongue forehead tail paw mane horn horns wing wings side lap gaze",
    "voice grip",
)
# "a man on a horse".
RIDES = word_set("horse horses horseback motorcycle motorcycles bike bikes bicycle scooter skateboard camel donkey")
# "a baby in a pram".
SEATS = word_set("pram stroller buggy wheelchair crib cradle cot")
