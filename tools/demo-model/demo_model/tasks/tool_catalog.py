"""Functions that a dialogue may offer: twenty of everyday use, and made-up ones without end."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from demo_model.tasks.words import (ANIMALS, CITIES, COLORS, CUISINES, CURRENCIES, DAYS, FRUITS, LANGUAGES, NAMES,
                                    PLACES, ROOMS, THINGS, made_up_word)

Maker = Callable[[random.Random], object]


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, tuple[str, str]]  # name -> (type, description)
    makers: dict[str, Maker]
    requests: tuple[str, ...]  # with {parameter} in braces
    result: Callable[[random.Random, dict], tuple[str, str]]  # JSON text of the result, sentence about it

    def schema(self, describe: bool) -> dict:
        properties = {}
        for name, (kind, description) in self.parameters.items():
            field = {"type": "array", "items": {"type": "string"}} if kind == "array" else {"type": kind}
            properties[name] = field | ({"description": description} if describe else {})
        parameters = {"type": "object", "properties": properties, "required": list(self.parameters)}
        return {"type": "function", "function": {
            "name": self.name, "description": self.description, "parameters": parameters}}


def _integer(low: int, high: int) -> Maker:
    return lambda rng: rng.randint(low, high)


def _pick(pool: list[str]) -> Maker:
    return lambda rng: rng.choice(pool)


def _some(pool: list[str]) -> Maker:
    return lambda rng: rng.sample(pool, rng.randint(2, 3))


def _time(rng: random.Random) -> str:
    return f"{rng.randint(0, 23):02d}:{rng.choice(['00', '15', '30', '45'])}"


def _place_or_word(rng: random.Random) -> str:
    return rng.choice(CITIES) if rng.random() < 0.75 else made_up_word(rng).capitalize()


def _phrase(rng: random.Random) -> str:
    return " ".join(rng.sample(THINGS + ANIMALS + COLORS, rng.randint(1, 3)))


def _amount_result(rng: random.Random, a: dict) -> tuple[str, str]:
    value = rng.randint(1, 9999)
    return f'{{"amount": {value}}}', f"{a['amount']} {a['source']} are {value} {a['target']}."


def _weather_result(rng: random.Random, a: dict) -> tuple[str, str]:
    degrees, sky = rng.randint(0, 35), rng.choice(["sunny", "cloudy", "rainy", "windy", "foggy"])
    return f'{{"temperature": {degrees}, "sky": "{sky}"}}', f"In {a['city']} it is {degrees} degrees and {sky}."


def _forecast_result(rng: random.Random, a: dict) -> tuple[str, str]:
    sky = rng.choice(["sun", "clouds", "rain", "wind", "fog", "snow"])
    return f'{{"forecast": "{sky}"}}', f"The forecast for {a['city']} is {sky}."


def _said(key: str, make: Maker, form: str):
    def result(rng: random.Random, a: dict) -> tuple[str, str]:
        value = make(rng)
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        return f'{{"{key}": {shown}}}', form.format(value=value, **a)
    return result


def _done(form: str):
    return lambda rng, a: ('{"status": "ok"}', form.format(**a))


S, I, B, A = "string", "integer", "boolean", "array"
NATURAL = (
    Tool("get_weather", "Current weather of a city", {"city": (S, "Name of the city")}, {"city": _place_or_word},
         ("What is the weather in {city}?", "How is the weather in {city}?", "Weather in {city}, please.",
          "Is it cold in {city} today?", "Tell me the weather in {city}."), _weather_result),
    Tool("get_forecast", "Weather forecast for some days", {"city": (S, "Name of the city"), "days": (I, "How many")},
         {"city": _place_or_word, "days": _integer(2, 14)},
         ("What will the weather be in {city} for the next {days} days?", "Forecast for {city}, {days} days.",
          "Give me a {days} day forecast for {city}."), _forecast_result),
    Tool("get_time", "Current time in a city", {"city": (S, "Name of the city")}, {"city": _place_or_word},
         ("What time is it in {city}?", "Tell me the time in {city}.", "How late is it in {city}?"),
         _said("time", _time, "In {city} it is {value}.")),
    Tool("convert_currency", "Converts an amount of money",
         {"amount": (I, "Amount"), "source": (S, "Currency to convert from"), "target": (S, "Currency to convert to")},
         {"amount": _integer(1, 999), "source": _pick(CURRENCIES), "target": _pick(CURRENCIES)},
         ("Convert {amount} {source} to {target}.", "How much are {amount} {source} in {target}?",
          "What is {amount} {source} in {target}?"), _amount_result),
    Tool("send_message", "Sends a message to a person", {"to": (S, "Name"), "text": (S, "The message")},
         {"to": _pick(NAMES), "text": _phrase},
         ('Send "{text}" to {to}.', 'Write to {to}: "{text}"', 'Tell {to} "{text}".'), _done("I sent it to {to}.")),
    Tool("set_alarm", "Sets an alarm", {"time": (S, "Hours and minutes")}, {"time": _time},
         ("Wake me at {time}.", "Set an alarm for {time}.", "I want to get up at {time}."),
         _done("The alarm is set for {time}.")),
    Tool("add_event", "Adds an event to the calendar", {"title": (S, "Title"), "day": (S, "Day of the week")},
         {"title": _phrase, "day": _pick(DAYS)},
         ('Add "{title}" to my calendar on {day}.', 'Put "{title}" in the calendar for {day}.'),
         _done("The event is in the calendar on {day}.")),
    Tool("search", "Searches the web", {"query": (S, "What to search for")}, {"query": _phrase},
         ('Search for "{query}".', 'Look up "{query}" on the web.', 'Find pages about "{query}".'),
         _said("hits", _integer(1, 900), "I found {value} pages.")),
    Tool("translate", "Translates text", {"text": (S, "Text"), "language": (S, "Language to translate to")},
         {"text": _phrase, "language": _pick(LANGUAGES)},
         ('Translate "{text}" to {language}.', 'What is "{text}" in {language}?', 'Say "{text}" in {language}.'),
         _said("translation", made_up_word, "In {language} it is: {value}")),
    Tool("get_stock", "Price of a share", {"symbol": (S, "Symbol")},
         {"symbol": lambda rng: "".join(rng.choice("ABCDEFGHKLMNPRST") for _ in range(rng.randint(2, 4)))},
         ("What is the price of {symbol}?", "How much is a share of {symbol}?", "Price of {symbol}, please."),
         _said("price", _integer(1, 999), "A share of {symbol} costs {value}.")),
    Tool("switch_light", "Switches a light", {"room": (S, "Room"), "on": (B, "true to switch it on")},
         {"room": _pick(ROOMS), "on": lambda rng: rng.random() < 0.5},
         ("Set the light in the {room} to {on}.", "Light in the {room}: {on}."),
         _done("The light in the {room} is set.")),
    Tool("find_restaurant", "Finds a restaurant", {"cuisine": (S, "Kind of food"), "city": (S, "Name of the city")},
         {"cuisine": _pick(CUISINES), "city": _place_or_word},
         ("Find a {cuisine} restaurant in {city}.", "Where can I eat {cuisine} food in {city}?"),
         _said("name", lambda rng: made_up_word(rng).capitalize(), "Try {value} in {city}.")),
    Tool("book_table", "Books a table", {"restaurant": (S, "Name"), "people": (I, "How many people")},
         {"restaurant": lambda rng: made_up_word(rng).capitalize(), "people": _integer(2, 12)},
         ("Book a table for {people} at {restaurant}.", "A table for {people} at {restaurant}, please."),
         _done("A table for {people} at {restaurant} is booked.")),
    Tool("buy", "Adds items to the shopping list", {"items": (A, "The items")}, {"items": _some(FRUITS)},
         ("Put {items} on the shopping list.", "We need {items}.", "Add {items} to the list."),
         _done("It is on the list.")),
    Tool("invite", "Invites people to a place", {"people": (A, "Their names"), "place": (S, "Where")},
         {"people": _some(NAMES), "place": _pick(PLACES)},
         ("Invite {people} to the {place}.", "Ask {people} to come to the {place}."),
         _done("They are invited to the {place}.")),
    Tool("roll_dice", "Rolls dice", {"count": (I, "How many dice")}, {"count": _integer(1, 9)},
         ("Roll {count} dice.", "Throw {count} dice for me."), _said("sum", _integer(1, 54), "The sum is {value}.")),
    Tool("set_volume", "Sets the volume", {"percent": (I, "0 to 100")}, {"percent": _integer(0, 100)},
         ("Set the volume to {percent}.", "Volume {percent}, please."), _done("The volume is {percent}.")),
    Tool("calculate", "Computes an expression", {"expression": (S, "For example 2 * 3")},
         {"expression": lambda rng: f"{rng.randint(100, 9999)} {rng.choice('+-*/')} {rng.randint(11, 999)}"},
         ("Use the calculator: {expression}", "Calculate with the tool: {expression}"),
         _said("value", _integer(0, 99999), "{expression} = {value}")),
    Tool("read_file", "Reads a file", {"path": (S, "Path of the file")},
         {"path": lambda rng: "/".join(rng.sample(THINGS, 2)) + rng.choice([".txt", ".md", ".json"])},
         ("Read the file {path}.", "What is in {path}?", "Open {path}."),
         _said("lines", _integer(1, 900), "The file {path} has {value} lines.")),
    Tool("track_package", "Where a package is", {"number": (S, "Number of the package")},
         {"number": lambda rng: f"{rng.choice('ABCXYZ')}{rng.randint(10000, 99999)}"},
         ("Where is package {number}?", "Track package {number}.", "Is package {number} here yet?"),
         _said("place", _pick(CITIES), "Package {number} is in {value}.")),
)

_VERBS = """add archive check clean close compare copy count create delete describe download draw explain export
fetch find fold get import list load lock make mark measure merge move name open pack paint parse ping plan play
print read remove rename render repair report reset save scan send set share show sort split start stop store
sum test tag track unlock update upload use verify watch weigh wrap write""".split()
_NOUNS = """account album article bill book budget card chart clip contact device document draft engine entry
event field file folder form frame game goal group guide image index invoice item job key label layer letter
level link list log map member menu meter model module note number order page part path photo plan plant player
price profile project query queue rate record report room route rule sample scene score sensor sheet shelf signal
site slot song source stage station story table tag task team test text theme thread ticket timer token tool
topic track unit user value video wallet zone""".split()
_FIELDS: dict[str, tuple[str, Maker]] = {
    "id": (I, _integer(1, 9999)), "name": (S, _pick(NAMES)), "color": (S, _pick(COLORS)), "city": (S, _pick(CITIES)),
    "count": (I, _integer(1, 99)), "label": (S, made_up_word), "day": (S, _pick(DAYS)), "size": (I, _integer(1, 500)),
    "owner": (S, _pick(NAMES)), "title": (S, _phrase), "place": (S, _pick(PLACES)), "level": (I, _integer(1, 9)),
    "tags": (A, _some(THINGS)), "key": (S, made_up_word), "code": (S, lambda rng: str(rng.randint(100, 999)) + "X"),
    "force": (B, lambda rng: rng.random() < 0.5), "animal": (S, _pick(ANIMALS)),
}


def made_up_tool(rng: random.Random) -> Tool:
    """A tool of a random name and fields, asked for by its words."""
    verb = rng.choice(_VERBS)
    noun = rng.choice(_NOUNS) if rng.random() < 0.85 else made_up_word(rng)
    fields = rng.sample(sorted(_FIELDS), rng.randint(1, 3))
    told = " and ".join(f"{field} {{{field}}}" for field in fields)
    requests = (f"{verb.capitalize()} the {noun} with {told}.", f"Please {verb} the {noun}: {told}.",
                f"I want to {verb} the {noun} with {told}.", f"{verb.capitalize()} {noun}, {told}.")
    return Tool(f"{verb}_{noun}", rng.choice([f"Can {verb} the {noun}", f"{verb.capitalize()} the {noun}"]),
                {field: (_FIELDS[field][0], f"The {field} of the {noun}") for field in fields},
                {field: _FIELDS[field][1] for field in fields}, requests,
                _said("result", made_up_word, "The result is {value}."))


def spoken(value: object) -> str:
    """An argument as the user says it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(value[:-1]) + " and " + value[-1]
    return str(value)
