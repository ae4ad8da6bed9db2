"""Plug-ins are found by name, as entry points and in files; every mistake in somebody's code is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tengen.core.plugins import InFile, Plugins, load_file
from tengen.errors import PluginError


def is_text_class(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, str)


TEXTS = Plugins(
    what="text",
    group="tengen.tests",
    wanted="a subclass of str",
    accepts=is_text_class,
    built_in={"plain": "builtins:str"},
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def install(folder: Path, package: str, module: str, points: str) -> None:
    """Write what pip leaves behind: a module, and metadata with entry points."""
    (folder / f"{package}.py").write_text(module, encoding="utf-8")
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[tengen.tests]\n{points}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "place", "rest"),
    [
        ("mybot.py", InFile("mybot.py"), ""),
        ("./bots/my bot.py:MyBot", InFile("./bots/my bot.py", "MyBot"), ""),
        ("mybot.py:MyBot:depth=2", InFile("mybot.py", "MyBot"), ":depth=2"),
        ("mybot.py:depth=2", InFile("mybot.py"), ":depth=2"),
        (r"C:\bots\mybot.py:MyBot", InFile(r"C:\bots\mybot.py", "MyBot"), ""),
    ],
)
def test_a_file_is_told_from_its_settings(text: str, place: InFile, rest: str) -> None:
    assert InFile.parse(text) == (place, rest)


@pytest.mark.parametrize(
    "text", ["naive", "brain:cmd=./mybot.py", "brain:cmd=mybot.py:x", "mybot.pyc", "alphazero:run=a.py"]
)
def test_other_names_are_not_files(text: str) -> None:
    assert InFile.parse(text) is None


def test_a_built_in_name_is_found() -> None:
    assert TEXTS.find("plain") is str


def test_an_entry_point_is_found_and_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "loud_texts", "class Loud(str): pass", "loud = loud_texts:Loud")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert TEXTS.names() == ("plain", "loud")
    assert TEXTS.find("loud").__name__ == "Loud"
    assert TEXTS.restricted().names() == ("plain",)
    with pytest.raises(PluginError, match=r"unknown text 'loud' \(known: plain\)"):
        TEXTS.restricted().find("loud")


def test_a_broken_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "broken_texts", "import nonexistent_module", "broken = broken_texts:Broken")
    install(tmp_path, "wrong_texts", "wrong = 3", "wrong = wrong_texts:wrong")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError, match=r"'broken' of the package broken_texts cannot be imported: line 1 of"):
        TEXTS.find("broken")
    with pytest.raises(
        PluginError, match="'wrong' of the package wrong_texts is not a subclass of str; it is of type int"
    ):
        TEXTS.find("wrong")


def test_two_packages_with_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "one_texts", "class One(str): pass", "same = one_texts:One")
    install(tmp_path, "two_texts", "class Two(str): pass", "same = two_texts:Two")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError, match="text 'same' is defined by several packages: one_texts, two_texts"):
        TEXTS.find("same")


def test_an_object_in_a_file_is_found_with_and_without_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "texts.py", "class Base(str): pass\nNUMBER = 3\n")
    assert TEXTS.find(f"{path}:Base") is TEXTS.find(str(path)) is load_file(path).Base


def test_a_file_is_run_once_and_can_import_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "neighbour_of_texts.py", "NAME = 'neighbour'")
    path = write(tmp_path / "once.py", f"import neighbour_of_texts\nopen({str(tmp_path / 'log')!r}, 'a').write('x')\n")
    assert load_file(path) is load_file(path)
    assert (tmp_path / "log").read_text() == "x"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (None, "", "no such file"),
        ("class A(str", "", r"line 1: SyntaxError: '\(' was never closed"),
        ("x = 1\nimport nonexistent_module", "", "line 2 of broken.py: ModuleNotFoundError: No module named 'nonex"),
        ("def f():\n    1 / 0\nf()", "", "line 2 of broken.py: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "", "line 1 of broken.py: SystemExit: 3"),
        ("class A(str): pass", ":B", r"has no 'B' \(known: A\)"),
        ("x = 3", ":B", "has no 'B', and no other text"),
        ("x = 3", ":x", "is not a subclass of str; it is of type int"),
        ("class A: pass", ":A", "is not a subclass of str; it is the class A"),
        ("x = 3", "", r"must define exactly one text \(a subclass of str\), but it has none"),
        ("class A(str): pass\nclass B(str): pass", "", r"but it has several: A, B; write .*broken.py:A"),
    ],
)
def test_a_mistake_in_a_file_is_one_line(tmp_path: Path, content: str | None, name: str, message: str) -> None:
    path = tmp_path / "broken.py"
    if content is not None:
        write(path, content)
    with pytest.raises(PluginError, match=message) as raised:
        TEXTS.find(f"{path}{name}")
    assert "\n" not in str(raised.value)


def test_a_corrected_file_is_imported_after_a_failure(tmp_path: Path) -> None:
    path = write(tmp_path / "texts.py", "raise ValueError")
    with pytest.raises(PluginError, match="ValueError"):
        load_file(path)
    write(path, "class A(str): pass")
    assert TEXTS.find(str(path)).__name__ == "A"


def test_restricted_plugins_never_run_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "evil.py", f"open({str(tmp_path / 'ran')!r}, 'w')\nclass A(str): pass\n")
    for name in (str(path), f"{path}:A"):
        with pytest.raises(PluginError, match="is a file, and files are not allowed here"):
            TEXTS.restricted().find(name)
    assert not (tmp_path / "ran").exists()
    assert TEXTS.restricted({"a": InFile(str(path), "A")}).find("a").__name__ == "A"
