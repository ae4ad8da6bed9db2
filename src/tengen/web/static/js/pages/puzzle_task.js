/** Texts and board state of the current puzzle: the position, the task, the verdict and the line to step through. */

import { shownPoint } from "../board/points.js";
import { stonesOf } from "../board/state.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { hashOf } from "../router.js";
import { button } from "../widgets/fields.js";
import { linePlayer } from "../widgets/line_player.js";
import { other } from "../workspace.js";

/** @import { BoardState } from "../board/state.js" */
/** @import { Puzzle } from "../messages.js" */
/** @import { PuzzlePage } from "./puzzles.js" */

export const taskText = (/** @type {Puzzle} */ { currentPlayer, kind, depth }) =>
	kind === "defence"
		? t("puzzle.task-defence", { colour: t(currentPlayer), depth })
		: t("puzzle.task", { colour: t(currentPlayer), kind: t(`puzzle.${kind}`), depth });

/** The verdict on the last move, or what the user has to do next. */
export function statusText(/** @type {PuzzlePage} */ { isWaiting, verdict, refutation }) {
	if (isWaiting) return t("thinking");
	if (verdict === "") return t("puzzle.your-move");
	const [reply] = refutation;
	if (verdict !== "wrong" || !reply) return t(`puzzle.${verdict}`);
	const values = { point: shownPoint(reply), moves: (refutation.length + 1) >> 1 };
	return t(refutation.length > 1 ? "puzzle.loses" : "puzzle.refuted", values);
}

/** The board after the moves of the user and the opponent. @returns {Partial<BoardState>} */
export function boardOf(/** @type {Puzzle} */ current, /** @type {PuzzlePage} */ page) {
	const { position, verdict } = page;
	const moves = [...page.moves, ...page.refutation.slice(0, page.step)];
	const player = current.currentPlayer;
	const set = current.initialStones.map(([colour, point]) => ({ point, colour }));
	const played = moves.map((point, i) => ({ point, colour: i % 2 ? other(player) : player, number: i + 1 }));
	const mayPlay = !page.isWaiting && (verdict === "" || verdict === "right");
	const lastTry = verdict === "wrong" || verdict === "solved" ? page.moves.at(-1) : null;
	return {
		width: current.boardXSize,
		height: current.boardYSize,
		stones: stonesOf([...set, ...played]),
		lastMove: moves.at(-1) ?? current.lastMove,
		winningLine: verdict === "solved" ? (position?.winningLine ?? []) : [],
		fouls: mayPlay ? (position ?? current).fouls.map((foul) => foul.point) : [],
		toPlay: mayPlay ? player : null,
		numbers: moves.length ? "all" : "off",
		pending: null,
		marks: lastTry ? [{ point: lastTry, kind: verdict === "solved" ? "right" : "wrong" }] : [],
	};
}

export function taskCard(/** @type {Puzzle} */ current, /** @type {PuzzlePage} */ page) {
	const { verdict, refutation } = page;
	const title = current.kind === "defence" ? "puzzle.title-defence" : "puzzle.title";
	return [
		h(
			"div",
			{ class: "row-between" },
			h("h2", null, t(title, { colour: t(current.currentPlayer) })),
			h(
				"span",
				{ class: "stars", role: "img", "aria-label": t("puzzle.grade", { grade: current.grade }) },
				"★".repeat(current.grade) + "☆".repeat(5 - current.grade),
			),
		),
		h("p", null, taskText(current)),
		sourceLine(current),
		h("p", { class: `verdict ${verdict}`, role: "status" }, statusText(page)),
		refutation.length ? linePlayer(refutation, page.step, (step) => page.showStep(step)) : null,
		h(
			"div",
			{ class: "buttons even" },
			button(t("puzzle.again"), () => page.restart(), {
				icon: "undo",
				disabled: !page.moves.length && !refutation.length,
			}),
			button(t("puzzle.solution"), () => page.showSolution(), { icon: "hint", disabled: verdict === "shown" }),
			button(t("puzzle.next"), () => page.next(), { icon: "forward", kind: verdict === "solved" ? "primary" : "" }),
		),
		h(
			"p",
			{ class: "soft small" },
			[current.rules, t("puzzle.rating", { rating: current.rating }), current.source ? "" : current.id]
				.filter(Boolean)
				.join(" · "),
		),
	];
}

/** The mistake from which one of the user's own puzzles was created, with a link to the review. */
function sourceLine(/** @type {Puzzle} */ { source }) {
	if (!source) return null;
	const { gameId, turnNumber, played } = source;
	return h(
		"p",
		{ class: "small puzzle-source" },
		t("puzzle.own.source", { point: shownPoint(played), move: turnNumber }),
		" ",
		h("a", { href: hashOf(`review/${gameId}`, { move: String(turnNumber) }) }, t("puzzle.own.review")),
	);
}
