// @ts-check
/** The play page. The game runs on the server; the page shows its state and sends the user's actions. A stone is drawn
 *  as soon as the user clicks, and removed again if the server rejects the move. */

import { deleteGame, myRating, newGame, rematch, serverInfo, socket } from "../api.js";
import { Board } from "../board/board.js";
import { stonesOf } from "../board/state.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus, refill } from "../dom.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, confirmed, notify, notifyError } from "../notice.js";
import { go, replaceRoute } from "../router.js";
import { onChange, read, save, settings } from "../settings.js";
import { playEnd, playStone } from "../sound.js";
import { newRoot, play as playInTree, step } from "../tree.js";
import { askPoint } from "../widgets/ask_point.js";
import { button } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { PlayerBar } from "../widgets/player_bar.js";
import { reasonSentence } from "../widgets/reasons.js";
import { positionIn, sizeOf } from "../workspace.js";
import { endButtons, gameButtons, openingButtons } from "./play_buttons.js";
import {
  choiceTexts,
  colourAt,
  nameOfSeat,
  personColour,
  personSeats,
  ratedText,
  seatOf,
  status,
  stonesOfPosition,
} from "./play_game.js";
import { chooseOpponent, requestOf, rulesOf, setupForm } from "./play_setup.js";

const KEY = "tengen.game";

/** @import { Stream } from "../api.js" */
/** @import { Act, GameState, HintMessage, NewGame, PlayerRating, ServerInfo, SimpleAction } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { PositionFields } from "../workspace.js" */

class PlayPage {
  /** The newest state from the server. @type {GameState | null} */ game = null;
  /** @type {Stream | null} */ watch = null;
  /** The id of the watched game. @type {string | null} */ watching = null;
  /** The number of moves shown; null for the current position. @type {number | null} */ shownPly = null;
  /** A stone drawn before the server has accepted it. @type {string | null} */ sentMove = null;
  /** The point of the click that started the game; it is played once the server has the game. @type {string | null} */ firstStone =
    null;
  /** The hint for the current position, with its reason. @type {HintMessage | null} */ hint = null;
  /** The position from which the next game starts; null for the empty board. @type {PositionFields | null} */ start =
    null;
  /** Whether the form of a new game is open, so that a click on the board starts the game. */
  isSettingUp = false;
  /** The user's rating, once the server has sent it. @type {PlayerRating | null} */ rating = null;

  constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
    this.info = info;
    this.boardBox = h("div");
    this.confirmBar = h(
      "div",
      { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })),
      button(t("place"), () => this.board.confirm(), { kind: "primary" }),
    );
    this.bars = { black: new PlayerBar("black"), white: new PlayerBar("white") };
    this.statusLine = h("div", { class: "status", role: "status" });
    this.said = h("p", { class: "small said", role: "note" });
    this.rated = h("p", { class: "small soft rated" });
    this.options = h("div", { class: "stack opening-options", role: "group", "aria-label": t("status.choose") });
    this.buttons = h("div");
    this.side = h("div", { class: "side" });
    fill(
      main,
      h("h1", { class: "visually-hidden" }, t("page.play")),
      h(
        "div",
        { class: "stage" },
        h(
          "section",
          { class: "table", "aria-label": t("board") },
          this.bars.white.element,
          this.boardBox,
          this.bars.black.element,
          this.confirmBar,
        ),
        this.side,
      ),
    );
    this.board = new Board(this.boardBox, {
      onPlay: (point) => this.play(point),
      onPending: (point) => (this.confirmBar.hidden = !point),
    });
    this.moves = new MoveTree((node) => this.showPly(node.ply));
    this.panel = h(
      "div",
      { class: "card" },
      this.statusLine,
      this.said,
      this.rated,
      this.options,
      this.buttons,
      this.moves.element,
    );
    const endings = [followSettings(this.board), onChange((changes) => changes.game && this.drawSetup())];
    this.unfollow = () => endings.forEach((end) => end());
    this.actions = {
      act: (/** @type {Act["action"] | SimpleAction["action"]} */ action) => this.act(action),
      askHint: () => this.askHint(),
      resign: () => this.resign(),
      newGame: () => this.newGame(),
      abort: () => this.abort(),
      rematch: () => this.rematch(),
    };
    this.ticker = setInterval(() => this.tick(), 100);
  }

  // -- entering and leaving a game -----------------------------------------------------------------------------------

  /** Show the form for a new game, which starts from an empty board or from a given position. */
  showSetup(/** @type {PositionFields | null} */ position = null) {
    this.leave();
    save(KEY, null);
    this.start = position;
    this.isSettingUp = true;
    for (const bar of Object.values(this.bars)) bar.element.hidden = true;
    this.drawForm();
    this.drawSetup();
    this.loadRating(() => this.isSettingUp && this.drawForm());
  }

  drawForm() {
    keepingFocus(this.side, () =>
      fill(
        this.side,
        setupForm(this.info, this.rating, (request) => this.launch(request), this.start !== null),
      ),
    );
  }

  /** Get the rating from the server; without it, everything else works. */
  async loadRating(/** @type {() => void} */ then) {
    try {
      this.rating = await myRating();
      then();
    } catch {
      this.rating = null;
    }
  }

  /** While the form is open, the board has the size chosen there, and a click starts the game. */
  drawSetup() {
    if (!this.isSettingUp) return;
    const { width, height } = this.start ? sizeOf(this.start.rules) : settings.game;
    const stones = this.start ? stonesOfPosition(this.start) : [];
    const isFirst = !this.start && settings.game.opponent !== "watch";
    this.board.set({
      width,
      height,
      stones: stonesOf(stones),
      lastMove: null,
      winningLine: [],
      fouls: [],
      toPlay: isFirst ? (settings.game.colour === "white" ? "white" : "black") : null,
      hint: null,
      marks: [],
    });
    showRules(this.start?.rules ?? rulesOf(settings.game));
  }

  /** Start a game by a click on the empty board. If the first stone is the user's, it is placed there. */
  startAt(/** @type {string} */ point) {
    const request = requestOf(settings.game, Math.random() < 0.5);
    this.launch(request, request.black.kind === "person" ? point : null);
  }

  /** Start the game of the form; `firstStone` is drawn at once and played when the server has the game. */
  async launch(/** @type {NewGame} */ request, /** @type {string | null} */ firstStone = null) {
    this.isSettingUp = false;
    this.board.set({ toPlay: null });
    if (firstStone) {
      this.board.set({ stones: stonesOf([{ point: firstStone, colour: "black", number: 1 }]), lastMove: firstStone });
      playStone("black");
    }
    if (await this.enter(newGame(this.start ? { ...request, ...this.start } : request), firstStone)) return;
    this.isSettingUp = true;
    this.drawSetup();
  }

  /** Open a game that has been requested from the server. */
  async enter(/** @type {Promise<GameState>} */ requested, /** @type {string | null} */ firstStone = null) {
    try {
      const game = await requested;
      this.begin(game.id);
      this.firstStone = firstStone;
      go(`play/${game.id}`);
      return true;
    } catch (error) {
      notifyError(error);
      return false;
    }
  }

  /** Watch a game. */
  begin(/** @type {string} */ id) {
    if (this.game?.id === id || this.watching === id) return;
    this.leave();
    this.watching = id;
    this.watch = socket.open(
      { type: "watch", gameId: id },
      (message) => this.update(message.game),
      (error, goesOn) => {
        notifyError(error);
        if (goesOn) return;
        this.showSetup();
        go("play");
      },
    );
    save(KEY, id);
  }

  leave() {
    this.watch?.close();
    this.watch = null;
    this.watching = null;
    this.game = null;
    this.sentMove = null;
    this.shownPly = null;
    this.hint = null;
    this.firstStone = null;
    this.isSettingUp = false;
    // The buttons of the next game may look the same, but they belong to another game.
    fill(this.buttons);
  }

  // -- messages from the server --------------------------------------------------------------------------------------

  update(/** @type {GameState} */ game) {
    if (this.game && game.revision < this.game.revision) return;
    const before = this.game;
    this.game = game;
    this.receivedAt = performance.now();
    const isNew = before?.id === game.id && game.moves.length > before.moves.length;
    if (isNew || (before && game.moves.length < before.moves.length)) this.hint = null;
    if (isNew) this.announceMove(game, this.sentMove);
    this.sentMove = null;
    const hasEnded = game.outcome !== "ongoing" && before?.outcome !== game.outcome;
    if (before && hasEnded) this.announceEnd(game);
    if (hasEnded && game.isRated) this.loadRating(() => this.draw());
    this.draw();
    const { firstStone } = this;
    this.firstStone = null;
    if (firstStone && !game.moves.length) this.play(firstStone);
  }

  /** Announce the latest move and play its sound, unless the click has already played it. */
  announceMove(/** @type {GameState} */ game, /** @type {string | null} */ drawn) {
    const point = game.moves.at(-1);
    if (!point) return;
    const colour = colourAt(game, game.moves.length - 1);
    announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
    if (point !== drawn) playStone(colour);
  }

  announceEnd(/** @type {GameState} */ game) {
    announce(status(game, this.info.levels));
    const mine = personColour(game);
    playEnd(!mine || game.outcome === "draw" ? "end" : game.outcome === mine ? "win" : "loss");
  }

  // -- user actions --------------------------------------------------------------------------------------------------

  /** Send an action; an action without arguments can be given by name. */
  async act(/** @type {Act["action"] | SimpleAction["action"]} */ action) {
    if (!this.game) return;
    const whole = typeof action === "string" ? { action } : action;
    try {
      await socket.request({ type: "act", gameId: this.game.id, action: whole });
    } catch (error) {
      this.sentMove = null;
      notifyError(error);
      this.draw();
    }
  }

  play(/** @type {string} */ point) {
    if (this.isSettingUp) {
      this.startAt(point);
      return;
    }
    const { game } = this;
    if (!game?.turn?.isPerson || game.turn.step !== "stone") return;
    if (!game.turn.legal.includes(point)) {
      const foul = game.fouls.find((each) => each.point === point);
      notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), {
        error: true,
      });
      return;
    }
    this.sentMove = point;
    this.drawBoard(game);
    playStone(game.currentPlayer);
    this.act({ action: "play", point, turnNumber: game.moves.length });
  }

  async askHint() {
    if (!this.game?.turn?.isPerson) return;
    const turn = this.game.moves.length;
    try {
      const answer = await socket.request({ type: "hint", gameId: this.game.id });
      if (answer.turnNumber !== turn || this.game?.moves.length !== turn) return;
      this.hint = answer;
      announce(this.hintText(answer));
      this.draw();
    } catch (error) {
      notifyError(error);
    }
  }

  hintText(/** @type {HintMessage} */ { moveInfo, reason }) {
    return t("said.hint", { point: moveInfo.move.toUpperCase(), reason: reasonSentence(reason) });
  }

  /** Delete the game and show the form of a new one. */
  async abort() {
    const { game } = this;
    if (!game || (game.moves.length && !(await confirmed(t("abort.question"), t("action.abort"))))) return;
    try {
      this.newGame();
      await deleteGame(game.id);
    } catch (error) {
      notifyError(error);
    }
  }

  rematch() {
    if (this.game) this.enter(rematch(this.game.id));
  }

  async resign() {
    if (this.game?.turn && (await confirmed(t("resign.question"), t("resign")))) this.act("resign");
  }

  /** Play a point that the user types. */
  async typePoint() {
    const point = this.board.state.toPlay ? await askPoint(this.board) : null;
    if (point) this.play(point);
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  /** Show the position after `ply` moves without changing the game. */
  showPly(/** @type {number} */ ply) {
    if (!this.game) return;
    const last = this.game.moves.length;
    this.shownPly = ply >= last ? null : Math.max(0, ply);
    this.draw();
  }

  stepBy(/** @type {number} */ steps) {
    if (this.game) this.showPly((this.shownPly ?? this.game.moves.length) + steps);
  }

  draw() {
    const { game } = this;
    if (!game) return;
    this.drawBoard(game);
    this.drawBars(game);
    this.drawSide(game);
  }

  drawBoard(/** @type {GameState} */ game) {
    const isNow = this.shownPly === null;
    const moves = [
      ...game.moves.slice(0, this.shownPly ?? undefined),
      ...(isNow && this.sentMove ? [this.sentMove] : []),
    ];
    const stones = stonesOfPosition({ ...game, moves });
    const mayPlay = isNow && !this.sentMove && game.turn?.isPerson && game.turn.step === "stone";
    this.board.set({
      width: game.boardXSize,
      height: game.boardYSize,
      stones: stonesOf(stones),
      lastMove: moves.at(-1) ?? null,
      winningLine: isNow ? game.winningLine : [],
      fouls: mayPlay ? game.fouls.map((foul) => foul.point) : [],
      toPlay: mayPlay ? game.currentPlayer : null,
      hint: isNow ? (this.hint?.moveInfo.move ?? null) : null,
    });
  }

  drawBars(/** @type {GameState} */ game) {
    // A person who plays alone sits at the bottom.
    const [person, second] = personSeats(game);
    const isWhite = person !== undefined && second === undefined && seatOf(game, "white") === person;
    const [top, bottom] = isWhite ? [this.bars.black, this.bars.white] : [this.bars.white, this.bars.black];
    if (this.boardBox.previousElementSibling !== top.element) {
      this.boardBox.before(top.element);
      this.boardBox.after(bottom.element);
    }
    for (const colour of /** @type {const} */ (["black", "white"])) {
      const seat = seatOf(game, colour);
      const isTurn = game.turn?.seat === seat;
      this.bars[colour].show({
        name: nameOfSeat(game, seat, this.info.levels),
        isTurn,
        isThinking: isTurn && game.isThinking,
        isWinner: game.outcome === colour,
        isUnsettled: !game.blackSeat,
      });
    }
    this.tick();
  }

  tick() {
    const { game } = this;
    if (!game) return;
    for (const colour of /** @type {const} */ (["black", "white"])) {
      const seat = seatOf(game, colour);
      const spent = game.clock?.running === seat ? performance.now() - (this.receivedAt ?? 0) : 0;
      this.bars[colour].showClock(game.clock ? Math.max(0, (game.clock.leftMs[seat] ?? 0) - spent) : null);
    }
  }

  drawSide(/** @type {GameState} */ game) {
    const isOver = game.turn === null;
    showRules(game.rules);
    const root = newRoot();
    let node = root;
    game.moves.forEach((point, i) => (node = playInTree(node, point, colourAt(game, i))));
    this.moves.show(root, step(root, this.shownPly ?? game.moves.length));
    this.statusLine.classList.toggle("is-over", isOver);
    const text = status(game, this.info.levels);
    if (this.statusLine.textContent !== text) this.statusLine.textContent = text;
    const said = [...choiceTexts(game, this.info.levels), ...(this.hint && !isOver ? [this.hintText(this.hint)] : [])];
    this.said.textContent = said.join(" ");
    this.said.hidden = !said.length;
    const rated = ratedText(game, this.rating);
    this.rated.hidden = !rated;
    this.rated.textContent = rated;
    this.buttons.className = isOver ? "buttons even end-buttons" : "actions";
    const options = openingButtons(game, this.actions);
    this.options.hidden = !options.length;
    keepingFocus(this.panel, () => {
      refill(this.options, options);
      refill(this.buttons, isOver ? endButtons(game, this.actions) : gameButtons(game, this.actions));
    });
    if (!this.panel.isConnected) fill(this.side, this.panel);
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
      { keys: ["p"], label: "action.pause", run: () => this.togglePause() },
      {
        keys: [" "],
        label: "action.pause-watched",
        run: () => this.game && !personSeats(this.game).length && this.togglePause(),
      },
      { keys: ["."], label: "action.step", run: () => this.game?.isPaused && this.act("step") },
      { keys: ["+"], label: "action.new", run: () => this.newGame() },
      { keys: ["ArrowLeft"], label: "key.back", run: () => this.stepBy(-1) },
      { keys: ["ArrowRight"], label: "key.forward", run: () => this.stepBy(1) },
      { keys: ["Home"], label: "key.first", run: () => this.showPly(0) },
      { keys: ["End"], label: "key.last", run: () => this.showPly(Infinity) },
      { keys: ["b"], label: "key.board-focus", run: () => this.board.focus() },
      { keys: ["/"], label: "key.type-point", run: () => this.typePoint() },
    ];
  }

  togglePause() {
    if (this.game?.turn) this.act(this.game.isPaused ? "resume" : "pause");
  }

  unmount() {
    this.leave();
    this.unfollow();
    clearInterval(this.ticker);
  }
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  const page = new PlayPage(main, await serverInfo());
  const follow = (/** @type {Route} */ { rest: [id], query }) => {
    if (id === "new") {
      chooseOpponent(query);
      // If the query names an agent, its rules are for the new game and do not describe a position.
      page.showSetup(query.has("agent") ? null : positionIn(query));
    } else if (id) page.begin(id);
    else if (page.watching) replaceRoute(`play/${page.watching}`);
    else page.showSetup();
  };
  const last = read(KEY, /** @type {string | null} */ (null));
  if (!route.rest[0] && last) {
    page.begin(last);
    replaceRoute(`play/${last}`);
  } else {
    follow(route);
  }
  return { unmount: () => page.unmount(), shortcuts: page.shortcuts(), follow };
}
