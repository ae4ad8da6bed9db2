/** Notices, the live region for screen readers, and dialogs. */

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";

const SHOWN_MS = 6000;
/** Notices with an undo button stay longer. */
const SHOWN_WITH_ACTION_MS = 20000;

/** Show a notice for a few seconds; `action` adds a button, such as undo. */
export function notify(
	/** @type {string} */ text,
	{ error = false, action = /** @type {{ label: string, run: () => void } | null} */ (null) } = {},
) {
	const notice = h("div", { class: `notice${error ? " error" : ""}` }, text);
	if (action) {
		notice.append(
			" ",
			h(
				"button",
				{
					class: "button bare",
					type: "button",
					onclick: () => {
						action.run();
						notice.remove();
					},
				},
				action.label,
			),
		);
	}
	const notices = /** @type {HTMLElement} */ (document.getElementById("notices"));
	while (notices.children.length > 2) notices.firstChild?.remove();
	notices.append(notice);
	setTimeout(() => notice.remove(), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

export const notifyError = (/** @type {unknown} */ error) =>
	notify(error instanceof Error ? error.message : String(error), { error: true });

export function announce(/** @type {string} */ text) {
	const log = /** @type {HTMLElement} */ (document.getElementById("announcer"));
	log.append(h("p", null, text));
	while (log.children.length > 20) log.firstChild?.remove();
}

/**
 * Open a dialog. `build` receives a function that closes the dialog with an answer; Escape closes it with null.
 * @template T
 * @param {string} title
 * @param {(close: (answer: T | null) => void) => (Node | string | null)[]} build
 * @param {string} [look] a CSS class
 * @returns {Promise<T | null>}
 */
export function openDialog(title, build, look = "") {
	return new Promise((resolve) => {
		/** @type {T | null} */
		let answer = null;
		const dialog = h("dialog", { "aria-label": title, class: look });
		const close = (/** @type {T | null} */ given) => {
			answer = given;
			dialog.close();
		};
		fill(
			dialog,
			h(
				"div",
				{ class: "dialog" },
				h(
					"div",
					{ class: "row-between" },
					h("h2", null, title),
					h(
						"button",
						{ class: "button bare", type: "button", "aria-label": t("close"), onclick: () => close(null) },
						"✕",
					),
				),
				build(close),
			),
		);
		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(answer);
		});
		// A click on the backdrop closes the dialog, like Escape.
		dialog.addEventListener("click", (/** @type {MouseEvent} */ event) => event.target === dialog && close(null));
		document.body.append(dialog);
		dialog.showModal();
	});
}

export async function confirmed(/** @type {string} */ question, /** @type {string} */ yes) {
	const answer = await openDialog(question, (close) => [
		h(
			"div",
			{ class: "buttons even" },
			h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel")),
			h("button", { class: "button primary", type: "button", autofocus: true, onclick: () => close(true) }, yes),
		),
	]);
	return answer === true;
}
