/** The players and the rules of a studied game, and the dialog that changes them. */

import { positionInfo } from "../api.js";
import { h } from "../dom.js";
import { rulesText } from "../headline.js";
import { t } from "../i18n.js";
import { openDialog } from "../notice.js";
import { sizeOf } from "../workspace.js";
import { choice, field, wholeNumber } from "./fields.js";

/** @import { ServerInfo } from "../messages.js" */
/** @import { Header, PositionFields } from "../workspace.js" */

/** @typedef {{ rules: string, header: Header }} Described */

const LENGTHS = ["3", "4", "5", "6"];
const [SMALLEST, LARGEST] = [3, 22];
const LONGEST_NAME = 80;

/** The line above the moves: both players and the rules. */
export function headerLine(/** @type {Described} */ { rules, header }) {
	const player = (/** @type {"black" | "white"} */ colour) => [
		h("span", { class: `disc ${colour}`, role: "img", "aria-label": t(colour) }),
		h("strong", { class: "player-name" }, header[colour] || t(colour)),
	];
	return h(
		"div",
		{ class: "game-header" },
		h("div", { class: "row-start" }, player("black"), player("white")),
		h("span", { class: "soft small" }, rulesText(rules)),
	);
}

/**
 * Let the user edit names and rules; null if the dialog is cancelled. The server checks that the position is possible
 * under the new rules.
 * @param {Described} described
 * @param {ServerInfo} info
 * @param {(rules: string) => PositionFields} positionUnder the last position of the game under other rules
 * @returns {Promise<Described | null>}
 */
export function editHeader({ rules, header }, info, positionUnder) {
	const size = sizeOf(rules);
	const [, length = "5", rule = "freestyle"] = rules.split(":");
	const form = { ...size, length, rule };
	const name = (/** @type {"black" | "white"} */ colour) =>
		h("input", { value: header[colour] ?? "", maxLength: LONGEST_NAME, autocomplete: "off" });
	const names = { black: name("black"), white: name("white") };
	return openDialog(t("header.edit"), (/** @type {(answer: Described | null) => void} */ close) => {
		const failure = h("p", { class: "field-error small", role: "alert", hidden: true });
		const submit = async (/** @type {Event} */ event) => {
			event.preventDefault();
			const changed = `${form.width}x${form.height}:${form.length}:${form.rule}`;
			try {
				if (changed !== rules) await positionInfo(positionUnder(changed));
			} catch (error) {
				failure.hidden = false;
				failure.textContent = error instanceof Error ? error.message : String(error);
				return;
			}
			const [black, white] = [names.black.value.trim(), names.white.value.trim()];
			close({ rules: changed, header: { ...header, black, white } });
		};
		return [
			h(
				"form",
				{ class: "stack", onsubmit: submit },
				h("div", { class: "fields" }, field(t("black"), names.black), field(t("white"), names.white)),
				h(
					"div",
					{ class: "fields" },
					field(
						t("rule"),
						choice(
							info.rules.map((each) => [each, t(`rule.${each}`)]),
							rule,
							(value) => (form.rule = value),
						),
					),
					field(
						t("win-length"),
						choice(
							LENGTHS.map((each) => [each, each]),
							length,
							(value) => (form.length = value),
						),
					),
					field(
						t("size.width"),
						wholeNumber(size.width, SMALLEST, LARGEST, (value) => (form.width = value)),
					),
					field(
						t("size.height"),
						wholeNumber(size.height, SMALLEST, LARGEST, (value) => (form.height = value)),
					),
				),
				failure,
				h("button", { class: "button primary", type: "submit" }, t("header.save")),
			),
		];
	});
}
