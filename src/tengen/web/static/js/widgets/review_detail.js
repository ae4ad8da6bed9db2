/** The card of a reviewed move: its verdict and reason, the lines that can be played, and the attempts at a better move. */

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { proofForBlack } from "./chances.js";
import { button } from "./fields.js";
import { linePlayer } from "./line_player.js";
import { reasonSentence } from "./reasons.js";

/** @import { JudgeMessage, ReviewMove } from "../messages.js" */

/** @typedef {{ kind: "refutation" | "better", step: number }} ShownLine a line on the board and the number of its moves shown */
/** @typedef {{ ply: number, point: string | null, verdict: JudgeMessage | null }} Attempt another move in place of a mistake; `point` and `verdict` are null until they are known */
/** @typedef {{ plies: number[], solved: Set<number> }} Lesson the mistakes of "learn from your mistakes" */

/**
 * @typedef {object} Actions what the buttons of the card do
 * @property {() => void} tryAgain
 * @property {(kind: ShownLine["kind"]) => void} showLine
 * @property {(step: number) => void} step
 * @property {() => void} back leave the line or the attempt
 * @property {() => void} next go to the next mistake of the lesson
 * @property {() => void} analyse
 */

const BAD = ["inaccuracy", "mistake", "blunder"];
export const isBad = (/** @type {ReviewMove["quality"]} */ quality) => BAD.includes(quality);

export const lineOf = (/** @type {ReviewMove} */ judged, /** @type {ShownLine["kind"]} */ kind) =>
	kind === "better" ? judged.better : judged.refutation;

/** The verdict on an attempt, with its reason. */
export function verdictText(/** @type {JudgeMessage} */ { move, judged }) {
	const reason = isBad(judged.quality) ? judged.reason : judged.betterReason;
	const key = isBad(judged.quality) ? "review.try-bad" : "review.try-good";
	return t(key, {
		move,
		quality: t(`quality.${judged.quality}`),
		loss: Math.round(100 * judged.winrateLoss),
		reason: reason ? reasonSentence(reason) : "",
	});
}

const heading = (/** @type {ReviewMove} */ { turnNumber, colour, move, quality }) =>
	h(
		"div",
		{ class: "row-between" },
		h("h3", null, `${turnNumber}. ${t(colour)} ${move}`),
		h("span", { class: `quality ${quality}` }, t(`quality.${quality}`)),
	);

/** The card of the selected move. @returns {Node[]} */
export function moveCard(
	/** @type {ReviewMove} */ judged,
	/** @type {ShownLine | null} */ shown,
	/** @type {Actions} */ actions,
) {
	const loss = Math.round(100 * judged.winrateLoss);
	const hasBetter = judged.better[0] !== undefined && judged.better[0] !== judged.move;
	const toggle = (/** @type {ShownLine["kind"]} */ kind, /** @type {string} */ icon) =>
		button(t(`review.${kind}`), () => (shown?.kind === kind ? actions.back() : actions.showLine(kind)), {
			icon,
			pressed: shown?.kind === kind,
		});
	return [
		heading(judged),
		...(judged.reason ? [h("p", { class: "reason" }, reasonSentence(judged.reason))] : []),
		h(
			"p",
			{ class: "small soft" },
			loss ? t("review.lost", { loss }) : t("review.nothing-lost"),
			judged.isKey ? ` ${t("review.key")}` : "",
		),
		...(shown ? shownLine(judged, shown, actions) : []),
		h(
			"div",
			{ class: "buttons even" },
			isBad(judged.quality) ? button(t("review.try-again"), actions.tryAgain, { kind: "primary", icon: "undo" }) : null,
			judged.refutation.length ? toggle("refutation", "forward") : null,
			hasBetter ? toggle("better", "hint") : null,
			button(t("page.analyse"), actions.analyse, { icon: "analyse" }),
		),
	];
}

function shownLine(/** @type {ReviewMove} */ judged, /** @type {ShownLine} */ shown, /** @type {Actions} */ actions) {
	const isBetter = shown.kind === "better";
	const chance = isBetter
		? (proofForBlack(judged.betterProof, judged.colour)?.replace("-", "−") ??
			t("chances.of-black", { percent: Math.round(100 * judged.blackWinrateBefore) }))
		: "";
	const text = isBetter
		? t("review.best", { move: judged.better[0] ?? "", chance })
		: t("review.refutation.text", { move: judged.move });
	return [
		h("p", { class: "small" }, text, isBetter && judged.betterReason ? ` ${reasonSentence(judged.betterReason)}` : ""),
		linePlayer(lineOf(judged, shown.kind), shown.step, actions.step),
	];
}

/** The card of an attempt; in a lesson, it also shows the number of the mistake. @returns {Node[]} */
export function attemptCard(
	/** @type {ReviewMove} */ judged,
	/** @type {Attempt} */ attempt,
	/** @type {Lesson | null} */ lesson,
	/** @type {Actions} */ actions,
) {
	const { point, verdict } = attempt;
	const isDone = verdict !== null && !isBad(verdict.judged.quality);
	const text = !point
		? t("review.your-try", { colour: t(judged.colour), move: judged.move })
		: verdict
			? verdictText(verdict)
			: t("thinking");
	const place = lesson ? lesson.plies.indexOf(attempt.ply) + 1 : 0;
	return [
		h(
			"div",
			{ class: "row-between" },
			h("h3", null, t(lesson ? "review.learn" : "review.try-again")),
			lesson
				? h("span", { class: "soft small" }, t("review.learn.place", { place, count: lesson.plies.length }))
				: null,
		),
		h("p", { class: `verdict${isDone ? " is-right" : ""}`, role: "status" }, text),
		h(
			"div",
			{ class: "buttons even" },
			verdict && !isDone ? button(t("review.again"), actions.tryAgain, { kind: "primary", icon: "undo" }) : null,
			lesson && (isDone || !verdict)
				? button(t(isDone ? "review.next" : "review.skip"), actions.next, {
						kind: isDone ? "primary" : "",
						icon: "last",
					})
				: null,
			button(t("review.show-answer"), () => actions.showLine("better"), { icon: "hint" }),
			button(t("back"), actions.back),
		),
	];
}
