/** The report of a review: accuracy of both sides, counts of judgements, and the list of mistakes. */

import { shownPoint } from "../board/points.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { reasonSentence } from "./reasons.js";

/** @import { Colour, ReviewMove, ReviewSummary } from "../messages.js" */
/** @typedef {ReviewMove["quality"]} Quality */

/** @type {Quality[]} */
const QUALITIES = ["best", "good", "inaccuracy", "mistake", "blunder"];
/** @typedef {keyof NonNullable<ReviewSummary["sides"]["black"]>["accuracyByPhase"]} Phase */
/** @type {Phase[]} */
const PHASES = ["opening", "middle", "end"];
/** @type {Colour[]} */
const COLOURS = ["black", "white"];

const qualityLabel = (/** @type {Quality} */ quality) =>
	h("span", { class: `quality ${quality}` }, t(`quality.${quality}`));

/** Create the accuracies and the table of judgements. Without a summary, count the moves judged so far. */
export function reviewTables(/** @type {ReviewSummary | null} */ summary, /** @type {ReviewMove[]} */ judged) {
	const countOf = (/** @type {Colour} */ colour, /** @type {Quality} */ quality) =>
		summary?.sides[colour]?.counts[quality] ??
		judged.filter((move) => move.colour === colour && move.quality === quality).length;
	const row = (/** @type {Quality} */ quality) =>
		h(
			"tr",
			null,
			h("th", { scope: "row" }, qualityLabel(quality)),
			COLOURS.map((colour) => h("td", { class: "num" }, countOf(colour, quality))),
		);
	const phaseRow = (/** @type {Phase} */ phase) =>
		h(
			"tr",
			null,
			h("th", { scope: "row" }, t(`phase.${phase}`)),
			COLOURS.map((colour) => h("td", { class: "num" }, rounded(summary?.sides[colour]?.accuracyByPhase[phase]))),
		);
	const head = [h("th", null, t("review.judgement")), ...COLOURS.map((colour) => h("th", { class: "num" }, t(colour)))];
	return [
		h(
			"div",
			{ class: "accuracies" },
			COLOURS.map((colour) => accuracy(colour, summary?.sides[colour]?.accuracy ?? null)),
		),
		h(
			"table",
			{ class: "small" },
			h("thead", null, h("tr", null, head)),
			h("tbody", null, QUALITIES.map(row)),
			summary
				? h(
						"tbody",
						{ class: "phases" },
						h("tr", null, h("th", { colSpan: 3 }, t("review.by-phase"))),
						PHASES.map(phaseRow),
					)
				: null,
		),
	];
}

const rounded = (/** @type {number | null | undefined} */ value) =>
	value === null || value === undefined ? "–" : Math.round(value);

function accuracy(/** @type {Colour} */ colour, /** @type {number | null} */ value) {
	return h(
		"div",
		{ class: "accuracy" },
		h("span", { class: `disc ${colour}`, "aria-hidden": "true" }),
		h(
			"div",
			null,
			h("div", { class: "accuracy-value" }, rounded(value)),
			h("div", { class: "soft small" }, `${t(colour)} · ${t("accuracy")}`),
		),
	);
}

/**
 * Create a row of the list of mistakes.
 * @param {ReviewMove} judged
 * @param {boolean} isCurrent whether the board shows this move
 * @param {() => void} onSelect
 */
export function mistakeRow({ turnNumber, move, colour, quality, winrateLoss, reason }, isCurrent, onSelect) {
	return h(
		"li",
		null,
		h(
			"button",
			{
				type: "button",
				class: "mistake-row",
				dataset: { focus: `move ${turnNumber}` },
				"aria-current": isCurrent ? "true" : null,
				onclick: onSelect,
			},
			h("span", { class: `disc ${colour}`, "aria-label": t(colour), role: "img" }),
			h("span", null, `${turnNumber}. ${shownPoint(move)}`),
			qualityLabel(quality),
			h("span", { class: "num" }, `−${Math.round(100 * winrateLoss)}%`),
			reason ? h("span", { class: "soft small mistake-reason" }, reasonSentence(reason)) : null,
		),
	);
}
