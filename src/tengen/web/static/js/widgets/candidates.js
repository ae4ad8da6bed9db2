// @ts-check
/** The candidate moves of an analysis as a table (N, Q, P) and as discs on the board. Pointing at a row shows its line. */

import { fill, h } from "../dom.js";
import { number, t } from "../i18n.js";
import { chanceColour } from "../board/render.js";

/** What stands on a candidate's disc, seen by who moves. */
const valueOf = (/** @type {any} */ move) => move.proof?.text.replace("-", "−") ?? String(Math.round(100 * move.winrate));

/** How good a candidate is for who moves, 0 to 1; proofs are beyond doubt. */
const chanceOf = (/** @type {any} */ move) => (move.proof?.result === "win" ? 1 : move.proof?.result === "loss" ? 0 : move.winrate);

/**
 * @param {any} analysis a message of the server
 * @param {boolean} [second] from the engine beside
 * @returns {import("../board/state.js").Candidate[]}
 */
export function boardCandidates(analysis, second = false) {
  return analysis.moveInfos.map((/** @type {any} */ move) => ({
    point: move.move,
    text: valueOf(move),
    detail: move.visits ? number(move.visits, true) : move.depth ? `d${move.depth}` : undefined,
    chance: chanceOf(move),
    best: move.order === 0,
    second,
  }));
}

/** The stones of a line, numbered from 1. */
export function previewOf(/** @type {string[]} */ line, /** @type {import("../board/state.js").Colour} */ toMove) {
  const other = toMove === "black" ? "white" : "black";
  return line.map((point, i) => ({ point, colour: i % 2 ? other : toMove, number: i + 1 }));
}

export class CandidateTable {
  /**
   * @param {{ onHover: (line: string[] | null) => void, onPlay: (line: string[]) => void }} listeners
   */
  constructor({ onHover, onPlay }) {
    this.onHover = onHover;
    this.onPlay = onPlay;
    this.head = h("p", { class: "small soft engine-facts" });
    /** The line of each row. @type {WeakMap<Element, string[]>} */
    this.lines = new WeakMap();
    // Rows come and go under the pointer with each report; their body stays and hears when it leaves.
    this.body = h("tbody", {
      onpointerover: (/** @type {PointerEvent} */ event) => this.point(event.target),
      onpointerleave: () => onHover(null),
      onfocusin: (/** @type {FocusEvent} */ event) => this.point(event.target),
      onfocusout: () => onHover(null),
    });
    const columns = ["move", "chance", "N", "Q", "P", "line"];
    this.element = h("div", { class: "stack" }, this.head, h("div", { class: "scroll" }, h("table", { class: "candidates" },
      h("thead", null, h("tr", null, columns.map((name) => h("th", { scope: "col", class: name === "move" || name === "line" ? "" : "num", title: t(`column.${name}.help`) }, t(`column.${name}`))))),
      this.body)));
  }

  clear(/** @type {string} */ text = "") {
    this.head.textContent = text;
    fill(this.body);
  }

  show(/** @type {any} */ analysis) {
    const { rootInfo, moveInfos } = analysis;
    this.head.textContent = t("analysis.facts", {
      depth: rootInfo.depth || "–", visits: number(rootInfo.visits, true), speed: number(rootInfo.visitsPerSecond, true), seconds: (rootInfo.elapsedMs / 1000).toFixed(1),
    });
    fill(this.body, moveInfos.map((/** @type {any} */ move) => this.row(move)));
  }

  row(/** @type {any} */ move) {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = chanceColour(chanceOf(move));
    const row = h("tr", { class: "candidate-row", tabIndex: 0,
      onclick: () => this.onPlay([move.move]), onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.onPlay([move.move]) },
    h("th", { scope: "row" }, swatch, move.move),
    h("td", { class: "num strong" }, move.proof ? valueOf(move) : `${(100 * move.winrate).toFixed(1)}%`),
    h("td", { class: "num" }, move.visits ? number(move.visits, true) : "–"),
    h("td", { class: "num" }, move.utility.toFixed(2).replace("-", "−")),
    h("td", { class: "num" }, move.prior === null || move.prior === undefined ? "–" : `${(100 * move.prior).toFixed(1)}%`),
    h("td", { class: "pv" }, move.pv.slice(1, 9).join(" ")));
    this.lines.set(row, move.pv);
    return row;
  }

  point(/** @type {EventTarget | null} */ target) {
    const row = target instanceof Element ? target.closest("tr") : null;
    const line = row && this.lines.get(row);
    if (line) this.onHover(line);
  }
}
