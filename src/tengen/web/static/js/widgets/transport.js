/** The buttons that step through a game. */

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { button } from "./fields.js";

/** @param {(steps: number) => void} onWalk called with the number of moves; negative for back, infinite for the ends */
export function transport(onWalk) {
	const step = (/** @type {string} */ key, /** @type {string} */ icon, /** @type {number} */ steps) =>
		button(t(key), () => onWalk(steps), { icon, showLabel: false });
	return h(
		"div",
		{ class: "transport", role: "group", "aria-label": t("walk") },
		step("key.first", "first", -Infinity),
		step("key.back", "back", -1),
		step("key.forward", "forward", 1),
		step("key.last", "last", Infinity),
	);
}
