"""The locked packages are those that pyproject.toml asks for, and every dependency is pinned and watched."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKED_EXTRAS = {
    "develop": ("test", "lint", "docs", "train", "tensorboard", "plots", "web", "cluster", "envs", "node"),
    "bench": ("test", "bench"),
    "play": ("web",),
    "train": ("train", "tensorboard"),
    "sanitize": ("envs",),
}
NOT_LOCKED = {"tengen", "torch"}


def locked_versions(name: str) -> dict[str, list[str]]:
    """Return the versions of each package; some have one for each of several Pythons."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    versions: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        match = re.match(r"([a-z0-9-]+)==(\S+)", entry)
        assert match, entry
        assert "--hash=sha256:" in entry, f"{match[1]} has no hash"
        versions.setdefault(match[1], []).append(match[2])
    return versions


@pytest.mark.parametrize("name", LOCKED_EXTRAS)
def test_the_lock_satisfies_pyproject(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in LOCKED_EXTRAS[name] for line in extras[extra])]
    versions = locked_versions(name)
    for requirement in map(Requirement, wanted):
        package = requirement.name.lower().replace("_", "-")
        if package in NOT_LOCKED:
            continue
        assert package in versions, f"{package} is not locked: run make lock"
        for version in versions[package]:
            assert requirement.specifier.contains(version), f"{package} {version} is locked: run make lock"


def test_all_locks_agree() -> None:
    develop = locked_versions("develop")
    for name in ("build", "bench", "play", "train", "sanitize"):
        for package, versions in locked_versions(name).items():
            assert set(versions) <= set(develop.get(package, versions)), f"{name} and develop differ in {package}"


def test_torch_is_pinned_within_its_range_for_make_and_continuous_integration() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = Requirement((ROOT / "requirements" / "torch.txt").read_text(encoding="utf-8").strip())
    (pin,) = pinned.specifier
    assert (pinned.name, pin.operator) == ("torch", "==")
    allowed = next(each for each in map(Requirement, project["optional-dependencies"]["train"]) if each.name == "torch")
    assert allowed.specifier.contains(pin.version)
    for user in ("Makefile", ".github/workflows/ci.yml"):
        assert "requirements/torch.txt" in (ROOT / user).read_text(encoding="utf-8")


def test_the_build_requirements_are_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    versions = locked_versions("build")
    for requirement in map(Requirement, project["build-system"]["requires"]):
        assert requirement.specifier.contains(versions[requirement.name][0])


def test_workflow_actions_are_pinned_by_commit() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [use for path in workflows for use in re.findall(r"uses:\s*(\S+)", path.read_text(encoding="utf-8"))]
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), f"{action} is not pinned by a commit"


def test_dependabot_watches_every_kind_of_dependency() -> None:
    config = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"package-ecosystem: (\S+)", config)) == {"github-actions", "pip", "npm"}


def test_the_security_policy_says_where_to_report() -> None:
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "## Reporting" in policy
    for page in re.findall(r"\]\(([^)#]+)", policy):
        assert (ROOT / page).is_file(), f"SECURITY.md links to {page}, which does not exist"
