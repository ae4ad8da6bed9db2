/** Shows win rates: as text, as the bar next to the board, and as a graph over the game. */

import { fill, h, svg } from "../dom.js";
import { t } from "../i18n.js";

/** @import { Colour, Proof } from "../messages.js" */

/** @typedef {{ blackWinrate: number, proof?: string | null }} Chance an evaluation; the proof is from black's point of view */

/** Format a proof from black's point of view. The server reports proofs for the side to move. */
export function proofForBlack(/** @type {Proof | null} */ proof, /** @type {Colour} */ toMove) {
	if (!proof) return null;
	const sign = proof.result === "draw" ? "=" : (proof.result === "win") === (toMove === "black") ? "+" : "-";
	return `${sign}M${proof.plies}`;
}

/** Format an evaluation from black's point of view: `64%`, `+M5`, or `won` for a finished game. */
function chanceText(/** @type {Chance} */ { blackWinrate, proof }) {
	if (proof && /^[+-]M0$/.test(proof)) return t("chances.won");
	return proof?.replace("-", "−") ?? `${Math.round(100 * blackWinrate)}%`;
}

/** The evaluation of a finished game. @returns {Chance} */
export const finalChance = (/** @type {string} */ outcome) => ({
	blackWinrate: outcome === "black" ? 1 : outcome === "white" ? 0 : 0.5,
	proof: outcome === "black" ? "+M0" : outcome === "white" ? "-M0" : null,
});

/** The bar next to the board: black grows from the bottom, white from the top. */
export class ChanceBar {
	constructor() {
		this.black = h("div", { class: "chance-black" });
		this.text = h("span", { class: "chance-text" });
		this.element = h(
			"div",
			{ class: "chance-bar", role: "meter", "aria-label": t("chances"), "aria-valuemin": 0, "aria-valuemax": 100 },
			this.black,
			this.text,
		);
		this.show(null);
	}

	show(/** @type {Chance | null} */ chance) {
		const black = chance
			? chance.proof?.startsWith("+")
				? 1
				: chance.proof?.startsWith("-")
					? 0
					: chance.blackWinrate
			: 0.5;
		this.black.style.setProperty("--black", `${100 * Math.max(0.02, Math.min(0.98, black))}%`);
		this.text.textContent = chance ? chanceText(chance) : "";
		this.text.classList.toggle("on-dark", black >= 0.5);
		this.element.setAttribute("aria-valuenow", String(Math.round(100 * black)));
		this.element.setAttribute(
			"aria-valuetext",
			chance ? t("chances.black", { percent: Math.round(100 * black) }) : t("chances.unknown"),
		);
	}
}

const WIDTH = 600;
const HEIGHT = 150;

/** @typedef {{ ply: number, kind: string }} Sign a move that gets a dot on the graph */

/** The graph of black's win rate over the moves of a game. A click selects a move. */
export class ChanceGraph {
	constructor(/** @type {(ply: number) => void} */ onSelect) {
		this.plies = 1;
		this.svg = svg("svg", {
			class: "chance-graph",
			viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
			preserveAspectRatio: "none",
			role: "img",
			"aria-label": t("graph"),
		});
		this.tip = h("div", { class: "graph-tip small", hidden: true });
		this.element = h("div", { class: "graph" }, this.svg, this.tip);
		const plyOf = (/** @type {MouseEvent} */ event) => {
			const box = this.svg.getBoundingClientRect();
			return Math.max(0, Math.min(this.plies, Math.round((this.plies * (event.clientX - box.left)) / box.width)));
		};
		this.svg.addEventListener("click", (/** @type {MouseEvent} */ event) => onSelect(plyOf(event)));
		this.svg.addEventListener("pointermove", (/** @type {MouseEvent} */ event) => this.showTip(plyOf(event)));
		this.svg.addEventListener("pointerleave", () => (this.tip.hidden = true));
		/** @type {(Chance | null)[]} */
		this.chances = [];
	}

	showTip(/** @type {number} */ ply) {
		const chance = this.chances[ply];
		this.tip.hidden = !chance;
		if (!chance) return;
		this.tip.textContent = t("graph.tip", {
			ply,
			chance: chanceText(chance),
		});
		this.tip.style.left = `${Math.min(82, Math.max(8, (100 * ply) / this.plies))}%`;
	}

	/**
	 * @param {(Chance | null)[]} chances by ply; null if unknown
	 * @param {number} current
	 * @param {Sign[]} [signs]
	 */
	show(chances, current, signs = []) {
		this.chances = chances;
		this.plies = Math.max(1, chances.length - 1);
		const x = (/** @type {number} */ ply) => (WIDTH * ply) / this.plies;
		const y = (/** @type {Chance} */ { blackWinrate, proof }) =>
			HEIGHT * (1 - (proof?.startsWith("+") ? 1 : proof?.startsWith("-") ? 0 : blackWinrate));
		const known = chances.flatMap((chance, ply) => (chance ? [{ px: x(ply), py: y(chance) }] : []));
		const line = known
			.map(({ px, py }, i) => `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}${i ? "" : "h0.01"}`)
			.join("");
		// A value between unknown ones would be invisible as a line.
		const points = known.map(({ px, py }) => `M${px.toFixed(1)} ${py.toFixed(1)}h0.01`).join("");
		const [first, last] = [known[0], known.at(-1)];
		const area =
			first && last && first !== last
				? `${line}L${last.px.toFixed(1)} ${HEIGHT}L${first.px.toFixed(1)} ${HEIGHT}Z`
				: "";
		const dots = signs.flatMap(({ ply, kind }) => {
			const chance = chances[ply];
			// A zero-length line with round caps stays a circle when the picture is stretched; a circle would not.
			return chance
				? [svg("path", { class: `graph-dot ${kind}`, d: `M${x(ply).toFixed(1)} ${y(chance).toFixed(1)}h0.01` })]
				: [];
		});
		fill(
			this.svg,
			area ? svg("path", { class: "graph-area", d: area }) : null,
			svg("path", { class: "graph-middle", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
			svg("path", { class: "graph-line", d: line }),
			svg("path", { class: "graph-points", d: points }),
			dots,
			svg("path", { class: "graph-now", d: `M${x(current)} 0V${HEIGHT}` }),
		);
	}
}
