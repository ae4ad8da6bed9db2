// @ts-check
/** Reviewing: every move of a game judged in the background; the graph, the mistakes, and trying again where one was made. */

import { serverInfo, socket } from "../api.js";
import { Board } from "../board/api.js";
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
import { transport } from "../widgets/transport.js";
import { other, positionIn, queryOf, workspace } from "../workspace.js";

const QUALITIES = ["best", "good", "inaccuracy", "mistake", "blunder"];
const BAD = ["inaccuracy", "mistake", "blunder"];
const TIMES_MS = [100, 300, 1000, 3000];

class ReviewPage {
  /** Judgements by ply. @type {Map<number, any>} */ judged = new Map();
  /** @type {number | null} */ rootChance = null;
  /** @type {any} */ summary = null;
  /** @type {import("../api.js").Stream | null} */ stream = null;
  progress = { done: 0, total: 0 };
  timeMs = 300;
  ply = 0;
  /** A try at a mistake: the move as it was judged, null before and while waiting. @type {{ ply: number, point: string | null, verdict: any } | null} */ attempt = null;
  isAnswerShown = false;

  constructor(/** @type {HTMLElement} */ main, /** @type {any} */ info) {
    this.info = info;
    const boardBox = h("div");
    this.bar = new ChanceBar();
    this.graph = new ChanceGraph((ply) => this.look(ply));
    this.board = new Board(boardBox, { onPlay: (point) => this.tryMove(point), onPending: (point) => (this.confirmBar.hidden = !point) });
    this.confirmBar = h("div", { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })), button(t("place"), () => this.board.confirm(), { kind: "primary" }));
    this.tree = new MoveTree((node) => this.look(node.ply), (node) => this.judged.get(node.ply)?.quality ?? "");
    this.detail = h("div", { class: "card move-detail", "aria-live": "polite" });
    this.report = h("div", { class: "card" });
    this.mistakeList = h("ul", { class: "mistakes" });
    this.form = h("div", { class: "card" });
    this.parameters = this.parameterFields();
    fill(main, h("h1", { class: "visually-hidden" }, t("page.review")), h("div", { class: "stage" },
      h("section", { class: "table", "aria-label": t("board") }, h("div", { class: "board-row" }, this.bar.element, boardBox), this.confirmBar,
        transport((steps) => this.look(this.ply + steps))),
      h("div", { class: "side" }, this.graph.element, this.form, this.detail, this.report, h("div", { class: "card" }, h("h2", null, t("moves")), this.tree.element))));
    this.unfollow = [followSettings(this.board), listenForGames((record) => this.load(record))];
  }

  // -- the game ----------------------------------------------------------------------------------------------------------

  get line() {
    return workspace.mainLine();
  }

  load(/** @type {any} */ record) {
    workspace.load(record);
    this.reset();
    this.start();
  }

  /** Forget the judgements; the game stays. */
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
    return Object.fromEntries(Object.entries(settings.thresholds).map(([name, percent]) => [name, percent / 100]));
  }

  start() {
    const line = this.line;
    if (line.length < 2) return;
    this.reset();
    const agent = settings.engine || null;
    const request = { type: "review", ...workspace.position(line[line.length - 1]), maxTimeMs: this.timeMs, thresholds: this.thresholds(), ...(agent ? { agent } : {}) };
    this.stream = socket.open(request, (message) => this.receive(message), (error) => {
      this.stream = null;
      notifyError(error);
      this.draw();
    });
    this.draw();
  }

  receive(/** @type {any} */ message) {
    if (message.type !== "review") return;
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

  // -- walking and trying ------------------------------------------------------------------------------------------------

  look(/** @type {number} */ ply) {
    this.ply = Math.max(0, Math.min(this.line.length - 1, ply));
    this.attempt = null;
    this.isAnswerShown = false;
    this.draw();
  }

  mistakes() {
    return [...this.judged.values()].filter((move) => BAD.includes(move.quality) || move.isKey).sort((a, b) => a.turnNumber - b.turnNumber);
  }

  /** To the next mistake, or the one before, around the corner. */
  lookAtMistake(/** @type {number} */ direction) {
    const plies = this.mistakes().map((move) => move.turnNumber);
    if (!plies.length) return;
    const next = direction > 0 ? plies.find((ply) => ply > this.ply) : plies.reverse().find((ply) => ply < this.ply);
    this.look(next ?? plies[0]);
  }

  /** Stand before the mistake and let the player find something better. */
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
    const before = this.line[attempt.ply - 1];
    Object.assign(attempt, { point, verdict: null });
    playStone(this.line[attempt.ply].colour ?? "black");
    this.draw();
    try {
      const agent = settings.engine || null;
      const verdict = await socket.request({ type: "judge", ...workspace.position(before), move: point, thresholds: this.thresholds(), ...(agent ? { agent } : {}) });
      if (this.attempt !== attempt || attempt.point !== point) return;
      attempt.verdict = verdict;
      announce(this.verdictText(verdict));
    } catch (error) {
      attempt.point = null;
      notifyError(error);
    }
    this.draw();
  }

  verdictText(/** @type {any} */ verdict) {
    return t(BAD.includes(verdict.quality) ? "review.try-bad" : "review.try-good", { move: verdict.move, quality: t(`quality.${verdict.quality}`), loss: Math.round(100 * verdict.winrateLoss) });
  }

  // -- drawing -----------------------------------------------------------------------------------------------------------

  draw() {
    keepingFocus(this.form, () => this.drawForm());
    this.drawBoard();
    keepingFocus(this.detail, () => this.drawDetail());
    keepingFocus(this.report, () => this.drawReport());
    this.tree.show(workspace.root, this.line[this.ply]);
    const chances = this.line.map((_, ply) => this.chanceAt(ply));
    this.graph.show(chances, this.ply, this.mistakes().map((move) => ({ ply: move.turnNumber, kind: move.quality })));
  }

  chanceAt(/** @type {number} */ ply) {
    if (ply === 0) return this.rootChance === null ? null : { blackWinrate: this.rootChance, proof: null };
    const move = this.judged.get(ply);
    return move ? { blackWinrate: move.blackWinrate, proof: proofForBlack(move.proof, other(move.colour)) } : null;
  }

  drawBoard() {
    const { attempt } = this;
    const node = this.line[attempt ? attempt.ply - 1 : this.ply];
    const judged = this.judged.get(attempt ? attempt.ply : this.ply);
    const state = workspace.boardState(node);
    if (!attempt) {
      const answer = judged?.best && this.isAnswerShown ? previewOf(judged.best.pv, judged.colour) : [];
      this.board.set({ ...state, toPlay: null, preview: answer, marks: judged && BAD.includes(judged.quality) ? [{ point: judged.move, kind: "wrong" }] : [] });
    } else {
      const colour = judged.colour;
      const stones = new Map(state.stones);
      if (attempt.point) stones.set(attempt.point, { point: attempt.point, colour });
      const kind = attempt.verdict ? (BAD.includes(attempt.verdict.quality) ? "wrong" : "right") : null;
      const marks = attempt.point && kind ? [{ point: attempt.point, kind: /** @type {"right" | "wrong"} */ (kind) }] : [];
      // A judged try makes room for the next one; while it is judged nothing may be put.
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
      h("div", { class: "row-between" }, h("h2", null, t("page.review")), button(t("import"), () => openImport((record) => this.load(record)), { icon: "import", kind: "bare" })),
      hasGame ? h("p", { class: "soft small" }, this.title()) : h("p", { class: "soft" }, t("review.empty")),
      this.parameters,
      ...(isRunning ? [h("progress", { value: done, max: Math.max(1, total), "aria-label": t("review.progress") })] : []),
      h("div", { class: "buttons even" },
        isRunning ? button(t("analysis.stop"), () => this.stop(), { icon: "pause" })
          : button(t("review.start"), () => this.start(), { kind: this.summary ? "" : "primary", icon: "review", disabled: !hasGame })),
    ]);
    // What was found comes before the way to find it again.
    this.form.style.order = this.summary ? "1" : "";
  }

  parameterFields() {
    return h("details", null, h("summary", { class: "small soft" }, t("parameters")), h("div", { class: "stack" },
      agentField(this.info, settings.engine || this.info.defaultAgent, (engine) => change({ engine }), { analyses: true, label: t("engine") }),
      h("div", { class: "fields" }, BAD.map((name) => this.thresholdField(/** @type {"inaccuracy" | "mistake" | "blunder"} */ (name)))),
      h("div", { class: "fields" },
        field(t("review.time"), choice(TIMES_MS.map((ms) => [String(ms), t("seconds", { seconds: ms / 1000 })]), String(this.timeMs), (value) => (this.timeMs = Number(value)))))));
  }

  /** From which loss on, in percent, a move gets its bad name. */
  thresholdField(/** @type {"inaccuracy" | "mistake" | "blunder"} */ name) {
    const set = (/** @type {number} */ percent) => change({ thresholds: { ...settings.thresholds, [name]: percent } });
    return field(t("review.threshold", { quality: t(`quality.${name}`) }), wholeNumber(settings.thresholds[name], 1, 100, set));
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
    const heading = h("div", { class: "row-between" }, h("h3", null, `${judged.turnNumber}. ${t(judged.colour)} ${judged.move}`), quality);
    if (attempt) {
      const text = !attempt.point ? t("review.your-try") : attempt.verdict ? this.verdictText(attempt.verdict) : t("thinking");
      refill(this.detail, [h("div", { class: "row-between" }, h("h3", null, t("review.try-again"))), h("p", { class: "verdict", role: "status" }, text),
        h("div", { class: "buttons even" }, button(t("review.show-answer"), () => { this.attempt = null; this.isAnswerShown = true; this.draw(); }, { icon: "hint" }), button(t("back"), () => this.look(this.ply)))]);
      return;
    }
    const loss = Math.round(100 * judged.winrateLoss);
    const best = judged.best && judged.best.move !== judged.move ? judged.best : null;
    refill(this.detail, [heading,
      h("p", { class: "small" }, loss ? t("review.lost", { loss }) : t("review.nothing-lost"), judged.isKey ? ` ${t("review.key")}` : ""),
      ...(best && this.isAnswerShown ? [h("p", { class: "small" }, t("review.best", { move: best.move, chance: best.proof?.text ?? `${Math.round(100 * best.winrate)}%` }))] : []),
      h("div", { class: "buttons even" },
        BAD.includes(judged.quality) ? button(t("review.try-again"), () => this.tryAgain(), { kind: "primary", icon: "undo" }) : null,
        best ? button(t(this.isAnswerShown ? "review.hide-answer" : "review.show-answer"), () => { this.isAnswerShown = !this.isAnswerShown; this.draw(); }, { icon: "hint" }) : null,
        button(t("page.analyse"), () => this.analyse(), { icon: "analyse" }))]);
  }

  analyse() {
    workspace.node = this.line[this.ply];
    go("analyse");
  }

  drawReport() {
    const bad = this.mistakes();
    this.report.hidden = !this.judged.size;
    const side = (/** @type {"black" | "white"} */ colour) => {
      const found = this.summary?.sides[colour];
      return h("div", { class: "accuracy" }, h("span", { class: `disc ${colour}`, "aria-hidden": "true" }), h("div", null,
        h("div", { class: "accuracy-value" }, found?.accuracy === null || !found ? "–" : Math.round(found.accuracy)), h("div", { class: "soft small" }, `${t(colour)} · ${t("accuracy")}`)));
    };
    const count = (/** @type {string} */ quality) => h("tr", null, h("th", { scope: "row" }, h("span", { class: `quality ${quality}` }, t(`quality.${quality}`))),
      ["black", "white"].map((colour) => h("td", { class: "num" }, this.summary?.sides[colour].counts[quality] ?? [...this.judged.values()].filter((move) => move.colour === colour && move.quality === quality).length)));
    refill(this.mistakeList, bad.map((move) => this.mistakeRow(move)));
    refill(this.report, [
      h("div", { class: "accuracies" }, side("black"), side("white")),
      h("table", { class: "small" }, h("thead", null, h("tr", null, h("th", null, t("review.judgement")), h("th", { class: "num" }, t("black")), h("th", { class: "num" }, t("white")))), h("tbody", null, QUALITIES.map(count))),
      h("h3", null, t("review.key-moves")),
      bad.length ? this.mistakeList : h("p", { class: "soft small" }, t("review.no-mistakes")),
    ]);
  }

  mistakeRow(/** @type {any} */ { turnNumber, move, colour, quality, winrateLoss }) {
    return h("li", null, h("button", { type: "button", class: "mistake-row", dataset: { focus: `move ${turnNumber}` }, "aria-current": turnNumber === this.ply ? "true" : null, onclick: () => this.look(turnNumber) },
      h("span", { class: `disc ${colour}`, "aria-label": t(colour), role: "img" }), h("span", null, `${turnNumber}. ${move}`), h("span", { class: `quality ${quality}` }, t(`quality.${quality}`)),
      h("span", { class: "num" }, `−${Math.round(100 * winrateLoss)}%`)));
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
      { keys: ["a"], label: "review.show-answer", run: () => { this.attempt = null; this.isAnswerShown = !this.isAnswerShown; this.draw(); } },
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

/** @param {HTMLElement} main @param {import("../router.js").Route} route */
export async function mount(main, route) {
  const page = new ReviewPage(main, await serverInfo());
  const follow = (/** @type {import("../router.js").Route} */ { query }) => {
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
