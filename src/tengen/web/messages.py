"""Every message of the HTTP and WebSocket interface, typed (docs/api.md shows each with an example).

Names on the wire are camelCase. Where a field means the same as in KataGo's analysis engine it has its name there:
`moves`, `initialStones`, `initialPlayer`, `boardXSize`, `moveInfos`, `rootInfo`, `visits`, `winrate`, `prior`, `pv`,
`order`, `isDuringSearch`, `turnNumber`, `terminateId`. Points, colours, rulesets and agents are the texts used
everywhere in Tengen (`h8`, `black`, `15x15:5:renju`, `alphabeta:nodes=5000`).

Perspective: `winrate` and `utility` are those of the side to move at the root (`currentPlayer`), `blackWinrate` is
black's. A winrate runs from 0 to 1, a utility from -1 to +1.

Unknown fields are refused. Nothing here knows the rules: what a message says is checked against the game by those who
receive it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter
from pydantic.alias_generators import to_camel

from tengen.core.contracts import MAX_WIN_LENGTH, MIN_WIN_LENGTH, Colour, Foul, Outcome
from tengen.core.geometry import MAX_SIZE, MIN_SIZE
from tengen.core.opening import Option, Seat
from tengen.patterns.explain import Kind
from tengen.records.game import MarkKind
from tengen.search.threats import ThreatKind, Verdict

MAX_MOVES = MAX_SIZE * MAX_SIZE
MAX_COMMENT = 10_000
MAX_RECORD_NODES = 20_000
MAX_LEVEL = 10

PointName = Annotated[str, StringConstraints(pattern=r"^[a-v]([1-9]|1[0-9]|2[0-2])$")]
"""A point such as `h8`."""
RulesText = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""A ruleset such as `15x15:5:renju`, or a rule alone such as `renju`."""
AgentText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An agent such as `alphabeta:nodes=5000`."""
MessageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""Chosen by the client; answers carry it."""
GameId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
Name = Annotated[str, StringConstraints(max_length=80)]
Comment = Annotated[str, StringConstraints(max_length=MAX_COMMENT)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Message(BaseModel):
    """What all messages share: names on the wire are camelCase, unknown fields are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


# ---- Positions ------------------------------------------------------------------------------------------------------


class RulesFields(Message):
    """What is played: a ruleset, or a rule with the size of the board."""

    rules: RulesText = "15x15:5:freestyle"
    board_x_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None
    """The width; needed only when `rules` is a rule alone."""
    board_y_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None


class PositionFields(RulesFields):
    """A position: stones that were set up, then moves in turn."""

    initial_stones: Annotated[list[tuple[Colour, PointName]], Field(max_length=MAX_MOVES)] = []
    initial_player: Colour | None = None
    """Who moves first; without it black, or the side with fewer stones."""
    moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []


class PositionRequest(PositionFields):
    """Asks for the facts of a position."""

    include_threats: bool = False


class FoulPoint(Message):
    """A point that renju forbids the side to move."""

    point: PointName
    kind: Foul


class Threat(Message):
    """A four or an open three that stands on the board."""

    colour: Colour
    kind: Kind
    stones: list[PointName]
    next_points: list[PointName]
    """Where its owner carries it out."""
    answers: list[PointName]
    """Where the other side stops it; fours of its own are not listed."""


class Threats(Message):
    """What `tengen.patterns.explain` says of a position; nothing is searched for it."""

    standing: list[Threat]
    chances: dict[Colour, dict[Kind, list[PointName]]]
    """By colour: the points where one more stone makes something, by the best thing it makes."""
    sentences: list[str]


class PositionInfo(Message):
    """The facts of a position."""

    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: Annotated[int, Field(ge=MIN_WIN_LENGTH, le=MAX_WIN_LENGTH)]
    turn_number: int
    """Moves made; set-up stones do not count."""
    current_player: Colour
    outcome: Outcome
    winning_line: list[PointName]
    legal: list[PointName]
    """Where the side to move may play; fouls are not legal."""
    fouls: list[FoulPoint]
    threats: Threats | None = None
    """When asked for, and the win length is 4 or 5."""


# ---- Games ----------------------------------------------------------------------------------------------------------


class Person(Message):
    """A seat whose moves come from a browser."""

    kind: Literal["person"] = "person"
    name: Name = ""


class LevelPlayer(Message):
    """An opponent by strength (`tengen.agents.levels`)."""

    kind: Literal["level"] = "level"
    level: Annotated[int, Field(ge=1, le=MAX_LEVEL)]


class AgentPlayer(Message):
    """An opponent by its agent text."""

    kind: Literal["agent"] = "agent"
    agent: AgentText
    max_time_ms: Annotated[int, Field(ge=1, le=60_000)] = 1000
    """For each move; with a clock, the clock counts as well."""


Player: TypeAlias = Annotated[Person | LevelPlayer | AgentPlayer, Field(discriminator="kind")]


class Clock(Message):
    """Time for the whole game and what each move adds to it."""

    main_ms: Annotated[int, Field(ge=1000, le=24 * 3600 * 1000)]
    increment_ms: Annotated[int, Field(ge=0, le=3600 * 1000)] = 0


class NewGame(PositionFields):
    """Begins a game. `black` puts the first stones of an opening procedure, whoever plays black after it.

    Moves and set-up stones are what stands when the game begins; they need a free opening.
    """

    black: Player
    white: Player
    clock: Clock | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    """For the random choices of the players; chosen by the server unless given."""


class Turn(Message):
    """Who must do what now."""

    seat: Seat
    is_person: bool
    step: Literal["stone", "option"]
    stones_due: int
    """How many stones the seat puts in a row: 1 unless an opening is under way, 0 when an option is due."""
    options: list[Option]
    """What may be chosen, in an opening that asks."""
    legal: list[PointName]
    """Where a stone may be put."""


class ClockState(Message):
    """What the clocks show at the moment of the message. They run while the game is watched."""

    main_ms: int
    increment_ms: int
    left_ms: dict[Seat, int]
    running: Seat | None


class Proof(Message):
    """A proved result for the side to move."""

    result: Literal["win", "loss", "draw"]
    plies: int
    text: str
    """`+M5`, `-M6`, `=M9`."""


class MoveNote(Message):
    """What is known of a move that was made."""

    time_ms: int
    black_winrate: Probability | None = None
    """What the player expected, if it said so."""
    depth: int = 0
    visits: int = 0
    proof: Proof | None = None
    """For the player who made the move."""


class GameState(Message):
    """A game as it stands. Sent whole after every change."""

    id: GameId
    revision: int
    """Grows with every change."""
    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: int
    players: dict[Seat, Player]
    """The proposer is the one named black at the beginning."""
    black_seat: Seat | None
    """Who plays black; None until an opening has settled it."""
    initial_stones: list[tuple[Colour, PointName]]
    initial_player: Colour
    moves: list[PointName]
    notes: list[MoveNote]
    """One for each move."""
    choices: list[Option]
    """What was chosen in the opening."""
    current_player: Colour
    outcome: Outcome
    reason: str
    """Why it ended: `five`, `full board`, `no legal point`, `resignation`, `time`, `forfeit`; empty before."""
    winning_line: list[PointName]
    fouls: list[FoulPoint]
    turn: Turn | None
    """None when the game is over."""
    is_thinking: bool
    is_paused: bool
    """Agents do not move by themselves in a paused game."""
    can_undo: bool
    can_redo: bool
    clock: ClockState | None
    seed: int


class PlayAction(Message):
    """A person puts a stone; `turnNumber` guards against a click on a board that has changed meanwhile."""

    action: Literal["play"] = "play"
    point: PointName
    turn_number: Annotated[int, Field(ge=0, le=MAX_MOVES)] | None = None


class ChooseAction(Message):
    """A person picks an option of the opening."""

    action: Literal["choose"] = "choose"
    option: Option


class SimpleAction(Message):
    """Actions without an argument.

    `undo` goes back to the last decision of a person, `redo` takes an undo back, `moveNow` ends the agent's thinking
    with its best move so far, `pause` and `resume` hold agents and clocks, `step` lets a paused agent do one thing,
    `thinkAgain` takes back the agent's last move and lets it think anew.
    """

    action: Literal["undo", "redo", "resign", "moveNow", "pause", "resume", "step", "thinkAgain"]


GameAction: TypeAlias = Annotated[PlayAction | ChooseAction | SimpleAction, Field(discriminator="action")]


# ---- The socket: from the browser ------------------------------------------------------------------------------------


class Watch(Message):
    """Follow a game: its state now and after every change. Agents think only in games that somebody watches."""

    type: Literal["watch"] = "watch"
    id: MessageId
    game_id: GameId


class Act(Message):
    """An action in a game. The new state goes to all who watch it."""

    type: Literal["act"] = "act"
    id: MessageId
    game_id: GameId
    action: GameAction


class SearchLimits(Message):
    """How long to search; whatever is reached first."""

    max_time_ms: Annotated[int, Field(ge=10, le=600_000)] | None = None
    max_visits: Annotated[int, Field(ge=1, le=2**40)] | None = None
    """Positions or simulations."""
    max_depth: Annotated[int, Field(ge=1, le=MAX_MOVES)] | None = None


class Analyse(PositionFields, SearchLimits):
    """Think aloud about a position until the limits, a `terminate` or the end of the socket."""

    type: Literal["analyse"] = "analyse"
    id: MessageId
    agent: AgentText | None = None
    """The strongest that knows the ruleset unless given."""
    lines: Annotated[int, Field(ge=1, le=20)] = 5
    """How many best moves to follow."""
    analysis_pv_len: Annotated[int, Field(ge=1, le=60, alias="analysisPVLen")] = 20
    report_during_search_every: Annotated[float, Field(ge=0.05, le=10)] = 0.2
    """Seconds between two reports, at least."""
    avoid_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []
    """Never consider these at the root."""
    allow_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []
    """Consider only these at the root, when any are given."""
    include_policy: bool = False


class Solve(PositionFields):
    """Look for a win by continuous fours (vcf) or threats (vct)."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind = ThreatKind.VCF
    attacker: Colour | None = None
    """As if it were that side's turn; the side to move unless given."""
    max_time_ms: Annotated[int, Field(ge=10, le=30_000)] = 2000


class Hint(Message):
    """Ask for a good move where a game stands."""

    type: Literal["hint"] = "hint"
    id: MessageId
    game_id: GameId
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 700


class Thresholds(Message):
    """How much winrate a move may lose before it gets a bad name."""

    inaccuracy: Probability = 0.06
    mistake: Probability = 0.14
    blunder: Probability = 0.28


class Review(PositionFields):
    """Judge every move of a game."""

    type: Literal["review"] = "review"
    id: MessageId
    agent: AgentText | None = None
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 300
    """For each position."""
    max_visits: Annotated[int, Field(ge=1, le=2**40)] | None = None
    thresholds: Thresholds = Thresholds()


class Judge(PositionFields):
    """Judge one move that was not played: for trying again after a mistake."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    agent: AgentText | None = None
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 500
    thresholds: Thresholds = Thresholds()


class Terminate(Message):
    """End what was begun with the id `terminateId`: a watch, an analysis, a solve, a review."""

    type: Literal["terminate"] = "terminate"
    id: MessageId
    terminate_id: MessageId


class Ping(Message):
    """Are you there?"""

    type: Literal["ping"] = "ping"
    id: MessageId


ClientMessage: TypeAlias = Annotated[
    Watch | Act | Analyse | Solve | Hint | Review | Judge | Terminate | Ping, Field(discriminator="type")
]
CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


# ---- The socket: to the browser --------------------------------------------------------------------------------------


class GameMessage(Message):
    """The state of a watched game; `id` is that of the watch."""

    type: Literal["game"] = "game"
    id: MessageId
    game: GameState


class Done(Message):
    """An `act` was carried out, or a `terminate`; the revision is the game's after it."""

    type: Literal["done"] = "done"
    id: MessageId
    revision: int | None = None


class MoveInfo(Message):
    """A candidate move."""

    order: int
    """0 is the best."""
    move: PointName
    visits: int
    """Simulations or positions spent on it (N); 0 when the agent does not count by move."""
    winrate: Probability
    utility: Annotated[float, Field(ge=-1, le=1)]
    """The value (Q)."""
    black_winrate: Probability
    prior: Probability | None
    """The network's (P), when there is one."""
    pv: list[PointName]
    depth: int
    proof: Proof | None


class RootInfo(Message):
    """What is known of the position as a whole."""

    current_player: Colour
    winrate: Probability
    utility: float
    black_winrate: Probability
    visits: int
    depth: int
    elapsed_ms: int
    visits_per_second: int
    proof: Proof | None


class AnalysisMessage(Message):
    """A snapshot of an analysis; the last one has `isDuringSearch` false."""

    type: Literal["analysis"] = "analysis"
    id: MessageId
    turn_number: int
    is_during_search: bool
    agent: AgentText
    move_infos: list[MoveInfo]
    root_info: RootInfo
    policy: dict[PointName, float] | None = None
    """By point, when asked for and the agent has one."""


class SolveMessage(Message):
    """The answer to `solve`."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind
    attacker: Colour
    verdict: Verdict
    pv: list[PointName]
    """The attacker's moves and one answer to each in turn, when there is a win."""
    visits: int
    elapsed_ms: int


class HintMessage(Message):
    """The answer to `hint`."""

    type: Literal["hint"] = "hint"
    id: MessageId
    turn_number: int
    move_info: MoveInfo


Quality: TypeAlias = Literal["best", "good", "inaccuracy", "mistake", "blunder"]


class ReviewMove(Message):
    """A move of a game with its judgement."""

    turn_number: int
    """1 for the first move."""
    colour: Colour
    move: PointName
    black_winrate: Probability
    """After the move."""
    winrate_loss: Probability
    """What the mover lost against the best move."""
    quality: Quality
    is_key: bool
    """Whether the game turned here: the move changed who is winning, or threw away a forced win."""
    best: MoveInfo | None
    """The best move in its place; None for the move itself after the end of the game."""
    proof: Proof | None
    """For the side to move after the move."""


class SideSummary(Message):
    """A player's share of a review."""

    accuracy: Annotated[float, Field(ge=0, le=100)] | None
    """From 0 to 100; None without moves."""
    moves: int
    counts: dict[Quality, int]
    mean_loss: Probability | None


class ReviewSummary(Message):
    """What a review says in the end."""

    sides: dict[Colour, SideSummary]
    key_moves: list[int]
    """Turn numbers."""


class ReviewMessage(Message):
    """Progress of a review: moves judged since the last message; the last one brings the summary."""

    type: Literal["review"] = "review"
    id: MessageId
    is_during_search: bool
    agent: AgentText
    done: int
    total: int
    root_black_winrate: Probability | None = None
    """Before the first move; in the first message."""
    moves: list[ReviewMove]
    summary: ReviewSummary | None = None


class JudgeMessage(Message):
    """The answer to `judge`."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    winrate: Probability
    """After the move, for the player who makes it."""
    winrate_loss: Probability
    quality: Quality


class Terminated(Message):
    """What was begun with this id has ended before its time."""

    type: Literal["terminated"] = "terminated"
    id: MessageId


class Pong(Message):
    """I am here."""

    type: Literal["pong"] = "pong"
    id: MessageId


class ErrorMessage(Message):
    """A request that could not be carried out. Nothing has changed."""

    type: Literal["error"] = "error"
    id: MessageId | None = None
    """None when the request's own id could not be read."""
    error: str
    field: str | None = None
    """Which field was at fault, when it was one."""
    retry_after_ms: int | None = None
    """When the request came too soon: how long to wait."""


ServerMessage: TypeAlias = Annotated[
    GameMessage
    | Done
    | AnalysisMessage
    | SolveMessage
    | HintMessage
    | ReviewMessage
    | JudgeMessage
    | Terminated
    | Pong
    | ErrorMessage,
    Field(discriminator="type"),
]
SERVER_MESSAGE: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)


class Problem(Message):
    """The body of every HTTP answer that is not a success."""

    error: str
    field: str | None = None


# ---- What there is ---------------------------------------------------------------------------------------------------


class ParameterInfo(Message):
    """A parameter of an agent, for forms."""

    key: str
    type: str
    """`int`, `float`, or its choices: `best | fudan`."""
    default: str | None
    help: str
    maximum: int | None = None
    """The largest value that the server allows, when it has a limit."""


class AgentInfo(Message):
    """A kind of player that the browser may name."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    analyses: bool
    """Whether it can think aloud."""


class LevelInfo(Message):
    """An opponent by strength."""

    level: int
    name: str
    rating: int | None
    """On the scale of the ladder; None until measured."""
    description: str


class FormatInfo(Message):
    """A file format."""

    name: str
    title: str
    endings: list[str]
    is_written: bool


class ServerInfo(Message):
    """What the server offers."""

    version: str
    rules: list[str]
    openings: list[str]
    levels: list[LevelInfo]
    agents: list[AgentInfo]
    default_agent: AgentText
    """Who analyses and reviews unless told."""
    formats: list[FormatInfo]
    cores: int
    max_message_bytes: int
    max_searches: int
    """Searches that a socket may have under way at once."""
    models: list[str]


# ---- Records --------------------------------------------------------------------------------------------------------


class RecordMark(Message):
    """A sign on a point."""

    kind: MarkKind
    point: PointName
    text: Name = ""


class RecordSetup(Message):
    """Stones put on the board or taken off without a move."""

    black: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []
    white: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []
    empty: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = []
    current_player: Colour | None = None


class RecordNode(Message):
    """One step of a record: a move, set-up stones or a remark."""

    parent: Annotated[int, Field(ge=0, lt=MAX_RECORD_NODES)] | None = None
    """The parent's place in the list, which is before this node's; None for the root alone."""
    colour: Colour | None = None
    """Who moves here; None for a node without a move."""
    move: PointName | None = None
    """The point; None with a colour is a pass."""
    setup: RecordSetup | None = None
    comment: Comment = ""
    label: Name = ""
    marks: Annotated[list[RecordMark], Field(max_length=2 * MAX_MOVES)] = []
    black_winrate: Probability | None = None
    time_ms: Annotated[int, Field(ge=0, le=10**9)] | None = None


class Record(Message):
    """A game with its variations: a tree as a list in which parents come before their children, main line first."""

    rules: RulesText = "15x15:5:freestyle"
    black: Name = ""
    white: Name = ""
    outcome: Outcome | None = None
    """None is unknown."""
    reason: Name = ""
    event: Name = ""
    round: Name = ""
    date: Name = ""
    comment: Comment = ""
    nodes: Annotated[list[RecordNode], Field(min_length=1, max_length=MAX_RECORD_NODES)] = [RecordNode()]


class ImportRequest(Message):
    """A game file or anything pasted. Give `text` or `base64`."""

    text: str | None = None
    base64: str | None = None
    filename: Name | None = None
    """Its ending says the format unless `format` does; without either the content decides."""
    format: Annotated[str, StringConstraints(max_length=10)] | None = None
    rules: RulesText | None = None
    """Fills in what the file does not say."""
    rows: Literal["bottom", "top"] = "bottom"
    """Where row 1 of position strings is."""
    index: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Which game of a collection."""


class ImportResult(Message):
    """One game of a file, and what else is in it."""

    format: str
    game_count: int
    titles: list[str]
    """Of the first games, for choosing one by its index."""
    index: int
    record: Record
    notes: list[str]
    """What was skipped."""


class ExportRequest(Message):
    """Write a record as a file."""

    record: Record
    format: Annotated[str, StringConstraints(max_length=10)]


class ExportResult(Message):
    """A written file."""

    filename: str
    media_type: str
    text: str | None
    """When the format is text."""
    base64: str
    losses: list[str]
    """What the format cannot hold: `3 comments`."""


class Study(Message):
    """A record that the server keeps."""

    id: GameId
    record: Record


# ---- Puzzles --------------------------------------------------------------------------------------------------------


class PuzzleSummary(Message):
    """A puzzle in the list."""

    id: str
    kind: ThreatKind
    rules: RulesText
    depth: int
    """Moves of the attacker until five, or until a threat that cannot be answered."""
    grade: Annotated[int, Field(ge=1, le=5)]
    current_player: Colour


class PuzzleList(Message):
    """Puzzles that fit the question."""

    total: int
    puzzles: list[PuzzleSummary]


class Puzzle(PuzzleSummary):
    """A puzzle: the side to move wins by continuous threats, and its first move is the only one that does."""

    board_x_size: int
    board_y_size: int
    initial_stones: list[tuple[Colour, PointName]]
    last_move: PointName | None
    legal: list[PointName]
    fouls: list[FoulPoint]


class PuzzleTry(Message):
    """The line so far: the solver's moves and the answers, in turn, the solver's last."""

    moves: Annotated[list[PointName], Field(min_length=1, max_length=MAX_MOVES)]


class PuzzleVerdict(Message):
    """What becomes of a try."""

    verdict: Literal["right", "wrong", "solved"]
    reply: PointName | None
    """How the defence goes on; for a wrong move, what refutes it."""
    reason: str
    position: PositionInfo
    """After the move and the reply."""


class PuzzleSolution(Message):
    """The whole line."""

    pv: list[PointName]


# ---- Laboratory -----------------------------------------------------------------------------------------------------


class RunSummary(Message):
    """A training run."""

    name: str
    algorithm: str
    rules: str
    is_live: bool
    """Whether it wrote something in the last two minutes."""
    updated_at: str
    steps: int
    last: dict[str, float]
    """The newest value of every series."""
    games: int


class Series(Message):
    """A curve: values over steps, thinned out to a few hundred points."""

    name: str
    steps: list[float]
    values: list[float]


class StrengthPoint(Message):
    """A rating measured during a run."""

    step: float
    elo: float
    low: float | None = None
    high: float | None = None


class RunDetail(Message):
    """A training run with its curves."""

    summary: RunSummary
    config: str
    """The configuration as text (TOML)."""
    series: list[Series]
    strength: list[StrengthPoint]
    game_files: list[str]
    """Newest first; each is read by `/api/runs/{name}/games/{file}`."""


class TournamentSummary(Message):
    """A tournament store."""

    name: str
    title: str
    games: int
    games_planned: int
    players: list[str]
    is_live: bool
    updated_at: str


class TableInfo(Message):
    """A table of a report."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    left: int
    """How many of the first columns are words; the others are numbers."""
    is_detail: bool
    """Left out where room is short."""


class TournamentDetail(Message):
    """A tournament with its tables."""

    summary: TournamentSummary
    tables: list[TableInfo]


class GameRow(Message):
    """A game of a tournament in the list."""

    number: int
    black: str
    white: str
    outcome: Outcome
    ending: str
    moves: int
    ended_at: str


class GameRows(Message):
    """Games of a tournament."""

    total: int
    games: list[GameRow]


class ModelInfo(Message):
    """A network that can be played."""

    name: str
    facts: dict[str, str]
    """Its model card."""


class PaperInfo(Message):
    """A paper's table beside ours."""

    name: str
    title: str
    readme: str
    results: list[str]
    """Files with results."""
