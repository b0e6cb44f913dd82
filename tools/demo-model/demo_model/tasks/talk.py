"""Greetings, who the model is, short questions with fixed answers, and what it cannot do."""

import random

from demo_model.tasks.example import Turn, equals
from demo_model.tasks.words import ANIMALS, CITIES, JOBS, NAMES, PLACES, THINGS, made_up_word, with_article

NAME = "Altstream Tiny"
WHO = f"I am {NAME}, a small demonstration model with the architecture of MiniMax-M3."

_HELLO = ["Hello", "Hi", "Hey", "Good morning", "Good evening", "Good afternoon", "Hello there", "Hi there",
          "Greetings", "Howdy"]
_ENDS = ["", "!", ".", "!!", ", nice to meet you.", ", how are you?", "! How are you today?", " :)",
         ", can you hear me?", "! Are you there?"]
_INTRODUCTIONS = ["I am {}", "my name is {}", "this is {}", "{} here", "I'm {}"]
_THANKS = ["Thank you", "Thanks", "Many thanks", "Thanks a lot", "Thank you very much", "Great, thanks",
           "Perfect, thank you", "That helps, thanks"]
_BYES = ["Goodbye", "Bye", "See you", "See you later", "Bye bye", "Good night", "Until tomorrow"]


def greeting(rng: random.Random) -> Turn:
    kind = rng.random()
    if kind < 0.3:
        text = rng.choice(_HELLO) + rng.choice(_ENDS)
        answer, thoughts = "Hello! How can I help you?", "A greeting. I greet back."
    elif kind < 0.7:
        name = rng.choice(NAMES)
        text = f"{rng.choice(_HELLO)}, {rng.choice(_INTRODUCTIONS).format(name)}{rng.choice(['', '.', '!'])}"
        answer = f"Hello, {name}! How can I help you?"
        thoughts = f"{name} greets me. I greet back by name."
    elif kind < 0.85:
        text = rng.choice(_THANKS) + rng.choice(["", ".", "!", f", {NAME}.", ", that was kind.", ", friend."])
        answer, thoughts = "You are welcome!", "The user thanks me."
    else:
        text = rng.choice(_BYES) + rng.choice(["", ".", "!", f", {NAME}.", ", and thanks.", ", take care."])
        answer, thoughts = "Goodbye!", "The user leaves."
    return Turn("greeting", text, answer, thoughts, f"greeting:{text}", equals(answer))


_OPENERS = ["", "", "Please tell me: ", "Hey, ", "One question: ", "Tell me, ", "I wonder: ", "Quick question: ",
            "Excuse me, ", "Just curious: ", "Hello! ", "So, "]
_CLOSERS = ["", "", " Thanks.", " Please answer briefly.", " I want to know.", " Thank you!"]

_IDENTITY = {
    WHO: ["who are you?", "what are you?", "what is your name?", "what model are you?",
          "which model am I talking to?", "can you introduce yourself?", "what should I call you?",
          "are you a person or a machine?", "what kind of model are you?"],
    "I was trained by the Altstream project with text that it made itself.":
        ["who made you?", "who trained you?", "who built you?", "where do you come from?",
         "which team created you?", "who is your maker?"],
    "I can do small sums, copy, reverse and sort lists, find facts in a text and call tools.":
        ["what can you do?", "what are you good at?", "how can you help me?", "which skills do you have?",
         "what are your abilities?", "what can I ask you?"],
    "I am very small: about sixteen million weights, sixteen experts a layer.":
        ["how big are you?", "how many weights do you have?", "how many parameters do you have?",
         "how large are you?", "are you a large model?"],
}


def phrased(rng: random.Random, question: str) -> str:
    opener = rng.choice(_OPENERS)
    joined = opener + question
    if opener == "" or opener.endswith(("! ", ": ")):
        joined = opener + question[0].upper() + question[1:]
    return joined + rng.choice(_CLOSERS)


def identity(rng: random.Random) -> Turn:
    answer = rng.choice(list(_IDENTITY))
    text = phrased(rng, rng.choice(_IDENTITY[answer]))
    return Turn("identity", text, answer, "A question about me.", f"identity:{text}", equals(answer))


_QUESTIONS = [
    (["what is the capital of {0}?", "which city is the capital of {0}?", "name the capital of {0}."], pair, form)
    for form in ["The capital of {0} is {1}."]
    for pair in [("France", "Paris"), ("Germany", "Berlin"), ("Italy", "Rome"), ("Spain", "Madrid"),
                 ("Japan", "Tokyo"), ("Norway", "Oslo"), ("Egypt", "Cairo"), ("Greece", "Athens"),
                 ("Austria", "Vienna"), ("Portugal", "Lisbon"), ("Poland", "Warsaw"), ("Peru", "Lima"),
                 ("Ireland", "Dublin"), ("Kenya", "Nairobi"), ("Cuba", "Havana"), ("Canada", "Ottawa")]
] + [
    (["what is the opposite of {0}?", "tell me the opposite of {0}.", "which word means the opposite of {0}?"], pair,
     "The opposite of {0} is {1}.")
    for pair in [("hot", "cold"), ("big", "small"), ("early", "late"), ("open", "closed"), ("fast", "slow"),
                 ("light", "dark"), ("old", "new"), ("wet", "dry"), ("high", "low"), ("full", "empty")]
] + [
    (["which sound does a {0} make?", "what does a {0} say?", "how does a {0} sound?"], pair, "A {0} says {1}.")
    for pair in [("cow", "moo"), ("cat", "meow"), ("dog", "woof"), ("duck", "quack"), ("sheep", "baa")]
] + [
    ([question, variant], ("", ""), answer)
    for question, variant, answer in [
        ("how many days are in a week?", "a week has how many days?", "A week has 7 days."),
        ("how many months are in a year?", "a year has how many months?", "A year has 12 months."),
        ("how many hours are in a day?", "a day has how many hours?", "A day has 24 hours."),
        ("how many minutes are in an hour?", "an hour has how many minutes?", "An hour has 60 minutes."),
        ("how many legs does a spider have?", "a spider has how many legs?", "A spider has 8 legs."),
        ("what color is the sky on a clear day?", "which color does a clear sky have?", "A clear sky is blue."),
        ("what color is fresh snow?", "which color does fresh snow have?", "Fresh snow is white."),
        ("what do bees make?", "which food do bees make?", "Bees make honey."),
        ("at what temperature does water freeze?", "when does water freeze?",
         "Water freezes at 0 degrees Celsius."),
        ("at what temperature does water boil?", "when does water boil?",
         "Water boils at 100 degrees Celsius at sea level."),
        ("which planet do we live on?", "what is our planet called?", "We live on Earth."),
        ("what is the largest ocean?", "which ocean is the largest?", "The largest ocean is the Pacific."),
        ("what is a token?", "explain what a token is.", "A token is a piece of text that a model reads as one unit."),
        ("what is an expert in a model?", "explain what an expert is.",
         "An expert is a small network of which a router picks a few for each token."),
        ("what is Altstream?", "tell me about Altstream.", "Altstream serves MiniMax-M3 models from Node.js."),
    ]
]


def short_question(rng: random.Random) -> Turn:
    variants, pair, form = rng.choice(_QUESTIONS)
    text = phrased(rng, rng.choice(variants).format(*pair))
    answer = form.format(*pair)
    return Turn("question", text, answer, "I know this one.", f"question:{text}", equals(answer))


_ASKS = ["", "Please ", "Could you ", "Can you ", "I need you to ", "Would you ", "Now "]
_CANNOT = [
    ("show me a picture of {animal}", "draw pictures", 0),
    ("draw {animal}", "draw pictures", 0),
    ("paint {thing} for me", "draw pictures", 0),
    ("call {name} on the phone", "make phone calls", 0),
    ("phone the {place}", "make phone calls", 0),
    ("order {thing} for me", "buy things", 0),
    ("buy me {thing}", "buy things", 0),
    ("tell me what {name} did yesterday", "know what people do", 0),
    ("tell me where {name} is right now", "know what people do", 0),
    ("predict tomorrow's lottery numbers", "see the future", 0),
    ("tell me who will win the match in {city}", "see the future", 0),
    ("tell me how I will feel as {job}", "see the future", 0),
    ("tell me the weather in {city}", "check the weather without a tool", 1),
    ("check the temperature in {city}", "check the weather without a tool", 1),
    ("send a message to {name}", "send messages without a tool", 1),
    ("write to {name} by email", "send messages without a tool", 1),
    ("tell me the time in {city}", "read a clock without a tool", 1),
    ("sing a song about {thing}", "sing", 0),
    ("open the door of the {place}", "move things", 0),
    ("bring me {thing}", "move things", 0),
    ("explain what {word} means", "explain a word that I do not know", 0),
    ("translate {word} for me", "explain a word that I do not know", 0),
]


def refusal(rng: random.Random) -> Turn:
    form, reason, _ = rng.choice(_CANNOT)
    wish = form.format(
        animal=with_article(rng.choice(ANIMALS)), thing=with_article(rng.choice(THINGS)),
        name=rng.choice(NAMES), city=rng.choice(CITIES), place=rng.choice(PLACES),
        job=with_article(rng.choice(JOBS)), word=made_up_word(rng),
    )
    ask = rng.choice(_ASKS)
    text = (ask + wish if ask else wish[0].upper() + wish[1:])
    text += "?" if ask in ("Could you ", "Can you ", "Would you ") else "."
    answer = f"I am sorry, but I cannot {reason}."
    return Turn("refusal", text, answer, f"I cannot {reason}.", f"ask:{text}", {"type": "refusal"})
