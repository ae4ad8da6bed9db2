"""The texts of the pages: every language is complete, and nothing that the server says stays in English."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from starlette.testclient import TestClient

import tengen
from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending
from tengen.arena.report import tables
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import Tournament, play
from tengen.core.contracts import Ruleset
from tengen.records.features import Feature
from tengen.web.app import STATIC
from tengen.web.laboratory.training_choices import describe_algorithms
from tengen.web.messages.info import ServerInfo

PACKAGE = Path(tengen.__file__).parent
ENGLISH: dict[str, str] = json.loads((STATIC / "i18n" / "en.json").read_text("utf-8"))
OTHERS: dict[str, dict[str, str]] = {
    path.name: json.loads(path.read_text("utf-8")) for path in (STATIC / "i18n").glob("*.json") if path.stem != "en"
}
FROM_SERVER = ("text.", "fault.")
"""What begins the keys of translations of the server's texts, which are in English."""
CODE = "\n".join(path.read_text("utf-8") for path in sorted((STATIC / "js").rglob("*.js")))


# ---- The texts of the pages -----------------------------------------------------------------------------------------


def test_all_languages_have_the_same_texts() -> None:
    assert OTHERS
    for name, texts in OTHERS.items():
        assert ENGLISH.keys() == {key for key in texts if not key.startswith(FROM_SERVER)}, name
        for key, text in ENGLISH.items():
            assert texts[key].strip(), key
            assert set(re.findall(r"\{\w+\}", texts[key])) == set(re.findall(r"\{\w+\}", text)), key


def test_every_text_that_the_code_names_exists() -> None:
    named = set(re.findall(r'\bt\("([^"]+)"', CODE)) | set(re.findall(r'label: "([^"]+)"', CODE))
    assert not named - ENGLISH.keys()


def test_every_text_is_used() -> None:
    strings = set(re.findall(r'"([^"\n]+)"', CODE))
    # `lab.axis-${axis}` names every text that begins with `lab.axis-`.
    starts = tuple(set(re.findall(r"`([a-z][\w.-]*[.-])\$\{", CODE)))
    unused = []
    for key in ENGLISH:
        group, _, name = key.rpartition(".")
        is_named = key in strings or (name == "one" and group in strings) or key.startswith(starts)
        # The choices of a setting are named by `${key}.${value}`.
        if not is_named and not (group in strings and (name in strings or re.search(rf"\b{name}:", CODE))):
            unused.append(key)
    assert unused == [], "remove these from every language"


def test_every_language_is_offered() -> None:
    code = (STATIC / "js" / "i18n.js").read_text("utf-8")
    (table,) = re.findall(r"LANGUAGES = \{(.*?)\};", code, re.DOTALL)
    assert {path.stem for path in (STATIC / "i18n").glob("*.json")} == set(re.findall(r"(\w+): \{ name", table))


# ---- The texts of the server ----------------------------------------------------------------------------------------


def untranslated(wanted: Iterable[str], texts: dict[str, str]) -> set[str]:
    """Return the texts that `translated` in i18n.js leaves as they are: no key has them, and no pattern matches."""
    keys = [key.partition(".")[2] for key in texts if key.startswith(FROM_SERVER)]
    patterns = [re.compile(".+?".join(map(re.escape, re.split(r"\{\d+\}", key))), re.DOTALL) for key in keys]
    return {text for text in wanted if not any(pattern.fullmatch(text) for pattern in patterns)}


def texts_of_the_server(client: TestClient) -> set[str]:
    """Return the fixed texts of the server that the pages show."""
    info = ServerInfo.model_validate_json(client.get("/api/info").text)
    texts = {each.title for each in info.formats}
    for level in info.levels:
        texts |= {level.name, level.description}
    for agent in info.agents:
        texts |= {agent.summary, *(parameter.help for parameter in agent.parameters)}
    for algorithm in describe_algorithms():
        texts |= {algorithm.description, *(preset.description for preset in algorithm.presets)}
    texts |= {ending.value for ending in Ending}
    return texts | {f"2 {name}" for feature in Feature for name in feature.value}


def texts_of_tables(folder: Path) -> set[str]:
    """Return the titles, columns and notes of the tables of a small tournament."""
    tournament = Tournament(
        name="A cup",
        players=(Entrant(agent="random"), Entrant(agent="naive:level=3")),
        rules=(Ruleset(9, 9),),
        rounds=1,
    )
    with GameStore(folder / "cup.sqlite") as store:
        play(tournament, store)
        found = tables(collect([store]))
    texts = {text for table in found for text in (table.title, table.note, *table.columns)}
    return {text for text in texts if re.search("[a-z]{3}", text)}


def test_every_text_of_the_server_is_translated(client: TestClient, tmp_path: Path) -> None:
    wanted = texts_of_the_server(client) | texts_of_tables(tmp_path)
    assert len(wanted) > 150
    for file, texts in OTHERS.items():
        assert untranslated(wanted, texts) == set(), f"translate these in {file}, as `text.…`"


def pattern_of(template: str) -> str:
    """Return the pattern of a template with {} for values."""
    return ".+".join(map(re.escape, template.split("{}")))


def test_every_translated_text_of_the_server_still_exists(client: TestClient, tmp_path: Path) -> None:
    # The pages look translations up by the English text, so a reworded text would silently appear in English.
    shown = texts_of_the_server(client) | texts_of_tables(tmp_path)
    written = {text.strip() for path in PACKAGE.rglob("*.py") for text in string_texts(path)}
    known = "\n".join(shown | written)
    templates = [re.compile(pattern_of(text)) for text in written if "{}" in text and len(text) > 20]
    for file, translations in OTHERS.items():
        for key in translations:
            if not key.startswith("text."):
                continue
            # A note may begin with another sentence, which is translated separately.
            template = re.sub(r"\{\d+\}", "{}", key.removeprefix("text.")).removeprefix("{} ")
            assert (
                template in shown | written
                or re.search(f"^{pattern_of(template)}$", known, re.MULTILINE)
                or any(pattern.fullmatch(template) for pattern in templates)
            ), f"the server has no such text; change or remove {key!r} in {file}"


ERRORS = re.compile(r"\w*Error|HTTPException")
UNSEEN = ("serving.py", "store.py", "explorer.py", "raw_bodies.py")
"""Modules whose errors go to the person who starts the server, or to programs."""


def error_texts(path: Path) -> Iterator[str]:
    """Yield the messages of the exceptions that a module raises, up to the first line break, with {} for values."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        # The message is the first argument, but the second one of HTTPException.
        match node.exc.func, node.exc.args[len(node.exc.args) == 2 and ast.unparse(node.exc.func) == "HTTPException"]:
            case ast.Name(id=name), ast.Constant(value=str(text)) if ERRORS.fullmatch(name):
                yield text
            case ast.Name(id=name), ast.JoinedStr(values=parts) if ERRORS.fullmatch(name):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
                yield text.partition("\n")[0]


def test_every_error_that_a_visitor_can_cause_is_translated() -> None:
    modules = [path for path in (PACKAGE / "web").rglob("*.py") if path.name not in UNSEEN]
    modules += [PACKAGE / "core" / f"{name}.py" for name in ("position", "opening_procedure", "geometry")]
    texts = {text for path in modules for text in error_texts(path)}
    assert len(texts) > 60
    for file, every in OTHERS.items():
        translations = {key.removeprefix("fault."): text for key, text in every.items() if key.startswith("fault.")}
        known = {re.sub(r"\{\d+\}", "{}", key) for key in translations}
        assert texts - known == set(), f"translate these in {file}, as `fault.…`"
        for key, value in translations.items():
            assert set(re.findall(r"\{\d+\}", value)) <= set(re.findall(r"\{\d+\}", key)), key


def string_texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module except docstrings, up to the first line break, with {} for values."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value.partition("\n")[0]
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield text.partition("\n")[0]


def test_every_translated_error_still_exists() -> None:
    texts = "\n".join({text for path in PACKAGE.rglob("*.py") for text in string_texts(path)})
    for file, translations in OTHERS.items():
        for key in translations:
            if not key.startswith("fault."):
                continue
            template = re.sub(r"\{\d+\}", "{}", key.removeprefix("fault."))
            # An error may begin with a place that is translated separately: "line 3: …".
            pattern = f"^(?:.*: )?{pattern_of(template)}$"
            start = f"^{re.escape(template.removesuffix('{}'))}" if template.endswith(": {}") else pattern
            assert re.search(f"{pattern}|{start}", texts, re.MULTILINE), (
                f"no code raises this error; remove {key!r} from {file}"
            )
