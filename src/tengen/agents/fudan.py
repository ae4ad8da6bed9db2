"""The alpha-beta player from "Final report for Gomoku project" (papers/fudan/README.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tengen.agents.registry import AgentKind, parameter
from tengen.agents.searching import least
from tengen.core.contracts import Agent, Decision, Limits, Report, Ruleset, Search
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, RulesetError
from tengen.search.checks import check_range
from tengen.search.fudan import Checkmate, Evaluation, Fudan, FudanConfig, check_supports, supports

_DEFAULT_DEPTH = 7
_MAX_DEPTH = 40


class Form(StrEnum):
    """Version of the player."""

    DESCRIBED = "described"
    """The player as described in the report."""
    AUTHORS = "authors"
    """The authors' program."""


_FORMS: dict[Form, FudanConfig] = {
    Form.DESCRIBED: FudanConfig(),
    Form.AUTHORS: FudanConfig(
        all_keys=False,
        peer_update=False,
        hash_index=False,
        checkmate=Checkmate.AUTHORS,
        prefers_fast_wins=False,
    ),
}


@dataclass(frozen=True)
class FudanParameters:
    """Parameters of `fudan`; the form determines the defaults."""

    form: Form = parameter(Form.DESCRIBED, help="described (as in the report) or authors (as in the authors' program)")
    depth: int = parameter(_DEFAULT_DEPTH, help="search depth in plies; 0 for the depth in the per-move limits")
    blocked_update: bool | None = parameter(None, help="skip updates behind an opponent's stone; affects only speed")
    peer_update: bool | None = parameter(None, help="copy the scores of adjacent stones; affects only speed")
    hash: bool | None = parameter(None, help="cache values by Zobrist key; affects only speed")
    checkmate: Checkmate | None = parameter(
        None, help="search for forced wins: both-sides (up to 16 plies), authors (own wins only, up to 11 moves) or off"
    )
    evaluation: Evaluation = parameter(
        Evaluation.DICTIONARY, help="score shapes with the dictionary or with a table of 256x256 line shapes"
    )

    def __post_init__(self) -> None:
        check_range("depth", self.depth, 0, _MAX_DEPTH)

    def config(self) -> FudanConfig:
        """Return the configuration given by the form and the parameters."""
        form = _FORMS[self.form]
        return replace(
            form,
            blocked_update=form.blocked_update if self.blocked_update is None else self.blocked_update,
            peer_update=form.peer_update if self.peer_update is None else self.peer_update,
            hash_index=form.hash_index if self.hash is None else self.hash,
            checkmate=self.checkmate or form.checkmate,
            evaluation=self.evaluation,
        )


class FudanAgent(Agent):
    """Plays the best move found by the report's alpha-beta search."""

    def __init__(self, parameters: FudanParameters) -> None:
        self._depth = parameters.depth or None
        self._fudan = Fudan(parameters.config())

    def supports(self, ruleset: Ruleset) -> bool:
        return supports(ruleset)

    def check_supports(self, ruleset: Ruleset) -> None:
        try:
            check_supports(ruleset)
        except RulesetError as error:
            raise AgentError(str(error)) from None

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        own = replace(limits, depth=least(limits.depth, self._depth))

        def run(stop: StopSignal, report: Report) -> Decision:
            analysis = self._fudan.search(position, own, lines=lines, stop=stop, on_analysis=report)
            report(analysis)
            return analysis.decide()

        return Search(run)


KINDS = (
    AgentKind(
        name="fudan",
        summary="The alpha-beta player of the fudan report: depth 7, with point scores and a checkmate search.",
        parameters=FudanParameters,
        make=FudanAgent,
    ),
)
