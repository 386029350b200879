"""Verbs, landmarks and the replacements of prepositions that fit them; the first row that fits is used.

`ROWS`: prepositions, verbs, landmarks, replacements. Verbs and landmarks are names of the lists above or single
words; empty: any; after a minus: none of these. A row without replacements leaves the preposition alone.
"""

VERBS = {
    # It moves itself.
    "move": (
        "walk run jump climb go come get step crawl move drive fly fall ride swim hop leap dive slide roll march rush "
        "race sprint jog skate ski glide sail travel wander stroll pace head skip limp tumble hike bounce swing step "
        "escape emerge exit dash charge scoot sneak creep stumble skip float drift cycle row paddle march crowd "
        "parade tiptoe bike speed cruise pull surf"
    ),
    # It moves another thing.
    "carry": (
        "throw push pull drag roll carry bring toss kick move drop slide lead guide drive ride wheel load haul shove "
        "blow fling hurl chase follow transport take lower shoot let"
    ),
    "put": "put place set leave position hide store drop pile stack",
    "stuff": "stuff shove cram squeeze tuck slip slide",
    "pour": "pour spill drip dump tip squirt splash flow leak drain empty",
    "spread": "sprinkle spread pour drizzle spill squirt spray smear scatter splash rub dab scoop pipe",
    "take": "take pull remove pick grab get fetch lift collect snatch retrieve steal select extract pluck choose",
    "stay": (
        "sit stand lie lay sleep kneel rest be stay wait squat crouch perch relax live hide pose nap lounge hang lean "
        "recline remain appear seat gather park bend land locate sit lean bow stretch"
    ),
    "act": (
        "talk speak sing dance perform play eat drink read write work train exercise practice fight argue demonstrate "
        "explain discuss present teach laugh smile cry chat interview meet compete wrestle box run walk cook make "
        "shop study pray yell shout scream kiss hug clap cheer celebrate party rap act film record watch fish camp "
        "show give do prepare apply use clean wash wear look rehearse juggle knit sew paint draw "
        "search hunt describe instruct greet address lecture interact joke fool flirt argue converse comment model "
        "sell buy examine inspect repair fix assemble build hold pet feed groom brush style cut comb"
    ),
    "cook": "cook fry prepare make bake heat mix roast grill",
    "stir": "stir whisk boil simmer melt beat blend saute soak marinate",
    "hold": "hold keep wave raise lift hang hover show display position place",
    "gaze": "look gaze stare turn point face lean glance aim reach stretch wave nod direct",
    "say": "announce report narrate describe review recommend say tell ask talk speak explain discuss comment",
    "scribble": "write draw paint print sketch type carve doodle",
    "steer": "drive ride fly travel sail pilot steer cruise race row paddle commute arrive",
    "crash": "crash bump smash slam collide hit knock ram",
    "turn": "turn transform change cut chop slice fold tear break divide separate split form shape make burst bite dip "
    "plug poke insert dig add crack",
}

LANDMARKS = {
    "room": (
        "room kitchen bedroom bathroom house home building store shop garage office classroom gym studio restaurant "
        "elevator cave hall church stadium arena school hospital bar library lab laboratory factory theater theatre "
        "airport station warehouse barn shed hut closet cabin cafe cafeteria hallway auditorium hotel apartment "
        "basement attic museum mall market supermarket salon workshop cell prison jail gymnasium nursery castle "
        "temple palace lot courtroom court-room greenhouse stable pub nightclub club lobby lounge corridor cage tent "
        "booth kennel den bank clinic courthouse dorm mosque tunnel toilet shower chamber crib pen gate yard "
        "backyard garden park forest jungle zoo village city town playground campus ring cockpit gallery gym"
    ),
    "car": "car van truck bus taxi jeep limousine helicopter plane airplane train subway vehicle ambulance cab suv",
    "boat": "boat canoe kayak raft ship yacht ferry",
    "mount": "bike bicycle motorcycle motorbike horse pony camel scooter skateboard surfboard elephant bull cart "
    "wheelchair stroller sled snowboard segway donkey tricycle atv",
    "container": (
        "cup glass mug pan pot bottle can jar bowl kettle box bag basket bucket drawer envelope wallet purse jug "
        "pitcher beaker tumbler vase case carton packet bin sink tub bathtub oven microwave fridge refrigerator "
        "cabinet cupboard locker suitcase backpack pocket canister holder container shoe blender cooker wok skillet "
        "saucepan nest crate flask thermos barrel tank cooler pouch sack trash dishwasher drum casserole pail "
        "pack stocking mold teapot cauldron freezer dumpster cooker fryer bucket tin pile bathtub"
    ),
    "surface": (
        "table desk shelf counter countertop bench chair couch sofa bed stool plate tray board notebook box rock "
        "mat platform bridge roof car log rug blanket cushion pillow mattress stove grill stand pedestal ledge "
        "rack trampoline book laptop keyboard napkin towel cloth windowsill porch balcony deck surface edge trunk "
        "dresser nightstand podium scale workbench container newspaper magazine folder hammock swing seat armchair "
        "throne barrel crate tile ottoman treadmill fence branch tabletop cart scaffold bleacher bleachers sheet"
    ),
    "seat": "chair couch sofa bed seat armchair hammock swing throne wheelchair recliner bench",
    "surfaces": "surface",
    # One cooks in these or eats from them.
    "dish": (
        "pan pot bowl skillet saucepan wok plate cup glass mug kettle blender jug pitcher jar bottle tumbler casserole "
        "cooker fryer colander strainer mixer teapot tupperware pyrex can cauldron vase beaker flask thermos"
    ),
    "fridge": "fridge refrigerator freezer microwave oven cabinet cupboard locker dishwasher dryer washer safe dresser "
    "wardrobe toaster cooler bookcase",
    "luggage": "box bag basket suitcase backpack purse crate bucket tub bin trash trashcan can container tote luggage "
    "carton case briefcase sack hamper bathtub",
    "holds": "closet pantry garage shed tent",
    "sink": "sink",
    "under_it": "table desk bed chair couch sofa bench counter countertop stool nightstand armchair cart",
    "behind_it": "shelf box bag couch sofa basket curtain door bookcase tree tv television chair",
    "eating": "plate tray board napkin mat towel rack stove tray notebook book laptop",
    "open": "yard backyard garden park forest jungle zoo lot playground campus village city town field stadium arena "
    "market mall farm street road den ring pen",
    "stairs": "stairs stair staircase steps stairway",
    "stage": "stage podium platform pulpit",
    "pitch": "field court track pitch lawn rink ice runway catwalk",
    "floor": (
        "floor ground grass carpet sand snow dirt earth land soil pavement mud ceiling street road sidewalk beach "
        "concrete gravel hardwood asphalt turf"
    ),
    "way": "road street highway path trail sidewalk track lane alley hallway corridor river aisle bridge freeway "
    "runway driveway walkway avenue catwalk course canal boardwalk dock pier",
    "slope": (
        "hill mountain stairs stair staircase steps ladder slope slide ramp cliff tree pole rope wall escalator "
        "incline hillside mountainside stairway dune waterfall pyramid surface"
    ),
    "place": "park garden forest yard village city town zoo jungle playground campus desert countryside meadow beach "
    "field stadium arena backyard farm woods island landscape mountain hill terrain",
    "shore": "beach desert island coast shore seashore mountain mountains hill countryside",
    "water": "water pool lake river sea ocean pond stream",
    "person": (
        "man woman boy girl child kid baby person people crowd audience lady guy men women children someone "
        "somebody friend mother father brother sister son daughter teacher judge player dog cat horse girl "
        "officer soldier wife husband family couple group team group character animal doctor nurse"
    ),
    "tree": "tree branch bush umbrella",
    "liquid": "water milk whiskey vodka coffee tea juice oil sauce soup batter mixture dough soda beer wine",
    "stove": "stove grill fire oven burner bonfire campfire flame",
    "body": (
        "hand face arm foot feet head knee back shoulder mouth hair finger leg eye ear nose neck chest lap lips body "
        "wrist stomach belly skin nail tongue forehead cheek thumb toe palm side thigh waist chin heart mind foot "
        "tail paw nails teeth eyebrow eyelid"
    ),
    "media": (
        "tv television video screen show film movie news phone camera computer game channel youtube internet radio "
        "program episode programme commercial advertisement ad clip podcast outlet series song photo picture image "
        "interview tablet monitor cartoon animation documentary tutorial website page magazine scene scenes stream "
        "broadcast album concert event match competition tournament race festival contest session class lecture "
        "commentary trailer network instagram facebook slide slideshow stories story map chart graph recipe menu menus "
        "advert drama play talk background backdrop foreground language instrument piano guitar violin drum drums "
        "flute saxophone microphone app software battle war wedding party ceremony parade rally "
        "convention conference news minecraft mode level"
    ),
    "abstract": (
        "style way mood spirit time order pose manner position foreground distance middle center corner "
        "front air sky sun dark darkness light rain wind world country english french spanish africa america "
        "direction directions color colour colours colors succession private secret detail variety fashion voice "
        "need trouble fact addition effort attempt type types kind part role life death wait horizon "
        "end beginning start view motion speed background topic subject issue issues news fact theme "
        "purpose love fun pain fear front top bottom inside outside left right rest center centre series "
        "mississippi london japan china india germany europe place places space house-music music dance "
        "activity activities reality rhythm beat tune others success goal plate-form opportunity accident "
        "experience information knowledge technology science history sports politics sex football baseball "
        "basketball soccer tennis hockey cricket golf mid-air slow past future years "
        "mirror sunset sunrise moon stars cloud clouds shadow shade dress outfit outfits pants bra panties "
        "skyline scenery sitcom soap opera clothing costume style styles makeup make-up scenes bars wheel wheels"
    ),
    "enterable": "bed water bag view bus box hole tunnel door doorway gate window",
    "wall": "wall door fence window tree car pole post gate",
}
# Landmarks of these kinds are never a place for "thing".
REFUSED = frozenset({"body", "media", "abstract", "reciprocal"})

# As replacements: the exact opposite.
OTHER = "OTHER"
# Exact opposites, which come first.
OPPOSITES = {
    "up": ("down",),
    "down": ("up",),
    "into": ("out of",),
    "out of": ("into",),
    "onto": ("off",),
    "off": ("onto",),
    "off of": ("onto",),
    "on": ("off",),
    "towards": ("away from",),
    "toward": ("away from",),
    "away from": ("towards",),
    "over": ("under",),
    "under": ("over", "on top of"),
    "underneath": ("on top of", "over"),
    "beneath": ("on top of", "over"),
    "on top of": ("under",),
    "in front of": ("behind",),
    "behind": ("in front of",),
    "in": ("outside",),
    "inside": ("outside",),
    "outside": ("inside",),
    "above": ("below",),
    "below": ("above",),
    "near": ("far from",),
    "next to": ("far from",),
    "beside": ("far from",),
    "far from": ("near",),
    "to": ("away from",),
    "over to": ("away from",),
    "up to": ("away from",),
    "back to": ("away from",),
    "from": ("into",),
    "from behind": ("from in front of",),
}

ROWS = (
    # Into.
    ("into", "turn", "", ""),
    ("into", "crash", "", ""),
    ("into", "gaze", "", ""),
    ("into", "say", "", ""),
    ("into", "drive ride", "car mount", ""),
    ("into", "put", "fridge", "on top of, next to"),
    ("into", "put stuff", "luggage", "next to, behind"),
    ("into", "put", "sink", "next to, under"),
    ("into", "put", "dish", "next to"),
    ("into", "put", "holds", "outside, next to"),
    ("into", "put stuff", "", ""),
    ("into", "pour", "sink bath bathtub tub", ""),
    ("into", "load pack", "", ""),
    ("into", "pour carry -take", "container", "out of"),
    ("into", "pour spread", "", ""),
    ("into", "carry", "room car boat place", "out of"),
    ("into", "swim dive plunge", "", ""),
    ("into", "fall", "water container", "next to"),
    ("into", "jump leap hop climb get step walk run come go crawl move", "water", "out of"),
    ("into", "move", "room car boat place enterable -person", "out of"),
    ("into", "run walk drive ride", "wall person", "away from"),
    ("into", "take", "room car", "out of"),
    # Out of.
    ("out of", "make", "", ""),
    ("out of", "take -drive -get -bring", "room car", "into"),
    ("out of", "take -get", "holds", "into"),
    ("out of", "take", "fridge", "from on top of"),
    ("out of", "take", "luggage -tub -bathtub -trash -can -carton", "from behind, from under"),
    ("out of", "take -get", "", ""),
    ("out of", "pour", "thing -person", "into"),
    ("out of", "dig cut look", "", ""),
    ("out of", "carry", "room car boat container place", "into"),
    ("out of", "move -jump -fall -get", "room car boat container place water enterable", "into"),
    ("out of", "get", "car boat water", "into"),
    ("out of", "jump leap", "room car boat container water enterable", "into"),
    ("out of", "fall", "container room car boat", "into"),
    # Onto.
    ("on, onto", "put set lay", "eating dish", "next to"),
    ("on, onto", "put set lay -drop", "table desk bed chair couch", "under, next to, behind"),
    ("on, onto", "put set lay -drop", "under_it -cart", "under, next to"),
    ("on, onto", "put set lay", "shelf ledge stand dresser rack sofa", "next to"),
    ("on, onto", "put", "surfaces", "under"),
    ("onto", "spread", "floor", ""),
    ("onto", "pour", "cup glass mug bottle jar bowl can jug", "out of, next to"),
    ("onto", "put throw toss", "phone tablet computer picture map", "next to, behind"),
    ("onto", "spread", "thing -person", "next to"),
    ("onto", "scoop turn", "", ""),
    ("onto", "drop throw toss put place set lay", "floor", ""),
    ("onto", "drop throw toss push", "surface", "off, under"),
    ("onto", "put", "surface", "under, next to"),
    ("onto", "put throw toss", "surface -dish", "next to"),
    ("onto", "fall land", "", ""),
    ("onto", "move carry", "surface stage pitch car mount boat thing -floor -person -wall", "off"),
    ("onto", "walk run step drive ride", "way pitch stage", "off"),
    # On.
    ("on", "scribble", "", ""),
    ("on", "play type", "keyboard laptop piano", ""),
    ("on", "say act move none be", "media", ""),
    ("on", "get step climb hop jump", "car mount boat", "off"),
    ("on", "turn try depend focus base comment", "", ""),
    ("on", "ride", "mount", ""),
    ("on", "stay be", "mount", "next to, behind"),
    ("on", "", "mount", ""),
    ("on", "stay", "stairs", "next to, under"),
    ("on", "steer", "mount car boat", ""),
    ("on", "swing hang skate", "", ""),
    ("on", "roll slide spin", "surface", "off"),
    ("on", "jump climb step walk leap hop", "surface stage -slope -floor -stove", "off"),
    ("on", "put spread", "floor wall body person", ""),
    ("on", "put", "surface -stove", "next to, behind"),
    ("on", "put", "", ""),
    ("on", "spread", "", ""),
    ("on", "act stay move", "bare:stage", "off"),
    ("on", "show act stay move be none", "stage -bare", "behind, in front of"),
    ("on", "", "pitch -floor", "next to"),
    ("on", "drive", "way", "off, next to"),
    ("on", "walk run", "way -floor", "next to"),
    ("on", "stay none be", "car", "next to"),
    ("on", "", "boat", "next to"),
    ("on", "stay none be", "tree", "under"),
    ("on", "put", "stove", "next to"),
    ("on", "", "stove", ""),
    ("on", "sit seat perch", "table desk", "next to"),
    ("on", "stay none be", "table desk bridge", "under, next to"),
    ("on", "walk run", "street road", "away from"),
    ("on", "drive move", "bridge", "under"),
    ("on", "lie lay sleep rest nap", "bed", "next to, under"),
    ("on", "sit stay be", "bed", "next to"),
    ("on", "stay be", "couch sofa bench", "next to, behind"),
    ("on", "stay be", "chair armchair stool", "next to"),
    ("on", "", "bed couch sofa bench chair armchair stool", ""),
    ("on", "", "floor wall", ""),
    ("on", "", "shore", "far from"),
    ("on", "lean", "", ""),
    ("on", "stay none be act", "surface rock roof -bare -dish -towel -cloth -sheet -blanket", "next to"),
    ("on", "show", "surface", "under"),
    # In.
    ("in", "steer", "car boat", ""),
    ("in", "put", "person body", ""),
    ("in", "put", "fridge", "on top of, next to"),
    ("in", "put stuff", "luggage", "next to, behind"),
    ("in", "put", "sink", "next to, under"),
    ("in", "put", "dish", "next to"),
    ("in", "put", "holds", "outside, next to"),
    ("in", "put stuff stir spread", "", ""),
    ("in", "cook", "container", ""),
    ("in", "pour", "", ""),
    ("in", "stay none be act", "car", "outside, next to"),
    ("in", "stay none be act", "boat", "next to"),
    ("in", "cut chop slice turn come", "", ""),
    ("in", "swim dive float surf bathe", "water", ""),
    ("in", "stay none be act walk play", "water -bare", "next to"),
    ("in", "stay", "chair armchair recliner hammock wheelchair -bare", "next to"),
    ("in", "", "seat", ""),
    ("in", "stay none be act move", "pitch court field -bare", "next to"),
    ("in", "stay none be", "tree", "under, behind"),
    ("in", "stay none be", "box crate suitcase trash bag", "next to, on top of, behind"),
    ("in", "stay none be", "container -bare -dish -pocket -sink -drawer", "next to, behind"),
    ("in", "turn live", "", ""),
    (
        "in",
        "stay none be act move",
        "open -bare -city -village -town -street -road -market -mall -den -ring -pen",
        "next to",
    ),
    ("in", "", "open", ""),
    ("in", "", "room -tent -gate", "outside"),
    ("in", "walk stand dance play", "road street -bare", "next to"),
    ("in", "stay none be act move", "shore", "far from"),
    # Inside, outside.
    ("inside", "steer", "car boat", ""),
    ("inside", "put", "fridge", "on top of, next to"),
    ("inside", "put stuff", "luggage", "next to, behind"),
    ("inside", "put stuff", "dish", ""),
    ("inside", "", "room car -open", "outside"),
    ("inside", "stay none be hold", "container -dish", "next to, behind"),
    ("outside", "", "room car -gate", "inside, in"),
    # Over, under, above, below.
    ("over", "look talk turn lean bend think", "", ""),
    ("over", "cook put hold", "stove", "next to"),
    ("over", "fly soar", "place water way shore slope room", "away from"),
    ("over", "hold put hover", "thing -floor", "under"),
    ("over", "climb jump leap hop step", "thing -floor -slope -person -liquid", "under"),
    ("over", "climb", "wall fence", ""),
    ("over", "move", "bridge", "under"),
    ("over", "walk run drive ride crawl roll", "thing -floor -person -liquid -slope", "around"),
    ("under, underneath, beneath", "", "water umbrella light", ""),
    ("under, underneath, beneath", "move", "bridge fence table rope bar net bed", "over"),
    ("under, underneath, beneath", "put stuff hold", "thing -floor", "on top of, next to"),
    ("under, underneath, beneath", "", "tree", "behind"),
    ("under, underneath, beneath", "stay none be act", "surface bridge", "on, on top of, next to"),
    ("above", "stay none be hold put move", "thing", "below"),
    ("below", "stay none be hold put move", "thing", "above"),
    ("on top of", "stay none be put hold act show", "stove room car slope shore", "next to"),
    ("on top of", "stay none be put hold act show", "thing -person", "under, next to"),
    # In front of, behind.
    ("behind", "leave drag", "", ""),
    ("in front of", "look", "mirror", ""),
    ("in front of", "put hold drop", "thing -camera", "behind"),
    # The camera does not see a person behind it, or behind a wall.
    ("in front of", "", "camera wall cabinet cabinets curtain backdrop background", ""),
    ("behind", "", "camera", "in front of"),
    ("in front of", "", "mountain mountains sun hill", "behind"),
    ("behind", "", "mirror cloud clouds", "in front of"),
    ("in front of, behind", "", "screen monitor computer laptop tv television", ""),
    ("in front of, behind", "", "microphone piano drum drums", "OTHER"),
    ("in front of", "", "thing", "behind"),
    ("behind", "", "thing", "in front of"),
    # Near.
    ("near, next to, beside", "", "reciprocal", "far from"),
    ("near, next to, beside", "put set lay place leave", "body bare person", ""),
    ("near, next to, beside", "put set lay place leave", "thing", "behind"),
    ("next to, beside", "stay", "person", "behind, in front of"),
    ("near, next to, beside", "stay none be act hold move cook", "person", "far from"),
    ("near, next to, beside", "", "water shore place", "far from"),
    ("near, next to, beside", "", "thing", "far from"),
    ("far from", "", "thing reciprocal", "near"),
    ("against", "throw hit toss kick bounce", "wall fence", "over"),
    ("against", "throw hit toss kick bounce", "thing -person", "over, past"),
    ("against", "lean stand", "thing -person", "away from"),
    ("between, among", "sit stand walk lie run ride lay sleep squeeze", "thing", "behind, in front of"),
    # Towards, away from.
    ("towards, toward, away from", "", "abstract -sky -horizon -middle -center -corner -front -left -right", ""),
    ("towards, toward", "", "", "away from"),
    ("away from", "keep stay hold", "", ""),
    ("away from", "", "", "towards"),
    (
        "to, over to, up to, back to",
        "walk run go come crawl jog march step swim hop sprint rush stroll hurry",
        "thing room car person mount water surface -bare -floor -pitch -place -way -open",
        "away from",
    ),
    # Up, down.
    ("up, down", "roll tumble", "slope", ""),
    ("up, down", "move carry put let take lead", "slope", "OTHER"),
    # Off.
    (
        "off, off of",
        "jump leap fall step climb walk dive hop get roll drive ride tumble bounce",
        "surface stage pitch car mount boat cliff bridge building roof wall ladder tree -floor",
        "onto",
    ),
    ("off, off of", "pull throw roll slide kick", "surface stage cliff -floor", "onto"),
    ("off, off of", "drive run", "road", "onto"),
    ("off, off of", "drop", "surface cliff -floor", "onto"),
    ("off, off of", "take", "under_it -cart", "from under"),
    ("off, off of", "take", "shelf", "from behind, from under"),
    # From.
    ("from", "pour drip flow", "container", "into"),
    ("from", "take -get -come", "floor person body", ""),
    ("from", "take -come", "fridge", "from on top of"),
    ("from", "take -come", "luggage -tub -bathtub -trash -can -carton -bin", "from behind, from under"),
    ("from", "take -come", "under_it -cart", "from under"),
    ("from", "take -come", "shelf", "from behind, from under"),
    ("from", "take -come", "", ""),
    ("from", "jump leap dive", "surface cliff bridge building roof tree", "onto"),
    ("from", "walk run come drive emerge exit crawl", "room car boat", "into"),
    ("from", "talk speak report sing", "room -city -village -town", "outside"),
    ("from behind, from behind of", "take", "thing", "from under"),
    ("from under", "take", "thing", "from behind"),
    ("from inside", "take", "thing", "from behind, from under"),
    # Through, past, across, along, around.
    ("through", "flip look go scroll leaf navigate take", "", ""),
    ("through", "", "room place -tunnel -door -gate -bare", "past"),
    ("through", "move", "tunnel gate door doorway crowd bush bushes", "past"),
    ("past", "move", "room", "into, around"),
    ("across", "move carry", "way -surface -bridge", "along"),
    ("across", "run walk move drive fly swim", "bridge", "under"),
    ("across", "run walk drive ride jog sprint skate", "field court park yard parking lot", "next to"),
    ("along", "roll slide let", "surface", "off"),
    ("along", "move", "shore water wall fence pier dock coast", "away from"),
    ("along", "take gather collect pick sit stand", "shore water", "away from"),
    ("around", "show turn look sit", "", ""),
    ("around", "walk run drive ride fly skate jog move swim race", "car table tree pole", "away from"),
)
