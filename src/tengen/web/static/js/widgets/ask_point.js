/** A dialog for typing a point. */

import { isPoint } from "../board/points.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { notify, openDialog } from "../notice.js";

/** Ask the user for a point; null if the user cancels or it is not on the board. @returns {Promise<string | null>} */
export async function askPoint(/** @type {import("../board/board.js").Board} */ board) {
	const text = await openDialog(t("key.type-point"), (/** @type {(answer: string | null) => void} */ close) => {
		const input = h("input", {
			placeholder: "h8",
			autofocus: true,
			maxLength: 3,
			autocapitalize: "off",
			autocomplete: "off",
			"aria-label": t("point"),
		});
		const submit = (/** @type {Event} */ event) => {
			event.preventDefault();
			close(input.value.trim().toLowerCase());
		};
		return [
			h(
				"form",
				{ class: "stack", onsubmit: submit },
				input,
				h("button", { class: "button primary", type: "submit" }, t("place")),
			),
		];
	});
	if (text === null || isPoint(text, board.state.width, board.state.height)) return text;
	notify(t("not-a-point", { text }), { error: true });
	return null;
}
