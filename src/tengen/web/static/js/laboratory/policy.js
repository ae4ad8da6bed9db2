/** Evaluations of a position by the networks of a run: the policy of each iteration on the board, and the win rate. */

import { positionInfo, run, runPolicies } from "../api.js";
import { Board } from "../board/board.js";
import { stonesOf } from "../board/state.js";
import { fill, h } from "../dom.js";
import { number, t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { chart } from "../widgets/chart.js";
import { button, field } from "../widgets/fields.js";
import { heading } from "./parts.js";

/** @import { PolicyPoint } from "../messages.js" */

export async function showPolicies(/** @type {string} */ name) {
	const { summary } = await run(name);
	const { rules } = summary;
	/** @type {string[]} */
	let moves = [];
	/** @type {PolicyPoint[]} */
	let points = [];
	let shown = 0;
	const container = h("div", { class: "policy-board" });
	const side = h("div", { class: "stack" });
	const slider = h("input", { type: "range", min: 0, max: 0, value: 0, oninput: () => show(Number(slider.value)) });
	const said = h("p", { role: "status" });
	const winrates = h("div");
	const board = new Board(container, {
		onPlay: (point) => change([...moves, point]),
	});
	const iterationOf = (/** @type {PolicyPoint} */ { iteration }) =>
		iteration ?? Math.max(summary.steps, ...points.map((each) => each.iteration ?? 0));
	const show = (/** @type {number} */ i) => {
		shown = Math.max(0, Math.min(points.length - 1, i));
		const point = points[shown];
		slider.max = String(Math.max(0, points.length - 1));
		slider.value = String(shown);
		if (!point) return;
		const best = Object.entries(point.policy).sort((a, b) => b[1] - a[1])[0];
		const text = t("lab.policy-at", {
			iteration: number(iterationOf(point)),
			winrate: (100 * point.winrate).toFixed(0),
			move: best?.[0] ?? "–",
			share: (100 * (best?.[1] ?? 0)).toFixed(0),
		});
		slider.setAttribute("aria-valuetext", text);
		said.textContent = text;
		board.set({ heat: new Map(Object.entries(point.policy)) });
	};
	let turn = 0;
	const change = async (/** @type {string[]} */ next) => {
		const mine = ++turn;
		try {
			const position = await positionInfo({ rules, moves: next });
			const asked = position.outcome === "ongoing" ? (await runPolicies(name, { rules, moves: next })).points : [];
			if (mine !== turn) return;
			moves = next;
			points = asked;
			board.set({
				width: position.boardXSize,
				height: position.boardYSize,
				stones: stonesOf(next.map((point, i) => ({ point, colour: i % 2 ? "white" : "black", number: i + 1 }))),
				lastMove: next.at(-1) ?? null,
				toPlay: position.outcome === "ongoing" ? position.currentPlayer : null,
				heat: new Map(),
			});
			show(points.length - 1);
			undo.disabled = !moves.length;
			fill(
				winrates,
				chart(
					t("lab.winrate"),
					[{ dots: points.map((point) => ({ x: iterationOf(point), y: 100 * point.winrate })) }],
					{ x: t("lab.axis-iteration"), y: "%" },
				),
			);
		} catch (error) {
			notifyError(error);
		}
	};
	const undo = button(t("action.undo"), () => change(moves.slice(0, -1)));
	fill(
		side,
		h("p", { class: "soft" }, t("lab.policy-help")),
		field(t("lab.iteration"), slider),
		said,
		h("div", { class: "buttons" }, undo),
		winrates,
	);
	await change([]);
	return [
		heading("runs", `${name}: ${t("lab.policy-history")}`, false),
		h("div", { class: "policy-page" }, container, h("div", { class: "card" }, side)),
	];
}
