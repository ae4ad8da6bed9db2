/** The list of threats on the board and the result of a search for a forced win. */

import { shownPoint } from "../board/points.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { button } from "./fields.js";

/** @import { SolveMessage, Threat } from "../messages.js" */
/** @typedef {SolveMessage | "waiting" | null} Solved the result of a search for a forced win */

/**
 * Create the items of the list.
 * @param {Threat[] | null} standing null if threats are hidden
 * @param {Solved} solved
 * @param {(pv: string[]) => void} onInsert called to add the winning line to the tree
 */
export function threatItems(standing, solved, onInsert) {
	const items = (standing ?? []).map((threat) => h("li", null, threatText(threat)));
	if (standing && !standing.length) items.push(h("li", { class: "soft" }, t("threat.none")));
	if (solved === "waiting") items.push(h("li", { class: "soft" }, t("solve.waiting")));
	else if (solved) items.push(solvedItem(solved, onInsert));
	return items;
}

const threatText = (/** @type {Threat} */ { colour, kind, stones, answers }) =>
	t("threat.text", {
		colour: t(colour),
		kind: t(`threat.${kind.replaceAll(" ", "-")}`),
		stones: stones.map(shownPoint).join(" "),
		answers: answers.map(shownPoint).join(" ") || "–",
	});

function solvedItem(/** @type {SolveMessage} */ { verdict, kind, pv }, /** @type {(pv: string[]) => void} */ onInsert) {
	const values = { kind: kind.toUpperCase(), moves: Math.ceil(pv.length / 2) };
	return h(
		"li",
		{ class: "strong" },
		t(`solve.${verdict.replaceAll(" ", "-")}`, values),
		" ",
		verdict === "win" ? button(t("solve.insert"), () => onInsert(pv), { kind: "bare" }) : null,
	);
}
