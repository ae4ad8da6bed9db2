// @ts-check
/** The candidate moves of an analysis as a table (N, Q, P) and as discs on the board. Hovering a row shows its line. */

import { h } from "../dom.js";
import { number, t } from "../i18n.js";
import { chanceColour } from "../board/render.js";

/** @import { AnalysisMessage, Colour, MoveInfo } from "../messages.js" */
/** @import { Candidate, Stone } from "../board/state.js" */

/** The label of a candidate: its proof or win rate for the side to move. */
const valueOf = (/** @type {MoveInfo} */ move) =>
  move.proof?.text.replace("-", "−") ?? String(Math.round(100 * move.winrate));

/** The win rate of the side to move, 0 to 1; a proved win counts as 1 and a proved loss as 0. */
const chanceOf = (/** @type {MoveInfo} */ move) =>
  move.proof?.result === "win" ? 1 : move.proof?.result === "loss" ? 0 : move.winrate;

/**
 * Return the candidates of an analysis in the form that the board expects.
 * @param {AnalysisMessage} analysis
 * @param {boolean} [second] whether it comes from the second engine
 * @returns {Candidate[]}
 */
export function boardCandidates(analysis, second = false) {
  return analysis.moveInfos.map((move) => ({
    point: move.move,
    text: valueOf(move),
    detail: move.visits ? number(move.visits, true) : move.depth ? `d${move.depth}` : "",
    chance: chanceOf(move),
    best: move.order === 0,
    second,
  }));
}

/** Return the stones of a line, numbered from 1. @returns {Stone[]} */
export function previewOf(/** @type {string[]} */ line, /** @type {Colour} */ toMove) {
  const other = toMove === "black" ? "white" : "black";
  return line.map((point, i) => ({ point, colour: i % 2 ? other : toMove, number: i + 1 }));
}

export class CandidateTable {
  /** The row under the pointer or with the focus. @type {HTMLElement | null} */ row = null;
  /** The last move reported to `onPoint`. @type {string | null} */ pointed = null;

  /** @param {{ onPoint: (move: string | null) => void, onPlay: (move: string) => void }} listeners */
  constructor({ onPoint, onPlay }) {
    this.onPoint = onPoint;
    this.head = h("p", { class: "small soft engine-facts" });
    const rowOf = (/** @type {Event} */ event) =>
      /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("tr"));
    const play = (/** @type {Event} */ event) => {
      const move = rowOf(event)?.dataset.move;
      if (move) onPlay(move);
    };
    this.body = h("tbody", {
      onpointerover: (/** @type {PointerEvent} */ event) => this.point(rowOf(event)),
      onpointerleave: () => this.point(null),
      onfocusin: (/** @type {FocusEvent} */ event) => this.point(rowOf(event)),
      onfocusout: () => this.point(null),
      onclick: play,
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && play(event),
    });
    const columns = ["move", "chance", "N", "Q", "P", "line"];
    this.element = h(
      "div",
      { class: "stack" },
      this.head,
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "candidates" },
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              columns.map((name) =>
                h(
                  "th",
                  {
                    scope: "col",
                    class: name === "move" || name === "line" ? "" : "num",
                    title: t(`column.${name}.help`),
                  },
                  t(`column.${name}`),
                ),
              ),
            ),
          ),
          this.body,
        ),
      ),
    );
  }

  clear(/** @type {string} */ text = "") {
    this.head.textContent = text;
    this.showRows([]);
  }

  show(/** @type {AnalysisMessage} */ analysis) {
    const { rootInfo, moveInfos } = analysis;
    this.head.textContent = t("analysis.facts", {
      depth: rootInfo.depth || "–",
      visits: number(rootInfo.visits, true),
      speed: number(rootInfo.visitsPerSecond, true),
      seconds: (rootInfo.elapsedMs / 1000).toFixed(1),
    });
    this.showRows(moveInfos);
  }

  /** Show the moves, reusing rows and cells, so that neither the focus nor a click between two reports is lost. */
  showRows(/** @type {MoveInfo[]} */ moves) {
    const { rows } = this.body;
    while (rows.length > moves.length) rows[rows.length - 1]?.remove();
    while (rows.length < moves.length) this.body.append(newRow());
    [...rows].forEach((row, i) => {
      const move = moves[i];
      if (move) fillRow(row, move);
    });
    // The hovered row may now show another move, or may have been removed.
    this.point(this.row?.isConnected ? this.row : null);
  }

  point(/** @type {HTMLElement | null} */ row) {
    this.row = row;
    const move = row?.dataset.move ?? null;
    if (move === this.pointed) return;
    this.pointed = move;
    this.onPoint(move);
  }
}

function newRow() {
  return h(
    "tr",
    { class: "candidate-row", tabIndex: 0 },
    h("th", { scope: "row" }, h("span", { class: "swatch" }), h("span")),
    h("td", { class: "num strong" }),
    h("td", { class: "num" }),
    h("td", { class: "num" }),
    h("td", { class: "num" }),
    h("td", { class: "pv" }),
  );
}

function fillRow(/** @type {HTMLTableRowElement} */ row, /** @type {MoveInfo} */ move) {
  row.dataset.move = move.move;
  const [head, ...cells] = row.cells;
  const [swatch, name] = /** @type {Iterable<HTMLElement>} */ (head?.children ?? []);
  if (swatch) swatch.style.background = chanceColour(chanceOf(move));
  if (name) name.textContent = move.move;
  const texts = [
    move.proof ? valueOf(move) : `${(100 * move.winrate).toFixed(1)}%`,
    move.visits ? number(move.visits, true) : "–",
    move.utility.toFixed(2).replace("-", "−"),
    move.prior === null ? "–" : `${(100 * move.prior).toFixed(1)}%`,
    move.pv.slice(1, 9).join(" "),
  ];
  cells.forEach((cell, i) => (cell.textContent = texts[i] ?? ""));
}
