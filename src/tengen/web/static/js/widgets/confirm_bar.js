/** The bar below a board that confirms or cancels the pending stone. */

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { button } from "./fields.js";

/** @import { Board } from "../board/board.js" */

/** Create the bar, hidden. `board` is called when a button is pressed. */
export const confirmBar = (/** @type {() => Board} */ board) =>
	h(
		"div",
		{ class: "confirm-bar", hidden: true },
		button(t("cancel"), () => board().set({ pending: null })),
		button(t("place"), () => board().confirm(), { kind: "primary" }),
	);
