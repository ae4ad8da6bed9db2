// @ts-check
/** The review page: the verdict on every move of a game, the reasons, the lines that show them, and a lesson in which the
 *  user finds better moves. The server stores a finished review, so that it is there again after a reload. */

import { exportReview, game as gameOnServer, serverInfo, socket } from "../api.js";
import { Board } from "../board/board.js";
import { followSettings } from "../board_settings.js";
import { fill, h, icon, keepingFocus, refill } from "../dom.js";
import { listenForGames, openImport, saveFile } from "../files.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, notify, notifyError } from "../notice.js";
import { go, hashOf, redirect, replaceRoute } from "../router.js";
import { settings } from "../settings.js";
import { playStone } from "../sound.js";
import { ChanceBar, ChanceGraph, proofForBlack } from "../widgets/chances.js";
import { button } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { attemptCard, isBad, lineOf, moveCard, verdictText } from "../widgets/review_detail.js";
import { mistakeRow, reviewTables } from "../widgets/review_report.js";
import { transport } from "../widgets/transport.js";
import { other, positionIn, queryOf, workspace } from "../workspace.js";
import { gameTitle, lessonForm, parameterFields } from "./review_form.js";

/** @import { Stream } from "../api.js" */
/** @import { Stone } from "../board/state.js" */
/** @import { RecordInput, ReviewMessage, ReviewMove, ReviewSummary } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Chance } from "../widgets/chances.js" */
/** @import { Actions, Attempt, Lesson, ShownLine } from "../widgets/review_detail.js" */

export class ReviewPage {
  /** The judged moves by ply. @type {Map<number, ReviewMove>} */ judged = new Map();
  /** @type {number | null} */ rootChance = null;
  /** @type {ReviewSummary | null} */ summary = null;
  /** @type {Stream | null} */ stream = null;
  progress = { done: 0, total: 0 };
  ply = 0;
  /** The id of the game on the server, if it was played there. @type {string | null} */ gameId = null;
  /** @type {Attempt | null} */ attempt = null;
  /** @type {ShownLine | null} */ shown = null;
  /** @type {Lesson | null} */ lesson = null;
  /** Whose mistakes the lesson contains: black | white | both. */
  side = "both";
  isStored = false;

  constructor(/** @type {HTMLElement} */ main) {
    const boardBox = h("div");
    this.bar = new ChanceBar();
    this.graph = new ChanceGraph((ply) => this.look(ply));
    this.board = new Board(boardBox, {
      onPlay: (point) => this.tryMove(point),
      onPending: (point) => (this.confirmBar.hidden = !point),
    });
    this.confirmBar = h(
      "div",
      { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })),
      button(t("place"), () => this.board.confirm(), { kind: "primary" }),
    );
    this.tree = new MoveTree(
      (node) => this.look(node.ply),
      (node) => this.judged.get(node.ply)?.quality ?? "",
    );
    this.detail = h("div", { class: "card move-detail", "aria-live": "polite" });
    this.report = h("div", { class: "card" });
    this.mistakeList = h("ul", { class: "mistakes" });
    this.form = h("div", { class: "card" });
    this.parameters = parameterFields();
    /** @type {Actions} */
    this.actions = {
      tryAgain: () => this.tryAgain(),
      showLine: (kind) => this.showLine(kind),
      step: (step) => this.stepLine(step),
      back: () => this.look(this.ply),
      next: () => this.nextInLesson(),
      analyse: () => this.analyse(),
    };
    fill(
      main,
      h("h1", { class: "visually-hidden" }, t("page.review")),
      h(
        "div",
        { class: "stage" },
        h(
          "section",
          { class: "table", "aria-label": t("board") },
          h("div", { class: "board-row" }, this.bar.element, boardBox),
          this.confirmBar,
          transport((steps) => this.walk(steps)),
        ),
        h(
          "div",
          { class: "side" },
          this.graph.element,
          this.form,
          this.detail,
          this.report,
          h("div", { class: "card" }, h("h2", null, t("moves")), this.tree.element),
        ),
      ),
    );
    this.unfollow = [followSettings(this.board), listenForGames((record) => this.load(record))];
  }

  // -- the game ----------------------------------------------------------------------------------------------------------

  get line() {
    return workspace.mainLine();
  }

  nodeAt(/** @type {number} */ ply) {
    return this.line[ply] ?? workspace.root;
  }

  load(/** @type {RecordInput} */ record) {
    workspace.load(record);
    this.gameId = null;
    this.start();
  }

  /** Clear the judgements; the game stays. */
  reset() {
    this.halt();
    this.judged.clear();
    this.rootChance = null;
    this.summary = null;
    this.isStored = false;
    this.progress = { done: 0, total: 0 };
    this.attempt = this.shown = this.lesson = null;
    this.ply = this.line.length - 1;
    showRules(workspace.rules);
    this.draw();
  }

  // -- the review --------------------------------------------------------------------------------------------------------

  /** The fields that identify a review on the server. */
  fields() {
    const { inaccuracy, mistake, blunder } = settings.thresholds;
    return {
      ...workspace.position(workspace.lastNode()),
      effort: settings.effort,
      thresholds: { inaccuracy: inaccuracy / 100, mistake: mistake / 100, blunder: blunder / 100 },
    };
  }

  /** Review the game; with `onlyStored`, only show the review that the server has stored, if there is one. */
  start(onlyStored = false) {
    this.reset();
    if (this.line.length < 2) return;
    this.stream = socket.open(
      { type: "review", ...this.fields(), onlyStored, gameId: this.gameId },
      (message) => this.receive(message),
      (error) => {
        this.stream = null;
        notifyError(error);
        this.draw();
      },
    );
    this.draw();
  }

  receive(/** @type {ReviewMessage} */ message) {
    this.rootChance = message.rootBlackWinrate ?? this.rootChance;
    for (const move of message.moves) this.judged.set(move.turnNumber, move);
    this.progress = { done: message.done, total: message.total };
    if (!message.isDuringSearch) {
      this.summary = message.summary;
      this.isStored = message.isStored;
      this.halt();
      if (this.summary) announce(t("review.done"));
    }
    for (const node of this.line) {
      const move = this.judged.get(node.ply);
      if (move) node.extra.blackWinrate = move.blackWinrate;
    }
    this.draw();
  }

  halt() {
    this.stream?.close();
    this.stream = null;
  }

  stop() {
    this.halt();
    this.draw();
  }

  async export() {
    try {
      const { black, white, outcome, reason, event, date } = workspace.header;
      const header = Object.fromEntries(
        Object.entries({ black, white, outcome, reason, event, date }).filter(([, value]) => value),
      );
      saveFile(await exportReview({ ...this.fields(), ...header }));
      notify(t("review.exported"));
    } catch (error) {
      notifyError(error);
    }
  }

  // -- navigation --------------------------------------------------------------------------------------------------------

  look(/** @type {number} */ ply) {
    this.ply = Math.max(0, Math.min(this.line.length - 1, ply));
    this.attempt = this.shown = this.lesson = null;
    this.draw();
  }

  /** Step through the shown line, or through the game if no line is shown. */
  walk(/** @type {number} */ steps) {
    if (this.shown) this.stepLine(this.shown.step + steps);
    else this.look(this.ply + steps);
  }

  showLine(/** @type {ShownLine["kind"]} */ kind) {
    const judged = this.judged.get(this.ply);
    if (!judged || !lineOf(judged, kind).length) return;
    this.attempt = null;
    this.shown = { kind, step: 1 };
    this.draw();
  }

  stepLine(/** @type {number} */ step) {
    const judged = this.judged.get(this.ply);
    if (!this.shown || !judged) return;
    this.shown.step = Math.max(0, Math.min(lineOf(judged, this.shown.kind).length, step));
    this.draw();
  }

  mistakes() {
    return [...this.judged.values()]
      .filter((move) => isBad(move.quality) || move.isKey)
      .sort((a, b) => a.turnNumber - b.turnNumber);
  }

  /** Show the next or previous mistake, wrapping around. */
  lookAtMistake(/** @type {number} */ direction) {
    const plies = this.mistakes().map((move) => move.turnNumber);
    const [first] = plies;
    if (first === undefined) return;
    const next = direction > 0 ? plies.find((ply) => ply > this.ply) : plies.findLast((ply) => ply < this.ply);
    this.look(next ?? (direction > 0 ? first : (plies.at(-1) ?? first)));
  }

  // -- attempts and the lesson -------------------------------------------------------------------------------------------

  /** Go back to the position before the mistake and wait for another move. */
  tryAgain() {
    const judged = this.judged.get(this.ply);
    if (!judged) return;
    this.attempt = { ply: this.ply, point: null, verdict: null };
    this.shown = null;
    announce(t("review.your-try", { colour: t(judged.colour), move: judged.move }));
    this.draw();
  }

  async tryMove(/** @type {string} */ point) {
    const { attempt } = this;
    if (!attempt || (attempt.point && !attempt.verdict)) return;
    Object.assign(attempt, { point, verdict: null });
    playStone(this.nodeAt(attempt.ply).colour ?? "black");
    this.draw();
    try {
      const verdict = await socket.request({
        type: "judge",
        ...this.fields(),
        ...workspace.position(this.nodeAt(attempt.ply - 1)),
        move: point,
      });
      if (this.attempt !== attempt || attempt.point !== point) return;
      attempt.verdict = verdict;
      if (!isBad(verdict.judged.quality)) this.lesson?.solved.add(attempt.ply);
      announce(verdictText(verdict));
    } catch (error) {
      attempt.point = null;
      notifyError(error);
    }
    this.draw();
  }

  mistakesOfSide() {
    return this.mistakes().filter((move) => this.side === "both" || move.colour === this.side);
  }

  startLesson() {
    const plies = this.mistakesOfSide().map((move) => move.turnNumber);
    const [first] = plies;
    if (first === undefined) return;
    this.look(first);
    this.lesson = { plies, solved: new Set() };
    this.tryAgain();
  }

  nextInLesson() {
    const { lesson } = this;
    if (!lesson) return;
    const next = lesson.plies[lesson.plies.indexOf(this.ply) + 1];
    if (next === undefined) {
      const { solved, plies } = lesson;
      this.look(this.ply);
      notify(t("review.learn.done", { solved: solved.size, count: plies.length }));
      return;
    }
    this.look(next);
    this.lesson = lesson;
    this.tryAgain();
  }

  analyse() {
    workspace.node = this.nodeAt(this.ply);
    go("analyse");
  }

  // -- drawing -----------------------------------------------------------------------------------------------------------

  draw() {
    keepingFocus(this.form, () => this.drawForm());
    this.drawBoard();
    keepingFocus(this.detail, () => this.drawDetail());
    keepingFocus(this.report, () => this.drawReport());
    this.tree.show(workspace.root, this.nodeAt(this.ply));
    const chances = this.line.map((_, ply) => this.chanceAt(ply));
    this.graph.show(
      chances,
      this.ply,
      this.mistakes().map((move) => ({ ply: move.turnNumber, kind: move.quality })),
    );
  }

  /** @returns {Chance | null} */
  chanceAt(/** @type {number} */ ply) {
    if (ply === 0) return this.rootChance === null ? null : { blackWinrate: this.rootChance, proof: null };
    const move = this.judged.get(ply);
    return move ? { blackWinrate: move.blackWinrate, proof: proofForBlack(move.proof, other(move.colour)) } : null;
  }

  drawBoard() {
    const { attempt, shown } = this;
    // An attempt and the better line start before the mistake, so its stone is not on the board.
    const isBefore = attempt !== null || shown?.kind === "better";
    const ply = isBefore ? this.ply - 1 : this.ply;
    const node = this.nodeAt(ply);
    const judged = this.judged.get(this.ply);
    const state = workspace.boardState(node);
    if (judged && shown) this.drawLine(state, judged, shown);
    else if (judged && attempt) this.drawAttempt(state, judged, attempt);
    else {
      const marks =
        judged && isBad(judged.quality) ? [{ point: judged.move, kind: /** @type {const} */ ("wrong") }] : [];
      this.board.set({ ...state, toPlay: null, marks });
    }
    this.bar.show(this.chanceAt(ply));
  }

  drawLine(
    /** @type {ReturnType<typeof workspace.boardState>} */ state,
    /** @type {ReviewMove} */ judged,
    /** @type {ShownLine} */ { kind, step },
  ) {
    const stones = /** @type {Map<string, Stone>} */ (new Map(state.stones));
    const played = lineOf(judged, kind).slice(0, step);
    let colour = kind === "better" ? judged.colour : other(judged.colour);
    played.forEach((point, i) => {
      stones.set(point, { point, colour, number: i + 1 });
      colour = other(colour);
    });
    this.board.set({ ...state, stones, lastMove: played.at(-1) ?? state.lastMove ?? null, toPlay: null, marks: [] });
  }

  drawAttempt(
    /** @type {ReturnType<typeof workspace.boardState>} */ state,
    /** @type {ReviewMove} */ { colour },
    /** @type {Attempt} */ { point, verdict },
  ) {
    const stones = /** @type {Map<string, Stone>} */ (new Map(state.stones));
    if (point) stones.set(point, { point, colour });
    const kind = verdict ? (isBad(verdict.judged.quality) ? "wrong" : "right") : null;
    const marks = point && kind ? [{ point, kind: /** @type {"right" | "wrong"} */ (kind) }] : [];
    // The next attempt may start once the previous one is judged.
    const mayTry = !point || verdict !== null;
    this.board.set({ ...state, stones, toPlay: mayTry ? colour : null, marks });
  }

  drawDetail() {
    const judged = this.judged.get(this.ply);
    this.detail.hidden = !judged;
    if (!judged) return;
    refill(
      this.detail,
      this.attempt
        ? attemptCard(judged, this.attempt, this.lesson, this.actions)
        : moveCard(judged, this.shown, this.actions),
    );
  }

  drawForm() {
    const isRunning = this.stream !== null;
    const { done, total } = this.progress;
    const hasGame = this.line.length > 1;
    refill(this.form, [
      h(
        "div",
        { class: "row-between" },
        h("h2", null, t("page.review")),
        button(t("import"), () => openImport((record) => this.load(record)), { icon: "import", kind: "bare" }),
      ),
      hasGame
        ? h("p", { class: "soft small" }, gameTitle(this.line.length - 1))
        : h("p", { class: "soft" }, t("review.empty")),
      this.parameters,
      ...(isRunning
        ? [h("progress", { value: done, max: Math.max(1, total), "aria-label": t("review.progress") })]
        : []),
      h(
        "div",
        { class: "buttons even" },
        isRunning
          ? button(t("analysis.stop"), () => this.stop(), { icon: "pause" })
          : button(t("review.start"), () => this.start(), {
              kind: this.summary ? "" : "primary",
              icon: "review",
              disabled: !hasGame,
            }),
      ),
    ]);
    // Once there is a result, the form moves below it.
    this.form.style.order = this.summary ? "1" : "";
  }

  drawReport() {
    const bad = this.mistakes();
    this.report.hidden = !this.judged.size;
    refill(
      this.mistakeList,
      bad.map((move) =>
        mistakeRow(move, move.turnNumber === this.ply, () => {
          this.look(move.turnNumber);
          this.detail.scrollIntoView({ block: "nearest" });
        }),
      ),
    );
    refill(this.report, [
      ...reviewTables(this.summary, [...this.judged.values()]),
      h("h3", null, t("review.key-moves")),
      bad.length ? this.mistakeList : h("p", { class: "soft small" }, t("review.no-mistakes")),
      ...(this.summary && bad.length ? [lessonForm(this)] : []),
      ...(this.isStored
        ? [
            h(
              "div",
              { class: "buttons even" },
              button(t("review.export"), () => this.export(), { icon: "export" }),
              this.gameId
                ? h(
                    "a",
                    { class: "button", href: hashOf("puzzles", { source: "own" }) },
                    icon("puzzles"),
                    t("puzzle.own"),
                  )
                : null,
            ),
          ]
        : []),
    ]);
  }

  shortcuts() {
    return [
      { keys: ["ArrowLeft"], label: "key.back", run: () => this.walk(-1) },
      { keys: ["ArrowRight"], label: "key.forward", run: () => this.walk(1) },
      { keys: ["PageUp"], label: "key.back-10", run: () => this.walk(-10) },
      { keys: ["PageDown"], label: "key.forward-10", run: () => this.walk(10) },
      { keys: ["Home"], label: "key.first", run: () => this.walk(-Infinity) },
      { keys: ["End"], label: "key.last", run: () => this.walk(Infinity) },
      { keys: ["j"], label: "key.next-mistake", run: () => this.lookAtMistake(1) },
      { keys: ["J"], label: "key.previous-mistake", run: () => this.lookAtMistake(-1) },
      { keys: ["t"], label: "review.try-again", run: () => this.tryAgain() },
      { keys: ["a"], label: "review.better", run: () => this.showLine("better") },
      { keys: ["r"], label: "review.refutation", run: () => this.showLine("refutation") },
      { keys: ["e"], label: "review.learn", run: () => this.startLesson() },
      { keys: ["Escape"], label: "back", run: () => this.look(this.ply) },
      { keys: [" "], label: "review.start", run: () => (this.stream ? this.stop() : this.start()) },
      { keys: ["i"], label: "import", run: () => openImport((record) => this.load(record)) },
      { keys: ["Enter"], label: "page.analyse", run: () => this.analyse() },
      { keys: ["b"], label: "key.board-focus", run: () => this.board.focus() },
    ];
  }

  unmount() {
    this.halt();
    workspace.keep();
    for (const end of this.unfollow) end();
  }
}

/** Replace the address of a game on this server by that of its moves, and start its review; `move` is the one to show. */
async function openGame(/** @type {string} */ id, /** @type {string | null} */ move) {
  const found = await gameOnServer(id);
  const rules = found.rules.split(":").slice(0, 3).join(":");
  const person = /** @type {const} */ (["proposer", "chooser"]).filter(
    (seat) => found.players[seat]?.kind === "person",
  );
  const side =
    person.length === 1 && found.blackSeat ? { side: person[0] === found.blackSeat ? "black" : "white" } : {};
  redirect("review", { ...queryOf({ ...found, rules }), game: id, ...side, ...(move ? { move } : {}), start: "1" });
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  await serverInfo();
  const page = new ReviewPage(main);
  const follow = async (/** @type {Route} */ { rest: [id], query }) => {
    if (id) {
      await openGame(id, query.get("move")).catch(notifyError);
      return;
    }
    const position = positionIn(query);
    if (position?.moves.length) workspace.begin(position);
    page.gameId = query.get("game");
    page.side = query.get("side") ?? "both";
    page.start(!query.get("start"));
    if (query.has("move")) page.look(Number(query.get("move")) || 0);
    if (!query.get("start")) return;
    // After a reload, the stored review is shown again instead of a new one.
    const kept = Object.fromEntries([...query].filter(([key]) => key !== "start"));
    replaceRoute("review", position ? { ...kept, ...queryOf(position) } : {});
  };
  await follow(route);
  return { unmount: () => page.unmount(), shortcuts: page.shortcuts(), follow };
}
