/** Steps through a line of moves: one button per move, and buttons for the previous and next move. */

import { shownPoint } from "../board/points.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { button } from "./fields.js";

/**
 * @param {string[]} line
 * @param {number} step the number of moves shown on the board
 * @param {(step: number) => void} onStep
 */
export function linePlayer(line, step, onStep) {
	const move = (/** @type {string} */ point, /** @type {number} */ i) =>
		h(
			"button",
			{
				type: "button",
				class: "button bare line-move",
				dataset: { focus: `line ${i + 1}` },
				"aria-current": i + 1 === step ? "step" : null,
				onclick: () => onStep(i + 1),
			},
			`${i + 1}. ${shownPoint(point)}`,
		);
	return h(
		"div",
		{ class: "line-player", role: "group", "aria-label": t("line") },
		button(t("key.back"), () => onStep(step - 1), { icon: "back", kind: "bare", showLabel: false, disabled: step < 1 }),
		button(t("key.forward"), () => onStep(step + 1), {
			icon: "forward",
			kind: "bare",
			showLabel: false,
			disabled: step >= line.length,
		}),
		line.map(move),
	);
}
