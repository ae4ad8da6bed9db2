// @ts-check
/** Playing: a game lives on the server, the page shows its state and sends what the person does. A stone is drawn at the
 *  click and taken back in the rare case that the server refuses it. */

import { newGame, rematch, serverInfo, socket } from "../api.js";
import { Board } from "../board/api.js";
import { stonesOf } from "../board/state.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus, refill } from "../dom.js";
import { t } from "../i18n.js";
import { announce, confirmed, notify, notifyError } from "../notice.js";
import { go, replaceRoute } from "../router.js";
import { change, onChange, read, save, settings } from "../settings.js";
import { playEnd, playStone } from "../sound.js";
import { newRoot, play as playInTree, step } from "../tree.js";
import { askPoint } from "../widgets/ask_point.js";
import { button } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { PlayerBar, nameOf } from "../widgets/player_bar.js";
import { other, positionIn, queryOf, sizeOf } from "../workspace.js";
import { rulesIn, setupForm } from "./play_setup.js";

const KEY = "tengen.game";

/** @typedef {import("../board/state.js").Colour} Colour */

class PlayPage {
  /** The newest state of the server. @type {any} */ game = null;
  /** @type {import("../api.js").Stream | null} */ watch = null;
  /** The id of the game that is followed. @type {string | null} */ watching = null;
  /** How many moves are shown; null follows the game. @type {number | null} */ shownPly = null;
  /** A stone drawn before the server has answered. @type {string | null} */ guess = null;
  /** @type {string | null} */ hint = null;

  constructor(/** @type {HTMLElement} */ main, /** @type {any} */ info) {
    this.info = info;
    this.boardBox = h("div");
    this.confirmBar = h("div", { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })), button(t("place"), () => this.board.confirm(), { kind: "primary" }));
    this.bars = { black: new PlayerBar("black"), white: new PlayerBar("white") };
    this.statusLine = h("h2", { class: "status", role: "status" });
    this.facts = h("p", { class: "soft small" });
    this.options = h("div", { class: "stack opening-options", role: "group", "aria-label": t("status.choose") });
    this.buttons = h("div");
    this.side = h("div", { class: "side" });
    fill(main, h("h1", { class: "visually-hidden" }, t("page.play")),
      h("div", { class: "stage" }, h("section", { class: "table", "aria-label": t("board") }, this.bars.white.element, this.boardBox, this.bars.black.element, this.confirmBar), this.side));
    this.board = new Board(this.boardBox, { onPlay: (point) => this.play(point), onPending: (point) => (this.confirmBar.hidden = !point) });
    this.moves = new MoveTree((node) => this.look(node.ply));
    this.panel = h("div", { class: "card" }, h("div", null, this.statusLine, this.facts), this.options, this.buttons, this.moves.element);
    const endings = [followSettings(this.board), onChange((changes) => changes.game && this.resizeEmptyBoard())];
    this.unfollow = () => endings.forEach((end) => end());
    this.ticker = setInterval(() => this.tick(), 100);
  }

  // -- coming and going ----------------------------------------------------------------------------------------------

  /** The form of a new game, on the empty board or from a position that was analysed. */
  showSetup(/** @type {any} */ position = null) {
    this.leave();
    save(KEY, null);
    const { width, height } = position ? sizeOf(position.rules) : settings.game;
    const stones = position ? stonesOfPosition(position) : [];
    this.board.set({ width, height, stones: stonesOf(stones), lastMove: null, winningLine: [], fouls: [], toPlay: null, hint: null, marks: [] });
    for (const bar of Object.values(this.bars)) bar.element.hidden = true;
    fill(this.side, setupForm(this.info, (request) => this.enter(newGame(position ? { ...request, ...position } : request)), position !== null));
  }

  /** While the form is open the board has the size that is chosen there. */
  resizeEmptyBoard() {
    const { width, height } = settings.game;
    if (!this.game && !this.board.state.stones.size) this.board.set({ width, height });
  }

  /** Go to a game that the server has been asked for. */
  async enter(/** @type {Promise<any>} */ asked) {
    try {
      const game = await asked;
      this.begin(game.id);
      go(`play/${game.id}`);
    } catch (error) {
      notifyError(error);
    }
  }

  /** Follow a game. */
  begin(/** @type {string} */ id) {
    if (this.game?.id === id || this.watching === id) return;
    this.leave();
    this.watching = id;
    this.watch = socket.open({ type: "watch", gameId: id }, (message) => message.game && this.update(message.game), (error, goesOn) => {
      notifyError(error);
      if (goesOn) return;
      this.showSetup();
      go("play");
    });
    save(KEY, id);
  }

  leave() {
    this.watch?.close();
    this.watch = null;
    this.watching = null;
    this.game = null;
    this.guess = null;
    this.shownPly = null;
    this.hint = null;
  }

  // -- what the server says ------------------------------------------------------------------------------------------

  update(/** @type {any} */ game) {
    if (this.game && game.revision < this.game.revision) return;
    const before = this.game;
    this.game = game;
    this.receivedAt = performance.now();
    const isNew = before?.id === game.id && game.moves.length > before.moves.length;
    if (isNew || (before && game.moves.length < before.moves.length)) this.hint = null;
    if (isNew) this.tell(game, this.guess);
    this.guess = null;
    if (before && before.outcome === "ongoing" && game.outcome !== "ongoing") this.tellEnd(game);
    this.draw();
  }

  /** Say and sound the newest move, unless it is the one just drawn. */
  tell(/** @type {any} */ game, /** @type {string | null} */ drawn) {
    const point = game.moves[game.moves.length - 1];
    const colour = this.colourAt(game.moves.length - 1);
    announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
    if (point !== drawn) playStone(colour);
  }

  tellEnd(/** @type {any} */ game) {
    announce(this.status(game));
    const mine = this.personColour(game);
    playEnd(!mine || game.outcome === "draw" ? "end" : game.outcome === mine ? "win" : "loss");
  }

  /** The colour of the only person; null with two or none. @returns {Colour | null} */
  personColour(game = this.game) {
    const seats = Object.keys(game.players).filter((seat) => game.players[seat].kind === "person");
    if (seats.length !== 1 || !game.blackSeat) return null;
    return game.blackSeat === seats[0] ? "black" : "white";
  }

  /** The colour of a move: they take turns from the first player on. @returns {Colour} */
  colourAt(/** @type {number} */ index, game = this.game) {
    return index % 2 ? other(game.initialPlayer) : game.initialPlayer;
  }

  // -- what the person does ------------------------------------------------------------------------------------------

  act(/** @type {string} */ action, /** @type {object} */ more = {}) {
    return socket.request({ type: "act", gameId: this.game.id, action: { action, ...more } }).catch((error) => {
      this.guess = null;
      notifyError(error);
      this.draw();
    });
  }

  play(/** @type {string} */ point) {
    const { game } = this;
    if (!game?.turn?.isPerson || game.turn.step !== "stone") return;
    if (!game.turn.legal.includes(point)) {
      const foul = game.fouls.find((/** @type {any} */ each) => each.point === point);
      notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), { error: true });
      return;
    }
    this.guess = point;
    this.drawBoard();
    playStone(game.currentPlayer);
    this.act("play", { point, turnNumber: game.moves.length });
  }

  async askHint() {
    if (!this.game?.turn?.isPerson) return;
    const turn = this.game.moves.length;
    try {
      const answer = await socket.request({ type: "hint", gameId: this.game.id });
      if (answer.turnNumber !== turn || this.game?.moves.length !== turn) return;
      this.hint = answer.moveInfo.move;
      announce(t("said.hint", { point: answer.moveInfo.move.toUpperCase() }));
      this.draw();
    } catch (error) {
      notifyError(error);
    }
  }

  async resign() {
    if (this.game?.turn && (await confirmed(t("resign.question"), t("resign")))) this.act("resign");
  }

  /** Put a stone by its name. */
  async typePoint() {
    const point = this.board.state.toPlay ? await askPoint(this.board) : null;
    if (point) this.play(point);
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  /** Look at an earlier move without touching the game. */
  look(/** @type {number} */ ply) {
    if (!this.game) return;
    const last = this.game.moves.length;
    this.shownPly = ply >= last ? null : Math.max(0, ply);
    this.draw();
  }

  lookBy(/** @type {number} */ steps) {
    if (this.game) this.look((this.shownPly ?? this.game.moves.length) + steps);
  }

  draw() {
    if (!this.game) return;
    this.drawBoard();
    this.drawBars();
    this.drawSide();
  }

  drawBoard() {
    const { game } = this;
    const isNow = this.shownPly === null;
    const moves = [...game.moves.slice(0, this.shownPly ?? undefined), ...(isNow && this.guess ? [this.guess] : [])];
    const stones = stonesOfPosition({ ...game, moves });
    const mayPlay = isNow && !this.guess && game.turn?.isPerson && game.turn.step === "stone";
    this.board.set({ width: game.boardXSize, height: game.boardYSize, stones: stonesOf(stones), lastMove: moves[moves.length - 1] ?? null,
      winningLine: isNow ? game.winningLine : [], fouls: mayPlay ? game.fouls.map((/** @type {any} */ foul) => foul.point) : [],
      toPlay: mayPlay ? game.currentPlayer : null, hint: isNow ? this.hint : null });
  }

  drawBars() {
    const { game } = this;
    for (const colour of /** @type {const} */ (["black", "white"])) {
      const seat = this.seatOf(colour);
      const isTurn = game.turn?.seat === seat;
      this.bars[colour].show({ name: this.nameOfSeat(seat), isTurn, isThinking: isTurn && game.isThinking, isWinner: game.outcome === colour, isUnsettled: !game.blackSeat });
    }
    this.tick();
  }

  /** Who sits at a colour; the proposer at black until an opening has settled it. */
  seatOf(/** @type {Colour} */ colour) {
    const black = this.game.blackSeat ?? "proposer";
    return colour === "black" ? black : black === "proposer" ? "chooser" : "proposer";
  }

  nameOfSeat(/** @type {string} */ seat) {
    const { players, blackSeat } = this.game;
    if (players[seat].kind !== "person" || players[seat].name) return nameOf(players[seat], this.info.levels);
    const isAlone = Object.values(players).filter((each) => /** @type {any} */ (each).kind === "person").length === 1;
    if (isAlone) return t("you");
    return blackSeat ? t(seat === blackSeat ? "black" : "white") : t(`player.${seat}`);
  }

  tick() {
    const { game } = this;
    if (!game) return;
    for (const colour of /** @type {const} */ (["black", "white"])) {
      const seat = this.seatOf(colour);
      const spent = game.clock?.running === seat ? performance.now() - (this.receivedAt ?? 0) : 0;
      this.bars[colour].showClock(game.clock ? Math.max(0, game.clock.leftMs[seat] - spent) : null);
    }
  }

  status(game = this.game) {
    if (game.outcome === "draw") return t("result.draw");
    if (game.outcome !== "ongoing") {
      const reason = game.reason ? t(`reason.${game.reason.replaceAll(" ", "-")}`) : "";
      return t("result.win", { colour: t(game.outcome), reason });
    }
    if (game.isPaused) return t("status.paused");
    if (!game.turn.isPerson) return t("status.thinking", { name: this.nameOfSeat(game.turn.seat) });
    if (game.turn.step === "option") return t("status.choose");
    if (game.turn.stonesDue > 1) return t("status.place", { count: game.turn.stonesDue });
    return this.personColour() ? t("status.yours") : t("status.to-move", { colour: t(game.currentPlayer) });
  }

  drawSide() {
    const { game } = this;
    const isOver = game.turn === null;
    const [, , rule, opening] = game.rules.split(":");
    const facts = [`${game.boardXSize} × ${game.boardYSize}`, t(`rule.${rule}`), opening ? t(`opening.${opening}`) : null].filter(Boolean).join(" · ");
    const root = newRoot();
    let node = root;
    game.moves.forEach((/** @type {string} */ point, /** @type {number} */ i) => (node = playInTree(node, point, this.colourAt(i))));
    this.moves.show(root, step(root, this.shownPly ?? game.moves.length));
    this.statusLine.classList.toggle("is-over", isOver);
    const status = this.status();
    if (this.statusLine.textContent !== status) this.statusLine.textContent = status;
    this.facts.textContent = facts;
    this.buttons.className = isOver ? "buttons even end-buttons" : "actions";
    const options = this.openingOptions();
    this.options.hidden = !options.length;
    keepingFocus(this.panel, () => {
      refill(this.options, options);
      refill(this.buttons, isOver ? this.endButtons() : this.actions());
    });
    if (!this.panel.isConnected) fill(this.side, this.panel);
  }

  /** The question of an opening procedure. */
  openingOptions() {
    const { turn } = this.game;
    if (!turn?.isPerson || turn.step !== "option") return [];
    return turn.options.map((/** @type {string} */ option) => button(t(`option.${option}`), () => this.act("choose", { option }), { kind: "wide" }));
  }

  actions() {
    const { game } = this;
    const isPersonal = Object.values(game.players).some((player) => /** @type {any} */ (player).kind === "person");
    const action = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {() => void} */ run, /** @type {boolean} */ enabled) =>
      button(t(`action.${name}`), run, { icon: sign, disabled: !enabled });
    return isPersonal
      ? [action("undo", "undo", () => this.act("undo"), game.canUndo), action("hint", "hint", () => this.askHint(), game.turn?.isPerson && game.turn.step === "stone"),
        action("move-now", "now", () => this.act("moveNow"), game.isThinking), action("resign", "flag", () => this.resign(), true)]
      : [game.isPaused ? action("resume", "start", () => this.act("resume"), true) : action("pause", "pause", () => this.act("pause"), true),
        action("step", "forward", () => this.act("step"), game.isPaused), action("move-now", "now", () => this.act("moveNow"), game.isThinking), action("new", "new", () => this.newGame(), true)];
  }

  endButtons() {
    const query = () => queryOf({ ...this.game, rules: this.game.rules.split(":").slice(0, 3).join(":") });
    const list = [
      button(t("rematch"), () => this.enter(rematch(this.game.id)), { kind: "primary", icon: "play" }),
      button(t("page.review"), () => go("review", { ...query(), start: "1" }), { icon: "review" }),
      button(t("page.analyse"), () => go("analyse", query()), { icon: "analyse" }),
      button(t("action.new"), () => this.newGame(), { icon: "new" }),
    ];
    return this.game.canUndo ? [...list, button(t("action.undo"), () => this.act("undo"), { icon: "undo" })] : list;
  }

  newGame() {
    this.showSetup();
    go("play");
  }

  shortcuts() {
    return [
      { keys: ["u", "Backspace"], label: "action.undo", run: () => this.game?.canUndo && this.act("undo") },
      { keys: ["y"], label: "action.redo", run: () => this.game?.canRedo && this.act("redo") },
      { keys: ["h"], label: "action.hint", run: () => this.askHint() },
      { keys: ["m"], label: "action.move-now", run: () => this.game?.isThinking && this.act("moveNow") },
      { keys: ["t"], label: "action.think-again", run: () => this.game && this.act("thinkAgain") },
      { keys: ["r"], label: "action.resign", run: () => this.resign() },
      { keys: ["p", " "], label: "action.pause", run: () => this.game?.turn && this.act(this.game.isPaused ? "resume" : "pause") },
      { keys: ["."], label: "action.step", run: () => this.game?.isPaused && this.act("step") },
      { keys: ["+"], label: "action.new", run: () => this.newGame() },
      { keys: ["ArrowLeft"], label: "key.back", run: () => this.lookBy(-1) },
      { keys: ["ArrowRight"], label: "key.forward", run: () => this.lookBy(1) },
      { keys: ["Home"], label: "key.first", run: () => this.look(0) },
      { keys: ["End"], label: "key.last", run: () => this.look(Infinity) },
      { keys: ["b"], label: "key.board-focus", run: () => this.board.focus() },
      { keys: ["/"], label: "key.type-point", run: () => this.typePoint() },
    ];
  }

  unmount() {
    this.leave();
    this.unfollow();
    clearInterval(this.ticker);
  }
}

/** The stones of position fields; moves take turns from the first player on. */
function stonesOfPosition(/** @type {any} */ { initialStones = [], initialPlayer = "black", moves = [] }) {
  const played = moves.map((/** @type {string} */ point, /** @type {number} */ i) => ({ point, colour: i % 2 ? other(initialPlayer) : initialPlayer, number: i + 1 }));
  return [...initialStones.map((/** @type {[Colour, string]} */ [colour, point]) => ({ point, colour })), ...played];
}

/** The opponent that an address names, with the rules to meet under, go into the form. */
function chooseOpponent(/** @type {URLSearchParams} */ query) {
  const [agent, rules] = [query.get("agent"), query.get("rules")];
  if (!agent) return;
  const { width, height, winLength, rule } = { ...settings.game, ...(rules ? rulesIn(rules) : {}) };
  change({ game: { ...settings.game, opponent: "agent", agent, width, height, winLength, rule, opening: "free" } });
}

/** @param {HTMLElement} main @param {import("../router.js").Route} route */
export async function mount(main, route) {
  const page = new PlayPage(main, await serverInfo());
  const follow = (/** @type {import("../router.js").Route} */ { rest: [id], query }) => {
    if (id === "new") {
      chooseOpponent(query);
      // Rules beside an agent are those to meet it under, without a position.
      page.showSetup(query.has("agent") ? null : positionIn(query));
    }
    else if (id) page.begin(id);
    else if (page.watching) replaceRoute(`play/${page.watching}`);
    else page.showSetup();
  };
  const last = read(KEY, null);
  if (!route.rest[0] && last) {
    page.begin(last);
    replaceRoute(`play/${last}`);
  } else {
    follow(route);
  }
  return { unmount: () => page.unmount(), shortcuts: page.shortcuts(), follow };
}

