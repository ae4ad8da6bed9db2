/** The candidate moves of an analysis as a table (N, Q, P) and as discs on the board. Hovering a row shows its line. */

import { h } from "../dom.js";
import { number, t } from "../i18n.js";
import { shownPoint } from "../board/points.js";
import { lossColour } from "../board/render.js";
import { proofForBlack } from "./chances.js";

/** @import { AnalysisMessage, Colour, MoveInfo } from "../messages.js" */
/** @import { Candidate, Stone } from "../board/state.js" */

/** A candidate with less than this share of the visits of the most visited one is uncertain. */
const UNSURE_SHARE = 0.05;
/** A candidate that is this much shallower than the deepest one is uncertain. */
const UNSURE_DEPTH = 2;

/** The value of a candidate from black's point of view: a proof or a percentage. */
const valueOf = (/** @type {MoveInfo} */ { proof, blackWinrate }, /** @type {Colour} */ toMove, digits = 0) =>
	proofForBlack(proof, toMove)?.replace("-", "−") ?? (100 * blackWinrate).toFixed(digits);

/** The winning chances of the side to move, 0 to 1; a proved win counts as 1 and a proved loss as 0. */
const chanceOf = (/** @type {MoveInfo} */ move) =>
	move.proof?.result === "win" ? 1 : move.proof?.result === "loss" ? 0 : move.winrate;

/** The loss of each move compared with the best one, and whether the engine has barely searched it. */
function judged(/** @type {MoveInfo[]} */ moves) {
	const best = Math.max(...moves.map(chanceOf));
	const visits = Math.max(...moves.map((move) => move.visits));
	const depth = Math.max(...moves.map((move) => move.depth));
	return moves.map((move) => ({
		move,
		loss: best - chanceOf(move),
		isUnsure: !move.proof && (visits ? move.visits < UNSURE_SHARE * visits : move.depth < depth - UNSURE_DEPTH),
	}));
}

/**
 * Return the candidates of an analysis in the form that the board expects.
 * @param {AnalysisMessage} analysis
 * @param {boolean} [second] whether it comes from the second engine
 * @returns {Candidate[]}
 */
export function boardCandidates({ moveInfos, rootInfo }, second = false) {
	return judged(moveInfos).map(({ move, loss, isUnsure }) => ({
		point: move.move,
		text: valueOf(move, rootInfo.currentPlayer),
		detail: move.visits ? number(move.visits, true) : move.depth ? `d${move.depth}` : "",
		loss,
		isUnsure,
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
		/** The move whose line was shown by the last tap. @type {string | null} */
		let tapped = null;
		const play = (/** @type {Event} */ event) => {
			const row = rowOf(event);
			const move = row?.dataset.move;
			if (!move) return;
			const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
			if (isTouch && tapped !== move) {
				tapped = move;
				this.point(row);
				return;
			}
			tapped = null;
			onPlay(move);
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
										class: name === "move" || name === "line" ? "" : `num column-${name}`,
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
		this.showRows(moveInfos, rootInfo.currentPlayer);
	}

	/** Show the moves, reusing rows and cells, so that neither the focus nor a click between two reports is lost. */
	showRows(/** @type {MoveInfo[]} */ moves, /** @type {Colour} */ toMove = "black") {
		// Columns that the engine does not fill are hidden.
		this.element.classList.toggle("no-visits", !moves.some((move) => move.visits));
		this.element.classList.toggle("no-prior", !moves.some((move) => move.prior !== null));
		const { rows } = this.body;
		while (rows.length > moves.length) rows[rows.length - 1]?.remove();
		while (rows.length < moves.length) this.body.append(newRow());
		judged(moves).forEach((entry, i) => {
			const row = rows[i];
			if (row) fillRow(row, entry, toMove);
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
		h("td", { class: "num column-N" }),
		h("td", { class: "num column-Q" }),
		h("td", { class: "num column-P" }),
		h("td", { class: "pv" }),
	);
}

function fillRow(
	/** @type {HTMLTableRowElement} */ row,
	/** @type {{ move: MoveInfo, loss: number, isUnsure: boolean }} */ { move, loss, isUnsure },
	/** @type {Colour} */ toMove,
) {
	row.dataset.move = move.move;
	row.classList.toggle("is-unsure", isUnsure);
	const [head, ...cells] = row.cells;
	const [swatch, name] = /** @type {Iterable<HTMLElement>} */ (head?.children ?? []);
	if (swatch) swatch.style.background = lossColour(loss);
	if (name) name.textContent = shownPoint(move.move);
	const utility = toMove === "black" ? move.utility : -move.utility;
	const texts = [
		`${valueOf(move, toMove, 1)}${move.proof ? "" : "%"}`,
		number(move.visits, true),
		utility.toFixed(2).replace("-", "−"),
		move.prior === null ? "" : `${(100 * move.prior).toFixed(1)}%`,
		move.pv.slice(1, 9).map(shownPoint).join(" "),
	];
	cells.forEach((cell, i) => (cell.textContent = texts[i] ?? ""));
}
