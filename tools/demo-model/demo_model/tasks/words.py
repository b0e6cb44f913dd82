"""Word lists, written for this project, and made-up words."""

import random

NAMES = """Ada Adam Alba Alex Amir Ana Anna Anton Aria Astrid Ben Bea Bruno Carla Cem Chen Clara Cora Dana
David Diego Dina Eda Elena Eli Ella Emil Emma Enzo Erik Eva Felix Finn Flora Frida Gina Greta Hana Hugo
Ida Igor Ines Iris Ivan Jana Jonas Juan Judith Julia Kaito Karl Kira Lara Lars Lea Leo Lina Luca Lucia
Luis Maja Marco Maria Marta Max Maya Mei Mika Mila Milo Nadia Nils Nina Noah Nora Olga Oscar Otto Paula
Pedro Petra Priya Ravi Rosa Ruben Ruth Sam Sara Sofia Sven Tara Theo Tim Tom Uma Vera Viktor Wei Yuki
Zara Zoe""".split()

CITIES = """Amsterdam Athens Austin Bangkok Barcelona Beijing Berlin Bern Bogota Boston Brussels Budapest
Cairo Chicago Copenhagen Dakar Delhi Denver Dublin Edinburgh Florence Geneva Hamburg Hanoi Havana Helsinki
Istanbul Jakarta Kyoto Lagos Lima Lisbon Ljubljana London Lyon Madrid Manila Melbourne Miami Milan
Montreal Mumbai Munich Nairobi Naples Nice Osaka Oslo Ottawa Paris Perth Porto Prague Quito Reykjavik Riga
Rome Santiago Seattle Seoul Seville Shanghai Singapore Sofia Stockholm Sydney Tallinn Tokyo Toronto Tunis
Turin Valencia Vienna Vilnius Warsaw Wellington Zagreb Zurich""".split()

FRUITS = """apple apricot banana blackberry blueberry cherry coconut cranberry date fig grape grapefruit guava
kiwi lemon lime lychee mandarin mango melon nectarine olive orange papaya peach pear pineapple plum
pomegranate quince raspberry strawberry tangerine watermelon""".split()

ANIMALS = """ant badger bat bear beaver bee bison butterfly camel cat cheetah chicken cow crab crane deer dog
dolphin donkey dove duck eagle elephant falcon ferret fox frog gecko giraffe goat goose hamster hare hawk
hedgehog heron horse hyena iguana jaguar kangaroo koala lemur leopard lion lizard llama lobster lynx magpie
mole monkey moose mouse octopus otter owl panda panther parrot peacock pelican penguin pig pigeon pony
puma rabbit raccoon rat raven salmon seal shark sheep snail snake sparrow spider squirrel stork swan tiger
toad trout turkey turtle walrus wasp whale wolf wombat yak zebra""".split()

COLORS = """amber azure beige black blue bronze brown copper coral crimson cyan gold gray green indigo ivory
khaki lavender lilac magenta maroon mint navy ochre olive orange pink purple red rose ruby scarlet silver tan
teal turquoise violet white yellow""".split()

THINGS = """anchor backpack badge ball basket bell bench bicycle blanket boat book bottle bowl box bridge
broom brush bucket button camera candle chair clock coat coin compass cup curtain desk door drawer drum
engine envelope fence flag flute fork fountain glass glove guitar hammer hat helmet jacket jar kettle key
kite knife ladder lamp lantern letter lock magnet map mask mirror mug needle notebook paddle painting paper
pen pencil piano pillow plate purse radio ring robot rope ruler saddle scarf scissors shelf ship shoe shovel
sofa spoon stamp statue stone suitcase table tent ticket towel tower toy tractor train tray umbrella vase
violin wagon wallet watch wheel whistle window""".split()

PLACES = """airport attic bakery balcony barn basement beach cabin cafe castle cave cellar church cinema
classroom corridor courtyard farm field forest garage garden gym hall harbor hill hospital hotel island
kitchen lake library lighthouse lobby market meadow mill museum office orchard palace park pharmacy pier
platform pool port quarry restaurant river roof school shop square stable stadium station street studio
temple terrace theater tower tunnel valley village warehouse workshop yard zoo""".split()

JOBS = """actor architect artist baker barber captain carpenter chemist clerk coach cook dancer dentist diver
doctor driver editor engineer farmer firefighter fisher gardener guard guide hunter judge lawyer librarian
mechanic miner musician nurse painter pharmacist pilot plumber poet printer professor reporter sailor
scientist sculptor singer smith soldier surgeon tailor teacher waiter weaver writer""".split()

ADJECTIVES = """bright broken calm cheap clean clever cold cozy curious dark deep dry empty famous fast fresh
friendly gentle heavy high honest hot huge kind large late light little long loud lucky modern narrow new
noisy old open patient plain polite proud quick quiet rare rich rough round safe sharp short silent simple
slow small smooth soft steep strange strong sweet tall thin tiny warm wet wide wild wise wooden young""".split()

VERBS_PAST = """bought borrowed carried cleaned closed counted drew dropped examined found fixed forgot
gave hid kept lifted lost measured moved noticed opened painted placed polished praised repaired saw sold
stored took touched tried used washed watched wrapped""".split()

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = """January February March April May June July August September October November December""".split()
LANGUAGES = """Arabic Chinese Czech Danish Dutch English Finnish French German Greek Hindi Italian Japanese
Korean Norwegian Polish Portuguese Spanish Swedish Turkish""".split()
CURRENCIES = "AUD CAD CHF CNY CZK DKK EUR GBP INR JPY KRW MXN NOK PLN SEK TRY USD ZAR".split()
CUISINES = "Chinese French Greek Indian Italian Japanese Korean Mexican Spanish Thai Turkish Vietnamese".split()
ROOMS = "attic bathroom bedroom cellar garage garden hall kitchen nursery office".split()

POOLS = {
    "names": NAMES,
    "cities": CITIES,
    "fruits": FRUITS,
    "animals": ANIMALS,
    "colors": COLORS,
    "things": THINGS,
    "places": PLACES,
    "jobs": JOBS,
}

_ONSETS = "b bl br c ch cl d dr f fl g gl gr h j k kl l m n p pl pr qu r s sh sk sl st t th tr v w y z".split()
_VOWELS = "a e i o u ai au ea ei io oa ou".split()
_CODAS = ["", "", "", "l", "m", "n", "r", "s", "t", "x", "nd", "rk", "st"]


def made_up_word(rng: random.Random) -> str:
    """A word that no list has, so that copying is learnt rather than remembered."""
    return "".join(
        rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.randint(2, 3))
    )


def code(rng: random.Random) -> str:
    """A value that cannot be guessed: digits, or letters and digits."""
    kind = rng.random()
    if kind < 0.6:
        return str(rng.randint(1000, 9999))
    if kind < 0.8:
        return "".join(rng.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(2)) + str(rng.randint(10, 999))
    return rng.choice(COLORS) + "-" + rng.choice(ANIMALS) + "-" + str(rng.randint(1, 99))


def with_article(word: str) -> str:
    return ("an " if word[0] in "aeiou" else "a ") + word
