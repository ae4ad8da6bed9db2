"""Experiments of "Reinforcement Learning for Gomoku" (zero9): skills by iteration, and transfer to 15x15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.files import writing
from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.nets.architectures import keep_convolutions
from tengen.nets.models import WEIGHTS_FILE, find_model
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.plots import draw_heat_map
from tengen.papers.training import Training
from tengen.papers.variants import Variants
from tengen.papers.zero9.skills import SKILLS, SkillTest, find_tests

_CHANCE = "random"
_FORMS = ("network", "search")
_COPIED = "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills(Experiment):
    """Shares of test positions in which networks, alone and with a search, play a move that shows a skill."""

    rules: Ruleset
    networks: Mapping[str, str]
    """Networks by column of the table: `model=NAME`, or `{training@5}` for a run's network after iteration 5."""
    search: str = ""
    """Parameters of the player `alphazero` for the search."""
    positions: int = 50
    """Number of positions per skill."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_at_least(self, 2, "positions")
        if any("/" in name for name in self.networks):
            raise InputError(f"{self.name}: network names must not contain a slash")

    def run(self, lab: Lab) -> Findings:
        """Test all networks on the same positions."""
        parts = lab.parts(self)
        players = {
            (name, form): lab.player(text)
            for name, network in self.networks.items()
            for form, text in zip(_FORMS, (f"policy:{network}", f"alphazero:{network},{self.search}"), strict=True)
        }
        lab.console.print(f"{self.name}: looking for {self.positions} positions for each of {len(SKILLS)} skills")
        tests = find_tests(self.rules, self.positions, self.seed)
        findings = Findings(data={"skills": {form: {} for form in _FORMS}, "chance": {}})
        for skill, given in tests.items():
            findings.data["chance"][skill] = chance = round(sum(test.chance for test in given) / len(given), 4)
            findings.figures[self.key(_CHANCE, skill)] = Figure(chance, count=len(given))
        for number, ((name, form), player) in enumerate(players.items(), 1):
            passed = parts.get(f"{name}, {form}", partial(self._try, player, tests))
            lab.console.print(f"{self.name}: {number} of {len(players)}, {name}, {form}: {sum(passed.values())} passed")
            for skill, count in passed.items():
                figure = Figure.share(count, len(tests[skill]))
                findings.figures[self.key(name, form, skill)] = figure
                findings.data["skills"][form].setdefault(name, {})[skill] = figure.value
        return findings

    def _try(self, player: str, tests: Mapping[str, Sequence[SkillTest]]) -> dict[str, int]:
        with make_agent(player) as agent:
            agent.new_game(self.rules, self.seed)
            return {skill: sum(passes(agent, test) for test in given) for skill, given in tests.items()}

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw heat maps of skills and networks, for the networks alone and with the search."""
        for form, table in data["skills"].items():
            columns = {**table, _CHANCE: data["chance"]}
            values = [[column[skill] for column in columns.values()] for skill in SKILLS]
            title = f"Moves that show the skill, {form}, %"
            draw_heat_map(list(SKILLS), list(columns), values, lab.out / "plots" / f"{self.name}-{form}", title)


def passes(agent: Agent, test: SkillTest) -> bool:
    """Whether the move that the agent prefers among the compared moves is right."""
    decision = agent.choose(test.position, Limits())
    policy = decision.policy
    if decision.move in test.options or not policy:
        return decision.move in test.right
    favourite = max(sorted(test.options), key=lambda point: policy.get(point, 0.0))
    return favourite in test.right and policy.get(favourite, 0.0) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Variants):
    """Training on a larger board with copied convolutions, and from scratch."""

    source: str
    """Training experiment from whose convolutions the variant `copied` starts."""

    def __post_init__(self) -> None:
        Variants.__post_init__(self)
        if _COPIED not in self.variants:
            raise InputError(f"{self.name}: there is no variant {_COPIED!r}")

    def training(self, lab: Lab, variant: str) -> Training:
        """Return the training experiment for a variant."""
        training = Variants.training(self, lab, variant)
        if variant != _COPIED:
            return training
        file = lab.out / "convolutions.safetensors"
        with writing(file.parent):
            file.parent.mkdir(parents=True, exist_ok=True)
        keep_convolutions(find_model(lab.network(self.source)).with_name(WEIGHTS_FILE), file)
        return replace(training, settings=(*training.settings, f'init_from="{file}"'))


KINDS: Mapping[str, type[Experiment]] = {"skills": Skills, "transfer": Transfer}
