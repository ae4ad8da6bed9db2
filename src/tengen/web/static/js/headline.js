/** Shows rules in the header: the rule, board size and win length of the game on the page. */

import { t } from "./i18n.js";
import { sizeOf } from "./workspace.js";

let shown = "";

/** A ruleset such as `15x15:5:renju:swap2` in words. */
export function rulesText(/** @type {string} */ rules) {
	const { width, height } = sizeOf(rules);
	const [, length = "5", rule = "freestyle", opening = "free"] = rules.split(":");
	const parts = [t(`rule.${rule}`), `${width} × ${height}`, t("win-length.n", { length })];
	return [...parts, ...(opening === "free" ? [] : [t(`opening.${opening}`)])].join(" · ");
}

export function showRules(/** @type {string | null} */ rules) {
	shown = rules ?? "";
	const line = document.getElementById("rules-line");
	if (line) line.textContent = headline();
}

export const headline = () => (shown ? rulesText(shown) : "");
