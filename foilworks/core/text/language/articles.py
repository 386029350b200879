"""Write a thing with its article, or with "some" if it cannot be counted."""

from foilworks.core.text.language.inflection import article
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.word_lists import word_set

# Uncountable things.
MASS = word_set(
    "water milk oil rice bread butter cheese flour sugar salt pepper meat soup sand snow hair paper",
    "grass wood food juice coffee tea wine beer sauce dough pasta garlic ice money makeup paint clay",
    "smoke fire rain honey cream chocolate music furniture clothing luggage jewelry equipment mud",
    "soap glue metal plastic asparagus bacon batter beef broccoli cash cement concrete corn dirt",
    "dust garbage hay jam jelly ketchup laundry lemonade lettuce lipstick mayonnaise mustard popcorn",
    "pork rubbish seafood shampoo spaghetti spinach steam toast toothpaste traffic trash underwear",
    "vinegar wool yogurt",
)


def with_article(noun: str) -> str:
    """Return "a keyboard", "an egg", "some fridges", "some water"."""
    last = noun.split()[-1]
    return f"some {noun}" if is_plural_noun(last) or last in MASS else f"{article(noun)} {noun}"
