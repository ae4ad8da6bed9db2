// Written by `make stubs` from tengen.web.messages and the routes. Do not edit.

export interface Act {
  type: "act";
  id: string;
  gameId: string;
  action: PlayAction | ChooseAction | SimpleAction;
}

export interface AgentInfo {
  name: string;
  summary: string;
  parameters: Array<ParameterInfo>;
  analyses: boolean;
}

export interface AgentPlayerInput {
  kind: "agent";
  agent: string;
  maxTimeMs?: number;
}

export interface AgentPlayerOutput {
  kind: "agent";
  agent: string;
  maxTimeMs: number;
}

export interface AlgorithmInfo {
  name: string;
  description: string;
  settings: Array<SettingInfo>;
  presets: Array<PresetInfo>;
}

export interface Analyse {
  maxTimeMs?: number | null;
  maxVisits?: number | null;
  maxDepth?: number | null;
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  type: "analyse";
  id: string;
  agent?: string | null;
  lines?: number;
  analysisPVLen?: number;
  reportDuringSearchEvery?: number;
  avoidMoves?: Array<string>;
  allowMoves?: Array<string>;
  includePolicy?: boolean;
}

export interface AnalysisMessage {
  type: "analysis";
  id: string;
  turnNumber: number;
  isDuringSearch: boolean;
  agent: string;
  moveInfos: Array<MoveInfo>;
  rootInfo: RootInfo;
  policy: { [key: string]: number } | null;
}

export interface ChoiceNote {
  seat: Seat;
  option: Option;
  whiteWinrate: number | null;
}

export interface ChooseAction {
  action: "choose";
  option: Option;
}

export interface Clock {
  mainMs: number;
  incrementMs?: number;
}

export interface ClockState {
  mainMs: number;
  incrementMs: number;
  leftMs: { [key in Seat]?: number };
  running: Seat | null;
}

export type Colour = "black" | "white";

export interface Deleted {
  id: string;
}

export interface Document {
  name: string;
  text: string;
}

export interface Done {
  type: "done";
  id: string;
  revision: number | null;
}

export interface ErrorMessage {
  type: "error";
  id: string | null;
  error: string;
  code: ProblemCode;
  field: string | null;
  goesOn: boolean;
  retryAfterMs: number | null;
}

export interface ExplorerMove {
  move: string;
  shipped: Tally;
  mine: Tally;
}

export interface ExplorerResult {
  moves: Array<ExplorerMove>;
  shippedGames: number;
}

export interface ExportRequest {
  record: RecordInput;
  format: string;
}

export interface ExportResult {
  filename: string;
  mediaType: string;
  text: string | null;
  base64: string;
  losses: Array<string>;
}

export interface ExportReview {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  effort?: "quick" | "normal" | "deep";
  thresholds?: Thresholds;
  format?: string;
  black?: string;
  white?: string;
  outcome?: Outcome | null;
  reason?: string;
  event?: string;
  date?: string;
}

export type FigureKind = "papers" | "models";

export interface ForcedWinInfo {
  kind: ThreatKind;
  attacker: Colour;
  pv: Array<string>;
}

export interface FormatInfo {
  name: string;
  title: string;
  endings: Array<string>;
  isWritten: boolean;
}

export type Foul = "overline" | "double-four" | "double-three";

export interface FoulPoint {
  point: string;
  kind: Foul;
}

export interface GameList {
  games: Array<GameSummary>;
  total: number;
  stored: number;
  opponents: Array<Opponent>;
}

export interface GameMessage {
  type: "game";
  id: string;
  game: GameState;
}

export interface GameRow {
  number: number;
  black: string;
  white: string;
  outcome: Outcome;
  ending: string;
  moves: number;
  endedAt: string;
}

export interface GameRows {
  total: number;
  games: Array<GameRow>;
}

export interface GameState {
  id: string;
  revision: number;
  rules: string;
  boardXSize: number;
  boardYSize: number;
  winLength: number;
  players: { [key in Seat]?: PersonOutput | LevelPlayerOutput | AgentPlayerOutput };
  blackSeat: Seat | null;
  initialStones: Array<[Colour, string]>;
  initialPlayer: Colour;
  moves: Array<string>;
  notes: Array<MoveNote>;
  choices: Array<Option>;
  choiceNotes: Array<ChoiceNote>;
  currentPlayer: Colour;
  outcome: Outcome;
  reason: string;
  winningLine: Array<string>;
  winningShape: Kind | null;
  fouls: Array<FoulPoint>;
  turn: Turn | null;
  isThinking: boolean;
  isPaused: boolean;
  canUndo: boolean;
  canRedo: boolean;
  isRated: boolean;
  clock: ClockState | null;
  seed: number;
}

export interface GameSummary {
  id: string;
  rules: string;
  black: PersonOutput | LevelPlayerOutput | AgentPlayerOutput | null;
  white: PersonOutput | LevelPlayerOutput | AgentPlayerOutput | null;
  players: { [key in Seat]?: PersonOutput | LevelPlayerOutput | AgentPlayerOutput };
  outcome: Outcome;
  reason: string;
  moveCount: number;
  isRated: boolean;
  accuracy: { [key in Colour]?: number };
  startedAt: number;
  changedAt: number;
}

export interface Hint {
  type: "hint";
  id: string;
  gameId: string;
}

export interface HintMessage {
  type: "hint";
  id: string;
  turnNumber: number;
  moveInfo: MoveInfo;
  reason: ReasonInfo;
}

export interface ImportRequest {
  text?: string | null;
  base64?: string | null;
  filename?: string | null;
  format?: string | null;
  rules?: string | null;
  rows?: "bottom" | "top";
  index?: number;
}

export interface ImportResult {
  format: string;
  gameCount: number;
  titles: Array<string>;
  index: number;
  record: RecordOutput;
  notes: Array<string>;
}

export interface Judge {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  effort?: "quick" | "normal" | "deep";
  thresholds?: Thresholds;
  type: "judge";
  id: string;
  move: string;
}

export interface JudgeMessage {
  type: "judge";
  id: string;
  move: string;
  winrate: number;
  judged: ReviewMove;
}

export type Kind = "five" | "open four" | "double-four" | "four-three" | "four" | "double-three" | "open three" | "three" | "open two";

export interface LevelInfo {
  level: number;
  name: string;
  rating: number | null;
  description: string;
}

export interface LevelPlayerInput {
  kind: "level";
  level: number;
  isAdaptive?: boolean;
}

export interface LevelPlayerOutput {
  kind: "level";
  level: number;
  isAdaptive: boolean;
}

export type MarkKind = "triangle" | "square" | "circle" | "cross" | "selected" | "label";

export interface ModelInfo {
  name: string;
  agent: string | null;
  algorithm: string;
  rules: string;
  weights: number;
  bytes: number;
  games: number;
  cpuMinutes: number;
  command: string;
  elo: number | null;
  eloError: number | null;
  matches: Array<ModelMatch>;
  card: string;
  problem: string | null;
}

export interface ModelMatch {
  against: string;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  conditions: string;
}

export interface MoveInfo {
  order: number;
  move: string;
  visits: number;
  winrate: number;
  utility: number;
  blackWinrate: number;
  prior: number | null;
  pv: Array<string>;
  depth: number;
  proof: Proof | null;
}

export interface MoveNote {
  timeMs: number;
  blackWinrate: number | null;
  depth: number;
  visits: number;
  proof: Proof | null;
}

export type MyResult = "won" | "lost" | "draw" | "ongoing";

export interface NewGame {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  black: PersonInput | LevelPlayerInput | AgentPlayerInput;
  white: PersonInput | LevelPlayerInput | AgentPlayerInput;
  clock?: Clock | null;
  seed?: number | null;
}

export interface OperatingInfo {
  isEnabled: boolean;
  whyNot: string;
  maxProcesses: number;
  maxGames: number;
  operations: Array<OperationInfo>;
}

export interface OperationInfo {
  kind: OperationKind;
  name: string;
  state: OperationState;
  isShown: boolean;
  startedAt: string;
  deadline: string;
  memoryMb: number;
  message: string;
}

export type OperationKind = "training" | "tournament";

export type OperationState = "running" | "stopping" | "finished" | "stopped" | "timed-out" | "out-of-memory" | "failed" | "killed";

export interface Opponent {
  key: string;
  player: PersonOutput | LevelPlayerOutput | AgentPlayerOutput;
  games: number;
}

export type Option = "take-black" | "take-white" | "place-two";

export type Outcome = "ongoing" | "black" | "white" | "draw";

export interface PaperInfo {
  name: string;
  title: string;
  source: string;
  readme: string;
  documents: Array<Document>;
  figures: Array<string>;
}

export interface ParameterInfo {
  key: string;
  type: string;
  default: string | null;
  help: string;
  maximum: number | null;
}

export interface PersonInput {
  kind: "person";
  name?: string;
}

export interface PersonOutput {
  kind: "person";
  name: string;
}

export type Phase = "opening" | "middle" | "end";

export interface Ping {
  type: "ping";
  id: string;
}

export interface PlayAction {
  action: "play";
  point: string;
  turnNumber?: number | null;
}

export interface PlayerRating {
  rating: number;
  deviation: number;
  games: number;
  suggestedLevel: number;
  history: Array<RatedGame>;
}

export interface PolicyHistory {
  rules: string;
  currentPlayer: Colour;
  points: Array<PolicyPoint>;
}

export interface PolicyPoint {
  iteration: number | null;
  winrate: number;
  policy: { [key: string]: number };
}

export interface Pong {
  type: "pong";
  id: string;
}

export interface PositionInfo {
  rules: string;
  boardXSize: number;
  boardYSize: number;
  winLength: number;
  turnNumber: number;
  currentPlayer: Colour;
  outcome: Outcome;
  winningLine: Array<string>;
  legal: Array<string>;
  fouls: Array<FoulPoint>;
  threats: Threats | null;
}

export interface PositionRequest {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  includeThreats?: boolean;
}

export interface PresetInfo {
  name: string;
  description: string;
  rules: string;
  values: { [key: string]: number };
}

export interface Problem {
  error: string;
  code: ProblemCode;
  field: string | null;
}

export type ProblemCode = "invalid" | "notation" | "rules" | "position" | "illegal" | "forbidden" | "game-over" | "record" | "not-found" | "not-due" | "agent" | "storage" | "busy" | "too-many" | "too-large" | "too-slow" | "refused" | "internal";

export interface Proof {
  result: "win" | "loss" | "draw";
  plies: number;
  text: string;
}

export interface Puzzle {
  id: string;
  kind: PuzzleKind;
  themes: Array<Theme>;
  rules: string;
  depth: number;
  grade: number;
  rating: number;
  stones: number;
  currentPlayer: Colour;
  source: PuzzleSource | null;
  boardXSize: number;
  boardYSize: number;
  initialStones: Array<[Colour, string]>;
  lastMove: string | null;
  legal: Array<string>;
  fouls: Array<FoulPoint>;
}

export type PuzzleKind = "vcf" | "vct" | "defence";

export interface PuzzleList {
  total: number;
  puzzles: Array<PuzzleSummary>;
  pending: number;
}

export interface PuzzleSolution {
  pv: Array<string>;
}

export interface PuzzleSource {
  gameId: string;
  turnNumber: number;
  played: string;
}

export interface PuzzleSummary {
  id: string;
  kind: PuzzleKind;
  themes: Array<Theme>;
  rules: string;
  depth: number;
  grade: number;
  rating: number;
  stones: number;
  currentPlayer: Colour;
  source: PuzzleSource | null;
}

export interface PuzzleTry {
  moves: Array<string>;
}

export interface PuzzleVerdict {
  verdict: "right" | "wrong" | "solved";
  reply: string | null;
  reason: string;
  refutation: Array<string>;
  position: PositionInfo;
}

export type Quality = "best" | "good" | "inaccuracy" | "mistake" | "blunder";

export interface RatedGame {
  gameId: string;
  level: number;
  score: number;
  rating: number;
  change: number;
}

export interface ReasonInfo {
  kind: ReasonKind;
  sentence: string;
  colour: Colour | null;
  point: string | null;
  shape: Kind | null;
  stones: Array<string>;
  moves: number | null;
  why: ReasonInfo | null;
}

export type ReasonKind = "misses-five" | "ignores-four" | "misses-shape" | "misses-fours" | "misses-threats" | "ignores-three" | "lets-shape" | "lets-fours" | "lets-threats" | "better" | "makes-five" | "stops-four" | "wins-shape" | "wins-fours" | "wins-threats" | "stops-three" | "stops-fours" | "stops-threats" | "makes-shape" | "takes-shape" | "search";

export interface RecordInput {
  rules?: string;
  black?: string;
  white?: string;
  outcome?: Outcome | null;
  reason?: string;
  event?: string;
  round?: string;
  date?: string;
  comment?: string;
  nodes?: Array<RecordNodeInput>;
}

export interface RecordOutput {
  rules: string;
  black: string;
  white: string;
  outcome: Outcome | null;
  reason: string;
  event: string;
  round: string;
  date: string;
  comment: string;
  nodes: Array<RecordNodeOutput>;
}

export interface RecordMarkInput {
  kind: MarkKind;
  point: string;
  text?: string;
}

export interface RecordMarkOutput {
  kind: MarkKind;
  point: string;
  text: string;
}

export interface RecordNodeInput {
  parent?: number | null;
  colour?: Colour | null;
  move?: string | null;
  setup?: RecordSetupInput | null;
  comment?: string;
  label?: string;
  marks?: Array<RecordMarkInput>;
  blackWinrate?: number | null;
  timeMs?: number | null;
}

export interface RecordNodeOutput {
  parent: number | null;
  colour: Colour | null;
  move: string | null;
  setup: RecordSetupOutput | null;
  comment: string;
  label: string;
  marks: Array<RecordMarkOutput>;
  blackWinrate: number | null;
  timeMs: number | null;
}

export interface RecordSetupInput {
  black?: Array<string>;
  white?: Array<string>;
  empty?: Array<string>;
  currentPlayer?: Colour | null;
}

export interface RecordSetupOutput {
  black: Array<string>;
  white: Array<string>;
  empty: Array<string>;
  currentPlayer: Colour | null;
}

export interface ResumeOperation {
  maxMinutes?: number;
  moreMinutes?: number | null;
  moreIterations?: number | null;
}

export interface Review {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  effort?: "quick" | "normal" | "deep";
  thresholds?: Thresholds;
  type: "review";
  id: string;
  gameId?: string | null;
  onlyStored?: boolean;
}

export interface ReviewMessage {
  type: "review";
  id: string;
  isDuringSearch: boolean;
  effort: "quick" | "normal" | "deep";
  done: number;
  total: number;
  rootBlackWinrate: number | null;
  moves: Array<ReviewMove>;
  summary: ReviewSummary | null;
  isStored: boolean;
}

export interface ReviewMove {
  turnNumber: number;
  colour: Colour;
  move: string;
  blackWinrateBefore: number;
  blackWinrate: number;
  winrateLoss: number;
  quality: Quality;
  isKey: boolean;
  better: Array<string>;
  reason: ReasonInfo | null;
  betterReason: ReasonInfo | null;
  refutation: Array<string>;
  win: ForcedWinInfo | null;
  replyWin: ForcedWinInfo | null;
  proof: Proof | null;
  betterProof: Proof | null;
}

export interface ReviewSummary {
  sides: { [key in Colour]?: SideSummary };
  keyMoves: Array<number>;
}

export interface RootInfo {
  currentPlayer: Colour;
  winrate: number;
  utility: number;
  blackWinrate: number;
  visits: number;
  depth: number;
  elapsedMs: number;
  visitsPerSecond: number;
  proof: Proof | null;
}

export type Rule = "freestyle" | "standard" | "renju" | "caro" | "caro-exact";

export interface RunDetail {
  summary: RunSummary;
  config: string;
  series: Array<Series>;
  strength: Array<StrengthPoint>;
  anchor: string;
  gameFiles: Array<string>;
  gameFileCount: number;
}

export interface RunList {
  total: number;
  runs: Array<RunSummary>;
}

export type RunState = "running" | "stopped" | "finished";

export interface RunSummary {
  name: string;
  algorithm: string;
  rules: string;
  isLive: boolean;
  state: RunState;
  updatedAt: string;
  steps: number;
  fraction: number;
  secondsLeft: number | null;
  milestones: Array<number>;
  hasTimeLimit: boolean;
  last: { [key: string]: number };
  games: number;
  agent: string | null;
  problem: string | null;
}

export type Seat = "proposer" | "chooser";

export interface Series {
  name: string;
  steps: Array<number>;
  values: Array<number>;
}

export interface ServerInfo {
  version: string;
  rules: Array<string>;
  openings: Array<string>;
  levels: Array<LevelInfo>;
  agents: Array<AgentInfo>;
  defaultAgent: string;
  formats: Array<FormatInfo>;
  cores: number;
  maxMessageBytes: number;
  maxSearches: number;
  models: Array<string>;
}

export interface SettingInfo {
  key: string;
  isInteger: boolean;
  least: number;
  most: number;
}

export interface SideSummary {
  accuracy: number | null;
  accuracyByPhase: { [key in Phase]?: number | null };
  moves: number;
  counts: { [key in Quality]?: number };
  meanLoss: number | null;
}

export interface SimpleAction {
  action: "undo" | "redo" | "resign" | "moveNow" | "pause" | "resume" | "step" | "thinkAgain";
}

export interface Solve {
  rules?: string;
  boardXSize?: number | null;
  boardYSize?: number | null;
  initialStones?: Array<[Colour, string]>;
  initialPlayer?: Colour | null;
  moves?: Array<string>;
  type: "solve";
  id: string;
  kind?: ThreatKind;
  attacker?: Colour | null;
  maxTimeMs?: number;
}

export interface SolveMessage {
  type: "solve";
  id: string;
  kind: ThreatKind;
  attacker: Colour;
  verdict: Verdict;
  pv: Array<string>;
  visits: number;
  elapsedMs: number;
}

export interface StartTournament {
  name: string;
  rules: string;
  players: Array<string>;
  rounds?: number;
  timeMs?: number | null;
  nodes?: number | null;
  simulations?: number | null;
  seed?: number;
  maxMinutes?: number;
}

export interface StartTraining {
  name: string;
  algorithm: string;
  preset: string;
  settings?: { [key: string]: number };
  seed?: number;
  maxMinutes?: number;
}

export interface StrengthPoint {
  step: number;
  elo: number;
  low: number | null;
  high: number | null;
}

export interface Study {
  id: string;
  record: RecordOutput;
}

export interface TableInfo {
  title: string;
  columns: Array<string>;
  rows: Array<Array<string>>;
  note: string;
  left: number;
  isDetail: boolean;
}

export interface Tally {
  games: number;
  blackWins: number;
  draws: number;
}

export interface Terminate {
  type: "terminate";
  id: string;
  terminateId: string;
}

export interface Terminated {
  type: "terminated";
  id: string;
}

export type Theme = "fours" | "threes" | "defence" | "fouls";

export interface Threat {
  colour: Colour;
  kind: Kind;
  stones: Array<string>;
  nextPoints: Array<string>;
  answers: Array<string>;
}

export type ThreatKind = "vcf" | "vct";

export interface Threats {
  standing: Array<Threat>;
  chances: { [key in Colour]?: { [key in Kind]?: Array<string> } };
  sentences: Array<string>;
}

export interface Thresholds {
  inaccuracy?: number;
  mistake?: number;
  blunder?: number;
}

export interface TournamentDetail {
  summary: TournamentSummary;
  tables: Array<TableInfo>;
}

export interface TournamentList {
  total: number;
  tournaments: Array<TournamentSummary>;
}

export interface TournamentSummary {
  name: string;
  title: string;
  games: number;
  gamesPlanned: number;
  players: Array<string>;
  isLive: boolean;
  secondsLeft: number | null;
  updatedAt: string;
  problem: string | null;
}

export interface Turn {
  seat: Seat;
  isPerson: boolean;
  step: "stone" | "option";
  stonesDue: number;
  options: Array<Option>;
  legal: Array<string>;
}

export type Verdict = "win" | "no win" | "unknown";

export interface Watch {
  type: "watch";
  id: string;
  gameId: string;
}

export type ClientMessage = Watch | Act | Analyse | Solve | Hint | Review | Judge | Terminate | Ping;

export type ServerMessage = GameMessage | Done | AnalysisMessage | SolveMessage | HintMessage | ReviewMessage | JudgeMessage | Terminated | Pong | ErrorMessage;

export interface Routes {
  "GET /api/info": { path: {}; query: {}; body: undefined; answer: ServerInfo };
  "POST /api/position": { path: {}; query: {}; body: PositionRequest; answer: PositionInfo };
  "POST /api/explorer": { path: {}; query: {}; body: PositionRequest; answer: ExplorerResult };
  "POST /api/games": { path: {}; query: {}; body: NewGame; answer: GameState };
  "GET /api/games/{game_id}": { path: { game_id: string }; query: {}; body: undefined; answer: GameState };
  "DELETE /api/games/{game_id}": { path: { game_id: string }; query: {}; body: undefined; answer: Deleted };
  "POST /api/games/{game_id}/rematch": { path: { game_id: string }; query: {}; body: undefined; answer: GameState };
  "GET /api/my-games": { path: {}; query: { opponent?: string | null; result?: MyResult | null; rule?: Rule | null; since?: number | null; until?: number | null; limit?: number; offset?: number }; body: undefined; answer: GameList };
  "GET /api/my-rating": { path: {}; query: {}; body: undefined; answer: PlayerRating };
  "GET /api/my-games/export": { path: {}; query: { format?: string; game_id?: string | null }; body: undefined; answer: ExportResult };
  "POST /api/reviews/export": { path: {}; query: {}; body: ExportReview; answer: ExportResult };
  "POST /api/games/{game_id}/actions": { path: { game_id: string }; query: {}; body: PlayAction | ChooseAction | SimpleAction; answer: GameState };
  "POST /api/import": { path: {}; query: {}; body: ImportRequest; answer: ImportResult };
  "GET /api/studies/{study_id}": { path: { study_id: string }; query: {}; body: undefined; answer: Study };
  "PUT /api/studies/{study_id}": { path: { study_id: string }; query: {}; body: RecordInput; answer: Study };
  "POST /api/export": { path: {}; query: {}; body: ExportRequest; answer: ExportResult };
  "POST /api/studies": { path: {}; query: {}; body: RecordInput; answer: Study };
  "GET /api/puzzles": { path: {}; query: { source?: "shipped" | "own"; kind?: PuzzleKind | null; theme?: Theme | null; rule?: Rule | null; grade?: number | null; limit?: number; offset?: number }; body: undefined; answer: PuzzleList };
  "GET /api/puzzles/daily": { path: {}; query: { day: string }; body: undefined; answer: PuzzleSummary };
  "GET /api/puzzles/{puzzle_id}": { path: { puzzle_id: string }; query: {}; body: undefined; answer: Puzzle };
  "GET /api/puzzles/{puzzle_id}/solution": { path: { puzzle_id: string }; query: {}; body: undefined; answer: PuzzleSolution };
  "POST /api/puzzles/{puzzle_id}/try": { path: { puzzle_id: string }; query: {}; body: PuzzleTry; answer: PuzzleVerdict };
  "GET /api/runs": { path: {}; query: { limit?: number; offset?: number }; body: undefined; answer: RunList };
  "POST /api/runs/{name}/policies": { path: { name: string }; query: {}; body: PositionRequest; answer: PolicyHistory };
  "GET /api/runs/{name}/games/{file}": { path: { name: string; file: string }; query: { index?: number }; body: undefined; answer: ImportResult };
  "GET /api/runs/{name}": { path: { name: string }; query: {}; body: undefined; answer: RunDetail };
  "GET /api/tournaments": { path: {}; query: { limit?: number; offset?: number }; body: undefined; answer: TournamentList };
  "GET /api/tournaments/{name}": { path: { name: string }; query: {}; body: undefined; answer: TournamentDetail };
  "GET /api/tournaments/{name}/games": { path: { name: string }; query: { limit?: number; offset?: number }; body: undefined; answer: GameRows };
  "GET /api/tournaments/{name}/games/{number}": { path: { name: string; number: number }; query: {}; body: undefined; answer: RecordOutput };
  "GET /api/models": { path: {}; query: {}; body: undefined; answer: Array<ModelInfo> };
  "GET /api/papers": { path: {}; query: {}; body: undefined; answer: Array<PaperInfo> };
  "GET /api/operations": { path: {}; query: {}; body: undefined; answer: OperatingInfo };
  "GET /api/operations/algorithms": { path: {}; query: {}; body: undefined; answer: Array<AlgorithmInfo> };
  "POST /api/operations/training": { path: {}; query: {}; body: StartTraining; answer: OperationInfo };
  "POST /api/operations/tournament": { path: {}; query: {}; body: StartTournament; answer: OperationInfo };
  "POST /api/operations/stop/{kind}/{name}": { path: { kind: OperationKind; name: string }; query: {}; body: undefined; answer: OperationInfo };
  "POST /api/operations/resume/{kind}/{name}": { path: { kind: OperationKind; name: string }; query: {}; body: ResumeOperation; answer: OperationInfo };
}
