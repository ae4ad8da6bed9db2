// @ts-check
/** The review page: judges every move of a game in the background, shows the graph and the mistakes, and lets the user
 *  try a different move instead of a mistake. */

import { serverInfo, socket } from "../api.js";
import { Board } from "../board/board.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus, refill } from "../dom.js";
import { listenForGames, openImport } from "../files.js";
import { t } from "../i18n.js";
import { announce, notifyError } from "../notice.js";
import { go, replaceRoute } from "../router.js";
import { change, settings } from "../settings.js";
import { playStone } from "../sound.js";
import { agentField } from "../widgets/agent_field.js";
import { previewOf } from "../widgets/candidates.js";
import { ChanceBar, ChanceGraph, proofForBlack } from "../widgets/chances.js";
import { button, choice, field, wholeNumber } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { mistakeRow, reviewTables } from "../widgets/review_report.js";
import { transport } from "../widgets/transport.js";
import { other, positionIn, queryOf, workspace } from "../workspace.js";

/** @import { Stream } from "../api.js" */
/** @import { JudgeMessage, RecordInput, ReviewMessage, ReviewMove, ReviewSummary, ServerInfo } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Chance } from "../widgets/chances.js" */
/** @import { Quality } from "../widgets/review_report.js" */

/** @typedef {"inaccuracy" | "mistake" | "blunder"} BadQuality */
/** @typedef {{ ply: number, point: string | null, verdict: JudgeMessage | null }} Attempt a different move instead of a mistake; `point` and `verdict` are null until they are known */

/** @type {BadQuality[]} */
const BAD = ["inaccuracy", "mistake", "blunder"];
const isBad = (/** @type {Quality} */ quality) => BAD.some((bad) => bad === quality);
const TIMES_MS = [100, 300, 1000, 3000];

class ReviewPage {
  /** The judged moves by ply. @type {Map<number, ReviewMove>} */ judged = new Map();
  /** @type {number | null} */ rootChance = null;
  /** @type {ReviewSummary | null} */ summary = null;
  /** @type {Stream | null} */ stream = null;
  progress = { done: 0, total: 0 };
  timeMs = 300;
  ply = 0;
  /** @type {Attempt | null} */ attempt = null;
  isAnswerShown = false;

  constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
    this.info = info;
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
    this.parameters = this.parameterFields();
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
          transport((steps) => this.look(this.ply + steps)),
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
    this.reset();
    this.start();
  }

  /** Clear the judgements but keep the game. */
  reset() {
    this.halt();
    this.judged.clear();
    this.rootChance = null;
    this.summary = null;
    this.progress = { done: 0, total: 0 };
    this.attempt = null;
    this.ply = this.line.length - 1;
    this.draw();
  }

  // -- the review --------------------------------------------------------------------------------------------------------

  thresholds() {
    const { inaccuracy, mistake, blunder } = settings.thresholds;
    return { inaccuracy: inaccuracy / 100, mistake: mistake / 100, blunder: blunder / 100 };
  }

  start() {
    if (this.line.length < 2) return;
    this.reset();
    const agent = settings.engine || null;
    this.stream = socket.open(
      {
        type: "review",
        ...workspace.position(workspace.lastNode()),
        maxTimeMs: this.timeMs,
        thresholds: this.thresholds(),
        ...(agent ? { agent } : {}),
      },
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
      this.stream = null;
      announce(t("review.done"));
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

  // -- navigation and attempts -------------------------------------------------------------------------------------------

  look(/** @type {number} */ ply) {
    this.ply = Math.max(0, Math.min(this.line.length - 1, ply));
    this.attempt = null;
    this.isAnswerShown = false;
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

  /** Go back to the position before the mistake and wait for a different move. */
  tryAgain() {
    if (!this.judged.get(this.ply)) return;
    this.attempt = { ply: this.ply, point: null, verdict: null };
    this.isAnswerShown = false;
    announce(t("review.your-try"));
    this.draw();
  }

  async tryMove(/** @type {string} */ point) {
    const { attempt } = this;
    if (!attempt || (attempt.point && !attempt.verdict)) return;
    Object.assign(attempt, { point, verdict: null });
    playStone(this.nodeAt(attempt.ply).colour ?? "black");
    this.draw();
    try {
      const agent = settings.engine || null;
      const verdict = await socket.request({
        type: "judge",
        ...workspace.position(this.nodeAt(attempt.ply - 1)),
        move: point,
        thresholds: this.thresholds(),
        ...(agent ? { agent } : {}),
      });
      if (this.attempt !== attempt || attempt.point !== point) return;
      attempt.verdict = verdict;
      announce(this.verdictText(verdict));
    } catch (error) {
      attempt.point = null;
      notifyError(error);
    }
    this.draw();
  }

  verdictText(/** @type {JudgeMessage} */ verdict) {
    return t(isBad(verdict.quality) ? "review.try-bad" : "review.try-good", {
      move: verdict.move,
      quality: t(`quality.${verdict.quality}`),
      loss: Math.round(100 * verdict.winrateLoss),
    });
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
    const { attempt } = this;
    const node = this.nodeAt(attempt ? attempt.ply - 1 : this.ply);
    const judged = this.judged.get(attempt ? attempt.ply : this.ply);
    const state = workspace.boardState(node);
    if (!attempt) {
      const answer = judged?.best && this.isAnswerShown ? previewOf(judged.best.pv, judged.colour) : [];
      this.board.set({
        ...state,
        toPlay: null,
        preview: answer,
        marks: judged && isBad(judged.quality) ? [{ point: judged.move, kind: "wrong" }] : [],
      });
    } else if (judged) {
      const { colour } = judged;
      const stones = new Map(state.stones);
      if (attempt.point) stones.set(attempt.point, { point: attempt.point, colour });
      const kind = attempt.verdict ? (isBad(attempt.verdict.quality) ? "wrong" : "right") : null;
      const marks =
        attempt.point && kind ? [{ point: attempt.point, kind: /** @type {"right" | "wrong"} */ (kind) }] : [];
      // The next attempt may start once the previous one is judged.
      const mayTry = !attempt.point || attempt.verdict !== null;
      this.board.set({ ...state, stones, toPlay: mayTry ? colour : null, preview: [], marks });
    }
    this.bar.show(this.chanceAt(attempt ? attempt.ply - 1 : this.ply), workspace.toMove(node));
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
      hasGame ? h("p", { class: "soft small" }, this.title()) : h("p", { class: "soft" }, t("review.empty")),
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

  parameterFields() {
    return h(
      "details",
      null,
      h("summary", { class: "small soft" }, t("parameters")),
      h(
        "div",
        { class: "stack" },
        agentField(this.info, settings.engine || this.info.defaultAgent, (engine) => change({ engine }), {
          analyses: true,
          label: t("engine"),
        }),
        h(
          "div",
          { class: "fields" },
          BAD.map((name) => this.thresholdField(name)),
        ),
        h(
          "div",
          { class: "fields" },
          field(
            t("review.time"),
            choice(
              TIMES_MS.map((ms) => [String(ms), t("seconds", { seconds: ms / 1000 })]),
              String(this.timeMs),
              (value) => (this.timeMs = Number(value)),
            ),
          ),
        ),
      ),
    );
  }

  /** Create the field for the smallest loss, in percent, that counts as this kind of mistake. */
  thresholdField(/** @type {BadQuality} */ name) {
    const set = (/** @type {number} */ percent) => change({ thresholds: { ...settings.thresholds, [name]: percent } });
    return field(
      t("review.threshold", { quality: t(`quality.${name}`) }),
      wholeNumber(settings.thresholds[name], 1, 100, set),
    );
  }

  title() {
    const { black, white } = workspace.header;
    const names = black || white ? `${black || t("black")} – ${white || t("white")} · ` : "";
    return `${names}${workspace.rules} · ${t("moves.count", { count: this.line.length - 1 })}`;
  }

  drawDetail() {
    const { attempt } = this;
    const judged = this.judged.get(this.ply);
    this.detail.hidden = !judged;
    if (!judged) return;
    const quality = h("span", { class: `quality ${judged.quality}` }, t(`quality.${judged.quality}`));
    const heading = h(
      "div",
      { class: "row-between" },
      h("h3", null, `${judged.turnNumber}. ${t(judged.colour)} ${judged.move}`),
      quality,
    );
    if (attempt) {
      const text = !attempt.point
        ? t("review.your-try")
        : attempt.verdict
          ? this.verdictText(attempt.verdict)
          : t("thinking");
      refill(this.detail, [
        h("div", { class: "row-between" }, h("h3", null, t("review.try-again"))),
        h("p", { class: "verdict", role: "status" }, text),
        h(
          "div",
          { class: "buttons even" },
          button(
            t("review.show-answer"),
            () => {
              this.attempt = null;
              this.isAnswerShown = true;
              this.draw();
            },
            { icon: "hint" },
          ),
          button(t("back"), () => this.look(this.ply)),
        ),
      ]);
      return;
    }
    const loss = Math.round(100 * judged.winrateLoss);
    const best = judged.best && judged.best.move !== judged.move ? judged.best : null;
    refill(this.detail, [
      heading,
      h(
        "p",
        { class: "small" },
        loss ? t("review.lost", { loss }) : t("review.nothing-lost"),
        judged.isKey ? ` ${t("review.key")}` : "",
      ),
      ...(best && this.isAnswerShown
        ? [
            h(
              "p",
              { class: "small" },
              t("review.best", { move: best.move, chance: best.proof?.text ?? `${Math.round(100 * best.winrate)}%` }),
            ),
          ]
        : []),
      h(
        "div",
        { class: "buttons even" },
        isBad(judged.quality)
          ? button(t("review.try-again"), () => this.tryAgain(), { kind: "primary", icon: "undo" })
          : null,
        best
          ? button(
              t(this.isAnswerShown ? "review.hide-answer" : "review.show-answer"),
              () => {
                this.isAnswerShown = !this.isAnswerShown;
                this.draw();
              },
              { icon: "hint" },
            )
          : null,
        button(t("page.analyse"), () => this.analyse(), { icon: "analyse" }),
      ),
    ]);
  }

  analyse() {
    workspace.node = this.nodeAt(this.ply);
    go("analyse");
  }

  drawReport() {
    const bad = this.mistakes();
    this.report.hidden = !this.judged.size;
    refill(
      this.mistakeList,
      bad.map((move) => mistakeRow(move, move.turnNumber === this.ply, () => this.look(move.turnNumber))),
    );
    refill(this.report, [
      ...reviewTables(this.summary, [...this.judged.values()]),
      h("h3", null, t("review.key-moves")),
      bad.length ? this.mistakeList : h("p", { class: "soft small" }, t("review.no-mistakes")),
    ]);
  }

  shortcuts() {
    return [
      { keys: ["ArrowLeft"], label: "key.back", run: () => this.look(this.ply - 1) },
      { keys: ["ArrowRight"], label: "key.forward", run: () => this.look(this.ply + 1) },
      { keys: ["PageUp"], label: "key.back-10", run: () => this.look(this.ply - 10) },
      { keys: ["PageDown"], label: "key.forward-10", run: () => this.look(this.ply + 10) },
      { keys: ["Home"], label: "key.first", run: () => this.look(0) },
      { keys: ["End"], label: "key.last", run: () => this.look(Infinity) },
      { keys: ["j"], label: "key.next-mistake", run: () => this.lookAtMistake(1) },
      { keys: ["J"], label: "key.previous-mistake", run: () => this.lookAtMistake(-1) },
      { keys: ["t"], label: "review.try-again", run: () => this.tryAgain() },
      {
        keys: ["a"],
        label: "review.show-answer",
        run: () => {
          this.attempt = null;
          this.isAnswerShown = !this.isAnswerShown;
          this.draw();
        },
      },
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

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  const page = new ReviewPage(main, await serverInfo());
  const follow = (/** @type {Route} */ { query }) => {
    const position = positionIn(query);
    if (position?.moves.length) workspace.begin(position);
    page.reset();
    if (!query.get("start")) return;
    replaceRoute("review", position ? queryOf(position) : {});
    page.start();
  };
  follow(route);
  return { unmount: () => page.unmount(), shortcuts: page.shortcuts(), follow };
}
