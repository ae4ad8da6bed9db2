// @ts-check
/** The analysis page: a tree of moves in the browser, and engines on the server that analyse the current position. */

import { saveStudy, serverInfo, socket, study } from "../api.js";
import { Board } from "../board/board.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus } from "../dom.js";
import { copy, listenForGames, openExport, openImport } from "../files.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, notify, notifyError } from "../notice.js";
import { go, hashOf, replaceRoute } from "../router.js";
import { onChange, settings } from "../settings.js";
import { playStone } from "../sound.js";
import { lineThrough, play, promote, remove, step, stonesAt, walk } from "../tree.js";
import { askPoint } from "../widgets/ask_point.js";
import { boardCandidates, previewOf } from "../widgets/candidates.js";
import { ChanceBar, ChanceGraph, finalChance, proofForBlack } from "../widgets/chances.js";
import { EnginePanel } from "../widgets/engine_panel.js";
import { button } from "../widgets/fields.js";
import { Explorer } from "../widgets/explorer.js";
import { editHeader } from "../widgets/game_header.js";
import { linePlayer } from "../widgets/line_player.js";
import { MoveTree } from "../widgets/move_tree.js";
import { StoneEditor } from "../widgets/stone_editor.js";
import { threatItems } from "../widgets/threat_list.js";
import { transport } from "../widgets/transport.js";
import { other, positionIn, queryOf, workspace } from "../workspace.js";
import { shortcutsOf } from "./analyse_keys.js";
import { fillSide } from "./analyse_side.js";

/** @import { Colour, RecordInput, ServerInfo, ThreatKind } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Settings } from "../settings.js" */
/** @import { Node } from "../tree.js" */
/** @import { Solved } from "../widgets/threat_list.js" */

/** @typedef {{ moves: string[], step: number, colour: Colour }} SteppedLine a line, the number of its moves shown, and who begins */

export class AnalysePage {
  /** The evaluations by node id. @type {Map<number, { blackWinrate: number, proof: string | null, visits: number }>} */
  chances = new Map();
  isOn = false;
  hasSecond = false;
  /**
   * The hovered move, on the board or in an engine's table, and its line, which is shown instead of the candidates. The
   * line is updated while the engine reports the move, and stays when the engine drops it.
   * @type {{ move: string, engine: EnginePanel | null, line: string[] | null } | null}
   */
  pointed = null;
  /** The result of the last search for a forced win. @type {Solved} */ solved = null;
  /** The line that the user steps through, instead of the candidates. @type {SteppedLine | null} */ line = null;
  /** Sets up stones instead of playing moves. @type {StoneEditor | null} */ editor = null;
  /** Brings back the game that another one has replaced. @type {(() => void) | null} */ restore = null;

  constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
    this.info = info;
    const boardBox = h("div");
    this.bar = new ChanceBar();
    this.graph = new ChanceGraph((ply) => this.goTo(lineThrough(workspace.node)[ply] ?? workspace.node));
    this.board = new Board(boardBox, {
      onPlay: (point) => this.play(point),
      onHover: (point) => this.pointAt(point),
      // The first tap of a finger shows the line of a candidate, the second one plays it.
      onPending: (point) => {
        this.confirmBar.hidden = !point;
        this.pointAt(point);
      },
      onPick: (point) => {
        this.editor?.pick(point);
        return this.editor !== null;
      },
    });
    this.confirmBar = h(
      "div",
      { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })),
      button(t("place"), () => this.board.confirm(), { kind: "primary" }),
    );
    const listeners = {
      onUpdate: () => this.showAnalysis(),
      onPoint: (/** @type {string | null} */ move, /** @type {EnginePanel} */ engine) => this.pointAt(move, engine),
      onPlay: (/** @type {string} */ move) => this.play(move),
      onChoose: () => this.think(),
    };
    this.engine = new EnginePanel(info, "engine", listeners);
    this.second = new EnginePanel(info, "secondEngine", listeners);
    this.engines = [this.engine, this.second];
    this.tree = new MoveTree((node) => this.goTo(node));
    this.status = h("p", { class: "status small", role: "status" });
    this.explorer = new Explorer((move) => this.play(move));
    this.lineBox = h("div", { hidden: true });
    this.threatList = h("ul", { class: "threat-list small" });
    this.comment = h("textarea", {
      class: "comment",
      rows: 2,
      maxLength: 10000,
      placeholder: t("comment.placeholder"),
      "aria-label": t("comment"),
      oninput: () => {
        workspace.node.comment = this.comment.value;
        workspace.keep();
        // At once: if the list grew when the field loses the focus, it would push away the button that is being clicked.
        this.tree.show(workspace.root, workspace.node);
      },
    });
    this.side = h("div", { class: "side" });
    fill(
      main,
      h("h1", { class: "visually-hidden" }, t("page.analyse")),
      h(
        "div",
        { class: "stage" },
        h(
          "section",
          { class: "table", "aria-label": t("board") },
          h("div", { class: "board-row" }, this.bar.element, boardBox),
          this.confirmBar,
          transport((where) => this.walk(where)),
        ),
        this.side,
      ),
    );
    this.drawSide();
    this.unfollow = [
      followSettings(this.board),
      onChange((changes) => this.settingsChanged(changes)),
      listenForGames((record) => this.load(record)),
    ];
  }

  // -- the side panel --------------------------------------------------------------------------------------------------

  drawSide() {
    keepingFocus(this.side, () => fillSide(this));
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

  settingsChanged(/** @type {Partial<Settings>} */ changes) {
    if ("lines" in changes || "showPolicy" in changes) this.think();
    this.drawSide();
    this.showPosition();
    this.showAnalysis();
  }

  // -- the tree --------------------------------------------------------------------------------------------------------

  play(/** @type {string} */ point) {
    const facts = workspace.facts.get(workspace.node.id);
    const foul = facts?.fouls.find((each) => each.point === point);
    if (facts && !facts.legal.includes(point)) {
      notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), {
        error: true,
      });
      return;
    }
    const colour = workspace.toMove();
    const known = workspace.node.children.length;
    const node = play(workspace.node, point, colour);
    playStone(colour);
    announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
    this.goTo(node, node.parent?.children.length !== known);
  }

  /** Go to a node: draw it immediately, then request its facts and an analysis. */
  async goTo(/** @type {Node} */ node, isNew = false) {
    workspace.node = node;
    this.solved = this.line = null;
    if (this.editor) this.closeEditor();
    this.think();
    this.showPosition();
    this.showTree();
    workspace.keep();
    const query = workspace.query();
    if (query) replaceRoute("analyse", query);
    this.explorer.show(workspace.position(node));
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
      if (workspace.facts.get(node.id)?.outcome !== "ongoing") this.think();
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
    notify(t("tree.deleted"), {
      action: {
        label: t("tree.restore"),
        run: () => {
          undo();
          this.goTo(gone);
        },
      },
    });
  }

  /** Replace the tree, and offer to restore the old one. */
  replace(/** @type {() => void} */ replaceTree) {
    const { rules, root, node, header } = workspace;
    replaceTree();
    this.chances.clear();
    this.fillChances();
    this.goTo(workspace.node);
    if (!root.children.length) return;
    this.restore = () => {
      Object.assign(workspace, { rules, root, header });
      workspace.facts.clear();
      this.restore = null;
      this.goTo(node);
      this.drawSide();
    };
    this.drawSide();
  }

  load(/** @type {RecordInput} */ record) {
    this.replace(() => {
      workspace.load(record);
      workspace.node = workspace.lastNode();
    });
  }

  /** Show the evaluations that are stored in the record. */
  fillChances() {
    for (const node of workspace.mainLine()) {
      const value = node.extra.blackWinrate;
      if (typeof value === "number") this.chances.set(node.id, { blackWinrate: value, proof: null, visits: 0 });
    }
  }

  clear() {
    this.replace(() => workspace.begin({ rules: workspace.rules, moves: [] }));
  }

  // -- names, rules and set-up stones ------------------------------------------------------------------------------------

  async editHeader() {
    const { node } = workspace;
    const changed = await editHeader(workspace, this.info, (rules) => ({ ...workspace.position(node), rules }));
    if (!changed) return;
    Object.assign(workspace, changed);
    workspace.facts.clear();
    this.drawSide();
    this.goTo(workspace.node);
  }

  /** Set up stones, starting from the position on the board. */
  setUpStones() {
    this.editor = new StoneEditor(stonesAt(workspace.node).values(), workspace.toMove(), {
      onChange: () => {
        this.editor?.draw();
        this.showPosition();
      },
      onDone: ({ stones, toMove }) => {
        const { rules, header } = workspace;
        this.closeEditor();
        this.replace(() => {
          workspace.begin({ rules, initialStones: stones, initialPlayer: toMove, moves: [] });
          workspace.header = { black: header.black ?? "", white: header.white ?? "" };
        });
      },
      onCancel: () => this.closeEditor(),
    });
    this.drawSide();
    this.think();
    this.showPosition();
  }

  closeEditor() {
    this.editor = null;
    this.drawSide();
    this.think();
    this.showPosition();
  }

  openImport() {
    openImport((record) => this.load(record));
  }

  openExport() {
    openExport(this.info.formats, () => workspace.record(), this.board.view.picture);
  }

  /** Copy a link to the position; a tree with variations or comments is saved on the server first. */
  async share() {
    const isPlain =
      workspace.query() && [...walk(workspace.root)].every((node) => node.children.length < 2 && !node.comment);
    try {
      const address = isPlain
        ? location.href
        : new URL(hashOf(`analyse/${(await saveStudy(workspace.record())).id}`), location.href).href;
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
    for (const engine of this.engines) {
      if (!this.isOn || this.editor || (engine === this.second && !this.hasSecond)) engine.stop();
      else if (isOver) engine.stop(t("analysis.over"));
      else engine.analyse(workspace.position(workspace.node));
    }
    this.showAnalysis();
  }

  showAnalysis() {
    const { analysis } = this.engine;
    const { node } = workspace;
    const outcome = workspace.facts.get(node.id)?.outcome ?? "ongoing";
    if (outcome !== "ongoing") this.chances.set(node.id, { proof: null, ...finalChance(outcome), visits: Infinity });
    else if (analysis) {
      const { rootInfo } = analysis;
      const known = this.chances.get(node.id);
      if (!known || rootInfo.visits >= known.visits || rootInfo.proof) {
        this.chances.set(node.id, {
          blackWinrate: rootInfo.blackWinrate,
          proof: proofForBlack(rootInfo.proof, rootInfo.currentPlayer),
          visits: rootInfo.visits,
        });
        node.extra.blackWinrate = rootInfo.blackWinrate;
      }
    }
    const policy = settings.showPolicy ? (analysis?.policy ?? this.second.analysis?.policy) : null;
    if (!this.editor) this.board.set({ ...this.thoughts(), heat: new Map(Object.entries(policy ?? {})) });
    this.bar.show(this.chances.get(node.id) ?? null);
    this.showGraph();
    this.status.textContent = this.statusText(Boolean(policy));
  }

  /** Return the candidates for the board. If both engines suggest a move, the first engine's evaluation is shown. */
  candidates() {
    if (!settings.showCandidates) return [];
    const first = this.engine.analysis ? boardCandidates(this.engine.analysis) : [];
    const second = this.second.analysis ? boardCandidates(this.second.analysis, true) : [];
    return [...first, ...second.filter((one) => !first.some(({ point }) => point === one.point))];
  }

  statusText(/** @type {boolean} */ hasPolicy) {
    const outcome = workspace.facts.get(workspace.node.id)?.outcome ?? "ongoing";
    if (outcome === "draw") return t("result.draw");
    if (outcome !== "ongoing") return t("result.win", { colour: t(outcome) });
    if (settings.showPolicy && this.engine.analysis && !hasPolicy) return t("policy.none");
    return t("status.to-move", { colour: t(workspace.toMove()) });
  }

  showGraph() {
    const line = lineThrough(workspace.node);
    this.graph.show(
      line.map((node) => this.chances.get(node.id) ?? null),
      line.indexOf(workspace.node),
    );
  }

  /** Handle a hovered move, on the board or in an engine's table. */
  pointAt(/** @type {string | null} */ move, /** @type {EnginePanel | null} */ engine = null) {
    this.pointed = move ? { move, engine, line: null } : null;
    if (!this.editor) this.board.set(this.thoughts());
  }

  /** Return the analysis for the board: the line of the hovered move, or else the candidates. */
  thoughts() {
    if (this.line) {
      const { moves, step, colour } = this.line;
      return { preview: previewOf(moves.slice(0, step), colour), candidates: [] };
    }
    const line = this.pointedLine();
    return line
      ? { preview: previewOf(line, workspace.toMove()), candidates: [] }
      : { preview: this.solvedPreview(), candidates: this.candidates() };
  }

  pointedLine() {
    const { pointed } = this;
    if (!pointed) return null;
    const engines = pointed.engine ? [pointed.engine] : settings.showCandidates ? this.engines : [];
    const found = engines
      .flatMap(({ analysis }) => analysis?.moveInfos ?? [])
      .find(({ move }) => move === pointed.move);
    pointed.line = found?.pv ?? pointed.line;
    return pointed.line;
  }

  /** Step through a line: the one under the pointer, the forced win that was found, or the best line of the engine. */
  stepLine(/** @type {number} */ steps) {
    const line = this.line ?? this.lineToStep();
    if (!line) return;
    const step = Math.max(0, Math.min(line.moves.length, line.step + steps));
    this.line = step ? { ...line, step } : null;
    this.showLine();
  }

  /** @returns {SteppedLine | null} */
  lineToStep() {
    const { solved } = this;
    const colour = workspace.toMove();
    const pointed = this.pointedLine();
    if (pointed) return { moves: pointed, step: 0, colour };
    if (solved && solved !== "waiting" && solved.verdict === "win")
      return { moves: solved.pv, step: 0, colour: solved.attacker };
    const best = [this.engine, this.second].flatMap(({ analysis }) => analysis?.moveInfos[0]?.pv ?? []);
    return best.length ? { moves: best, step: 0, colour } : null;
  }

  showLine() {
    const { line } = this;
    this.lineBox.hidden = !line;
    if (line)
      keepingFocus(this.lineBox, () =>
        fill(
          this.lineBox,
          linePlayer(line.moves, line.step, (step) => this.stepLine(step - line.step)),
        ),
      );
    if (!this.editor) this.board.set(this.thoughts());
  }

  async solve(/** @type {ThreatKind} */ kind) {
    const { node } = workspace;
    this.solved = "waiting";
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
    const { solved } = this;
    return solved && solved !== "waiting" && solved.verdict === "win" ? previewOf(solved.pv, solved.attacker) : [];
  }

  // -- drawing ---------------------------------------------------------------------------------------------------------

  showPosition() {
    showRules(workspace.rules);
    const facts = workspace.facts.get(workspace.node.id);
    const isOver = facts && facts.outcome !== "ongoing";
    const threats = this.threats() ?? [];
    this.showLine();
    this.board.set({
      ...workspace.boardState(),
      toPlay: isOver ? null : workspace.toMove(),
      ...this.thoughts(),
      threats: threats.map(({ colour, kind, stones, answers }) => ({ colour, kind, points: stones, answers })),
      ...(this.editor?.boardState() ?? {}),
    });
    this.showThreats();
    if (document.activeElement !== this.comment) this.comment.value = workspace.node.comment;
  }

  /** Return the threats on the board; null if they are hidden. */
  threats() {
    return settings.showThreats ? (workspace.facts.get(workspace.node.id)?.threats?.standing ?? []) : null;
  }

  showThreats() {
    fill(
      this.threatList,
      threatItems(this.threats(), this.solved, (pv) => this.insert(pv)),
    );
  }

  /** Add a line as a variation and go to its first move. */
  insert(/** @type {string[]} */ pv) {
    let at = workspace.node;
    let colour = workspace.toMove();
    for (const point of pv) {
      at = play(at, point, colour);
      colour = other(colour);
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

  playBest() {
    const best = this.engine.analysis?.moveInfos[0];
    if (best) this.play(best.move);
  }

  unmount() {
    for (const engine of this.engines) engine.halt();
    for (const end of this.unfollow) end();
  }
}

/** Go to the position in the address, if there is one. */
function followAddress(/** @type {URLSearchParams} */ query) {
  const position = positionIn(query);
  if (!position) return;
  const node = workspace.find(position);
  if (node) workspace.node = node;
  else workspace.begin(position);
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  const page = new AnalysePage(main, await serverInfo());
  const follow = async (/** @type {Route} */ { rest: [id], query }) => {
    if (id) {
      await study(id).then(
        ({ record }) => page.load(record),
        (error) => {
          notifyError(error);
          page.goTo(workspace.node);
        },
      );
      return;
    }
    followAddress(query);
    page.fillChances();
    page.goTo(workspace.node);
  };
  await follow(route);
  return { unmount: () => page.unmount(), shortcuts: shortcutsOf(page), follow };
}
