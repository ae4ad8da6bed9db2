// @ts-check
/** Analysing: a tree of moves in the browser, engines on the server that think about the position shown. */

import { keepStudy, serverInfo, socket, study } from "../api.js";
import { Board } from "../board/api.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus } from "../dom.js";
import { copy, listenForGames, openExport, openImport } from "../files.js";
import { t } from "../i18n.js";
import { announce, notify, notifyError } from "../notice.js";
import { go, hashOf, replaceRoute } from "../router.js";
import { change, onChange, settings } from "../settings.js";
import { playStone } from "../sound.js";
import { lineThrough, play, promote, remove, sibling, step, walk } from "../tree.js";
import { askPoint } from "../widgets/ask_point.js";
import { boardCandidates, previewOf } from "../widgets/candidates.js";
import { ChanceBar, ChanceGraph, proofForBlack } from "../widgets/chances.js";
import { EnginePanel } from "../widgets/engine_panel.js";
import { button, check, wholeNumber } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { transport } from "../widgets/transport.js";
import { positionIn, queryOf, workspace } from "../workspace.js";

/** @typedef {import("../tree.js").Node} Node */

const MOST_LINES = 20;

class AnalysePage {
  /** The evaluation of nodes that were analysed. @type {Map<number, { blackWinrate: number, proof: string | null, visits: number }>} */
  chances = new Map();
  isOn = false;
  hasSecond = false;
  /**
   * The move that is pointed at, on the board or in the table of an engine, and the line shown for it in place of the
   * candidates. The line follows the engine, and stays while the engine turns to other moves.
   * @type {{ move: string, engine: EnginePanel | null, line: string[] | null } | null}
   */
  pointed = null;
  /** A forced win that was asked for. @type {any} */ solved = null;

  constructor(/** @type {HTMLElement} */ main, /** @type {any} */ info) {
    this.info = info;
    const boardBox = h("div");
    this.bar = new ChanceBar();
    this.graph = new ChanceGraph((ply) => this.goTo(lineThrough(workspace.node)[ply] ?? workspace.node));
    this.board = new Board(boardBox, { onPlay: (point) => this.play(point), onHover: (point) => this.pointAt(point), onPending: (point) => (this.confirmBar.hidden = !point) });
    this.confirmBar = h("div", { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })), button(t("place"), () => this.board.confirm(), { kind: "primary" }));
    const listeners = { onUpdate: () => this.showAnalysis(), onPoint: (/** @type {string | null} */ move, /** @type {EnginePanel} */ engine) => this.pointAt(move, engine),
      onPlay: (/** @type {string} */ move) => this.play(move), onChoose: () => this.think() };
    this.engines = [new EnginePanel(info, "engine", listeners), new EnginePanel(info, "secondEngine", listeners)];
    this.tree = new MoveTree((node) => this.goTo(node));
    this.status = h("p", { class: "status small", role: "status" });
    this.threatList = h("ul", { class: "threat-list small" });
    this.comment = h("textarea", { class: "comment", rows: 2, maxLength: 10000, placeholder: t("comment.placeholder"), "aria-label": t("comment"), oninput: () => {
      workspace.node.comment = this.comment.value;
      workspace.keep();
    }, onchange: () => this.tree.show(workspace.root, workspace.node) });
    this.side = h("div", { class: "side" });
    fill(main, h("h1", { class: "visually-hidden" }, t("page.analyse")), h("div", { class: "stage" },
      h("section", { class: "table", "aria-label": t("board") }, h("div", { class: "board-row" }, this.bar.element, boardBox), this.confirmBar,
        transport((where) => this.walk(where))),
      this.side));
    this.drawSide();
    this.unfollow = [followSettings(this.board), onChange((changes) => this.settingsChanged(changes)), listenForGames((record) => this.load(record))];
  }

  // -- the side --------------------------------------------------------------------------------------------------------

  drawSide() {
    keepingFocus(this.side, () => this.fillSide());
  }

  fillSide() {
    const tool = (/** @type {string} */ key, /** @type {string} */ sign, /** @type {() => void} */ run) => button(t(key), run, { icon: sign, kind: "bare", showLabel: false });
    const shown = (/** @type {"showCandidates" | "showThreats" | "showPolicy"} */ key) => check(t(key), settings[key], (value) => change({ [key]: value }));
    fill(this.side, this.graph.element,
      h("div", { class: "card" },
        h("div", { class: "row-between" }, h("h2", null, t("analysis")),
          h("div", { class: "row-start" },
            button(t("second-engine"), () => this.toggleSecond(), { kind: "bare", pressed: this.hasSecond, showLabel: false, icon: "compare" }),
            button(t(this.isOn ? "analysis.stop" : "analysis.start"), () => this.toggle(), { icon: this.isOn ? "pause" : "start", kind: this.isOn ? "" : "primary" }))),
        this.status,
        this.engines[0].element,
        this.hasSecond ? this.engines[1].element : null,
        h("div", { class: "row-start options" }, shown("showCandidates"), shown("showThreats"), shown("showPolicy")),
        h("div", { class: "row-start options" }, button(t("solve.vcf"), () => this.solve("vcf")), button(t("solve.vct"), () => this.solve("vct")),
          h("label", { class: "check", dataset: { focus: "lines" } }, wholeNumber(settings.lines, 1, MOST_LINES, (lines) => change({ lines })), t("lines"))),
        this.threatList),
      h("div", { class: "card" },
        h("div", { class: "row-between" }, h("h2", null, t("moves")), h("div", { class: "tools" },
          tool("tree.promote", "up", () => this.promote()), tool("tree.delete", "delete", () => this.remove()), tool("import", "import", () => this.openImport()),
          tool("export", "export", () => this.openExport()), tool("share", "share", () => this.share()), tool("board.clear", "new", () => this.clear()))),
        this.tree.element, this.comment,
        h("div", { class: "buttons even" },
          button(t("review.this"), () => go("review"), { icon: "review" }),
          button(t("play.from-here"), () => this.playFromHere(), { icon: "play" }))));
  }

  toggle() {
    this.isOn = !this.isOn;
    this.drawSide();
    this.think();
  }

  toggleSecond() {
    this.hasSecond = !this.hasSecond;
    this.drawSide();
    this.think();
  }

  settingsChanged(/** @type {any} */ changes) {
    if ("lines" in changes || "showPolicy" in changes) this.think();
    this.drawSide();
    this.showPosition();
    this.showAnalysis();
  }

  // -- the tree --------------------------------------------------------------------------------------------------------

  play(/** @type {string} */ point) {
    const facts = workspace.facts.get(workspace.node.id);
    const foul = facts?.fouls.find((/** @type {any} */ each) => each.point === point);
    if (facts && !facts.legal.includes(point)) {
      notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), { error: true });
      return;
    }
    const colour = workspace.toMove();
    const known = workspace.node.children.length;
    const node = play(workspace.node, point, colour);
    playStone(colour);
    announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
    this.goTo(node, node.parent?.children.length !== known);
  }

  /** Stand on a node: draw it at once, then ask for its facts and for thoughts. */
  async goTo(/** @type {Node} */ node, isNew = false) {
    workspace.node = node;
    this.solved = null;
    this.think();
    this.showPosition();
    this.showTree();
    workspace.keep();
    const query = workspace.query();
    if (query) replaceRoute("analyse", query);
    try {
      await workspace.factsOf(node);
    } catch (error) {
      notifyError(error);
      if (isNew && node.parent) {
        remove(node);
        this.goTo(node.parent);
      }
      return;
    }
    if (workspace.node === node) {
      this.showPosition();
      this.showAnalysis();
      if (workspace.facts.get(node.id).outcome !== "ongoing") this.think();
    }
  }

  walk(/** @type {number} */ steps) {
    const node = step(workspace.node, steps);
    if (node !== workspace.node) this.goTo(node);
  }

  promote() {
    promote(workspace.node);
    this.showTree();
    workspace.keep();
  }

  remove() {
    const gone = workspace.node;
    if (!gone.parent) return;
    const { parent, undo } = remove(gone);
    this.goTo(/** @type {Node} */ (parent));
    notify(t("tree.deleted"), { action: { label: t("tree.restore"), run: () => { undo(); this.goTo(gone); } } });
  }

  /** Replace the tree, with a way back. */
  replace(/** @type {() => void} */ change_) {
    const { rules, root, node, header } = workspace;
    change_();
    this.chances.clear();
    this.fillChances();
    this.goTo(workspace.node);
    if (!root.children.length) return;
    notify(t("tree.replaced"), { action: { label: t("tree.restore"), run: () => {
      Object.assign(workspace, { rules, root, header });
      workspace.facts.clear();
      this.goTo(node);
    } } });
  }

  load(/** @type {any} */ record) {
    this.replace(() => {
      workspace.load(record);
      const line = workspace.mainLine();
      workspace.node = line[line.length - 1];
    });
  }

  /** Values that a file brought along. */
  fillChances() {
    for (const node of workspace.mainLine()) {
      const value = node.extra.blackWinrate;
      if (typeof value === "number") this.chances.set(node.id, { blackWinrate: value, proof: null, visits: 0 });
    }
  }

  clear() {
    this.replace(() => workspace.begin({ rules: workspace.rules, moves: [] }));
  }

  openImport() {
    openImport((record) => this.load(record));
  }

  openExport() {
    openExport(this.info.formats, () => workspace.record(), this.board.view.picture);
  }

  /** A link to the position; where there is more than one line, to the whole tree, which the server keeps. */
  async share() {
    const isPlain = workspace.query() && [...walk(workspace.root)].every((node) => node.children.length < 2 && !node.comment);
    try {
      const address = isPlain ? location.href : new URL(hashOf(`analyse/${(await keepStudy(workspace.record())).id}`), location.href).href;
      await copy(address);
    } catch (error) {
      notifyError(error);
    }
  }

  playFromHere() {
    go("play/new", queryOf(workspace.position(workspace.node)));
  }

  // -- thinking --------------------------------------------------------------------------------------------------------

  think() {
    if (this.pointed) this.pointed.line = null;
    const facts = workspace.facts.get(workspace.node.id);
    const isOver = facts && facts.outcome !== "ongoing";
    this.engines.forEach((engine, i) => {
      if (!this.isOn || (i === 1 && !this.hasSecond)) engine.stop();
      else if (isOver) engine.stop(t("analysis.over"));
      else engine.analyse(workspace.position(workspace.node));
    });
    this.showAnalysis();
  }

  showAnalysis() {
    const [{ analysis }, second] = this.engines;
    const { node } = workspace;
    const toMove = workspace.toMove();
    if (analysis) {
      const { rootInfo } = analysis;
      const known = this.chances.get(node.id);
      if (!known || rootInfo.visits >= known.visits || rootInfo.proof) {
        this.chances.set(node.id, { blackWinrate: rootInfo.blackWinrate, proof: proofForBlack(rootInfo.proof, rootInfo.currentPlayer), visits: rootInfo.visits });
        node.extra.blackWinrate = rootInfo.blackWinrate;
      }
    }
    const policy = settings.showPolicy ? (analysis?.policy ?? second.analysis?.policy) : null;
    this.board.set({ ...this.thoughts(), heat: new Map(Object.entries(policy ?? {})) });
    this.bar.show(this.chances.get(node.id) ?? null, toMove);
    this.showGraph();
    this.status.textContent = this.statusText(policy);
  }

  /** The discs on the board; where both engines name a move, the first one's counts. */
  candidates() {
    if (!settings.showCandidates) return [];
    const [first, second] = this.engines.map(({ analysis }, i) => (analysis ? boardCandidates(analysis, i === 1) : []));
    return [...first, ...second.filter((one) => !first.some(({ point }) => point === one.point))];
  }

  statusText(/** @type {any} */ policy) {
    const outcome = workspace.facts.get(workspace.node.id)?.outcome ?? "ongoing";
    if (outcome === "draw") return t("result.draw");
    if (outcome !== "ongoing") return t("result.win", { colour: t(outcome), reason: "" });
    if (settings.showPolicy && this.engines[0].analysis && !policy) return t("policy.none");
    return t("status.to-move", { colour: t(workspace.toMove()) });
  }

  showGraph() {
    const line = lineThrough(workspace.node);
    this.graph.show(line.map((node) => this.chances.get(node.id) ?? null), line.indexOf(workspace.node));
  }

  /** The pointer is on a move: on the board, or in the table of an engine. */
  pointAt(/** @type {string | null} */ move, /** @type {EnginePanel | null} */ engine = null) {
    this.pointed = move ? { move, engine, line: null } : null;
    this.board.set(this.thoughts());
  }

  /** What the board shows of the engines' thoughts: the line of the move that is pointed at, else the candidates. */
  thoughts() {
    const line = this.pointedLine();
    return line ? { preview: previewOf(line, workspace.toMove()), candidates: [] } : { preview: this.solvedPreview(), candidates: this.candidates() };
  }

  pointedLine() {
    const { pointed } = this;
    if (!pointed) return null;
    const engines = pointed.engine ? [pointed.engine] : settings.showCandidates ? this.engines : [];
    const found = engines.flatMap(({ analysis }) => analysis?.moveInfos ?? []).find((/** @type {any} */ { move }) => move === pointed.move);
    pointed.line = found?.pv ?? pointed.line;
    return pointed.line;
  }

  async solve(/** @type {"vcf" | "vct"} */ kind) {
    const { node } = workspace;
    this.solved = { kind, waiting: true };
    this.showThreats();
    try {
      const answer = await socket.request({ type: "solve", ...workspace.position(node), kind });
      if (workspace.node !== node) return;
      this.solved = answer;
    } catch (error) {
      this.solved = null;
      notifyError(error);
    }
    this.showPosition();
  }

  solvedPreview() {
    return this.solved?.verdict === "win" ? previewOf(this.solved.pv, this.solved.attacker) : [];
  }

  // -- drawing ---------------------------------------------------------------------------------------------------------

  showPosition() {
    const facts = workspace.facts.get(workspace.node.id);
    const isOver = facts && facts.outcome !== "ongoing";
    const threats = settings.showThreats ? (facts?.threats?.standing ?? []) : [];
    this.board.set({ ...workspace.boardState(), toPlay: isOver ? null : workspace.toMove(), ...this.thoughts(),
      threats: threats.map((/** @type {any} */ { colour, kind, stones, answers }) => ({ colour, kind, points: stones, answers })) });
    this.showThreats();
    if (document.activeElement !== this.comment) this.comment.value = workspace.node.comment;
  }

  showThreats() {
    const standing = settings.showThreats ? (workspace.facts.get(workspace.node.id)?.threats?.standing ?? []) : [];
    const items = standing.map((/** @type {any} */ threat) => h("li", null,
      t("threat.text", { colour: t(threat.colour), kind: t(`threat.${threat.kind.replaceAll(" ", "-")}`), stones: threat.stones.join(" "), answers: threat.answers.join(" ") || "–" })));
    if (settings.showThreats && !standing.length) items.push(h("li", { class: "soft" }, t("threat.none")));
    const { solved } = this;
    if (solved?.waiting) items.push(h("li", { class: "soft" }, t("solve.waiting")));
    else if (solved) {
      const text = t(`solve.${solved.verdict.replaceAll(" ", "-")}`, { kind: solved.kind.toUpperCase(), moves: Math.ceil(solved.pv.length / 2) });
      items.push(h("li", { class: "strong" }, text, " ", solved.verdict === "win" ? button(t("solve.insert"), () => this.insertSolution(), { kind: "bare" }) : null));
    }
    fill(this.threatList, items);
  }

  insertSolution() {
    const { pv } = this.solved;
    let at = workspace.node;
    let colour = workspace.toMove();
    for (const point of pv) {
      at = play(at, point, colour);
      colour = colour === "black" ? "white" : "black";
    }
    this.goTo(workspace.node.children.find((child) => child.point === pv[0]) ?? at);
  }

  showTree() {
    this.tree.show(workspace.root, workspace.node);
    this.showGraph();
  }

  async typePoint() {
    const point = this.board.state.toPlay ? await askPoint(this.board) : null;
    if (point) this.play(point);
  }

  shortcuts() {
    const turn = (/** @type {"showCandidates" | "showThreats" | "showPolicy"} */ key) => () => change({ [key]: !settings[key] });
    return [
      { keys: [" "], label: "key.analysis", run: () => this.toggle() },
      { keys: ["ArrowLeft"], label: "key.back", run: () => this.walk(-1) },
      { keys: ["ArrowRight"], label: "key.forward", run: () => this.walk(1) },
      { keys: ["ArrowUp"], label: "key.previous-variation", run: () => this.goTo(sibling(workspace.node, -1)) },
      { keys: ["ArrowDown"], label: "key.next-variation", run: () => this.goTo(sibling(workspace.node, 1)) },
      { keys: ["PageUp"], label: "key.back-10", run: () => this.walk(-10) },
      { keys: ["PageDown"], label: "key.forward-10", run: () => this.walk(10) },
      { keys: ["Home"], label: "key.first", run: () => this.walk(-Infinity) },
      { keys: ["End"], label: "key.last", run: () => this.walk(Infinity) },
      { keys: ["Enter"], label: "key.play-best", run: () => this.playBest() },
      { keys: ["c"], label: "showCandidates", run: turn("showCandidates") },
      { keys: ["x"], label: "showThreats", run: turn("showThreats") },
      { keys: ["v"], label: "showPolicy", run: turn("showPolicy") },
      { keys: ["]"], label: "key.more-lines", run: () => change({ lines: Math.min(MOST_LINES, settings.lines + 1) }) },
      { keys: ["["], label: "key.fewer-lines", run: () => change({ lines: Math.max(1, settings.lines - 1) }) },
      { keys: ["g"], label: "second-engine", run: () => this.toggleSecond() },
      { keys: ["f"], label: "solve.vcf", run: () => this.solve("vcf") },
      { keys: ["F"], label: "solve.vct", run: () => this.solve("vct") },
      { keys: ["p"], label: "tree.promote", run: () => this.promote() },
      { keys: ["Delete"], label: "tree.delete", run: () => this.remove() },
      { keys: ["k"], label: "comment", run: () => this.comment.focus() },
      { keys: ["i"], label: "import", run: () => this.openImport() },
      { keys: ["e"], label: "export", run: () => this.openExport() },
      { keys: ["w"], label: "share", run: () => this.share() },
      { keys: ["+"], label: "board.clear", run: () => this.clear() },
      { keys: ["b"], label: "key.board-focus", run: () => this.board.focus() },
      { keys: ["/"], label: "key.type-point", run: () => this.typePoint() },
    ];
  }

  playBest() {
    const best = this.engines[0].analysis?.moveInfos[0];
    if (best) this.play(best.move);
  }

  unmount() {
    for (const engine of this.engines) engine.halt();
    for (const end of this.unfollow) end();
  }
}

/** Bring the tree to where the address points: a position, or nothing. */
function followAddress(/** @type {URLSearchParams} */ query) {
  const position = positionIn(query);
  if (!position) return;
  const node = workspace.find(position);
  if (node) workspace.node = node;
  else workspace.begin(position);
}

/** @param {HTMLElement} main @param {import("../router.js").Route} route */
export async function mount(main, route) {
  const page = new AnalysePage(main, await serverInfo());
  const follow = async (/** @type {import("../router.js").Route} */ { rest: [id], query }) => {
    if (id) {
      await study(id).then(({ record }) => page.load(record), (error) => {
        notifyError(error);
        page.goTo(workspace.node);
      });
      return;
    }
    followAddress(query);
    page.fillChances();
    page.goTo(workspace.node);
  };
  await follow(route);
  return { unmount: () => page.unmount(), shortcuts: page.shortcuts(), follow };
}
