/** Runs the keyboard shortcuts of the current page (the table is in keys.js). Keys typed into a field or a dialog are
 *  ignored. A setting turns off all shortcuts, because speech input can trigger them by accident. */

import { actionOf } from "./keys.js";
import { settings } from "./settings.js";

/** @import { Actions, Scope } from "./keys.js" */

/** The current page, and the actions of its keys. @type {{ page: Scope, actions: Partial<Record<Scope, Record<string, () => void>>> }} */
const current = { page: "play", actions: {} };

export const pageOfKeys = () => current.page;

export const setGlobalActions = (/** @type {Actions<"everywhere">} */ actions) =>
	(current.actions.everywhere = actions);

export function setPageActions(/** @type {Scope} */ page, /** @type {Record<string, () => void>} */ actions) {
	current.page = page;
	current.actions = { everywhere: current.actions.everywhere ?? {}, [page]: actions };
}

/** The control that a click has focused. Keys go to the page, as if it were not focused. @type {Element | null} */
let clicked = null;

export function listen() {
	document.addEventListener("pointerdown", (event) => {
		clicked = /** @type {Element} */ (event.target).closest("button, a, summary");
	});
	// Some browsers press a button when Space is released.
	document.addEventListener("keyup", (event) => {
		if (event.key === " " && clicked !== null && event.target === clicked) event.preventDefault();
	});
	document.addEventListener("focusin", (event) => {
		if (event.target === clicked) return;
		// A redraw may have replaced the clicked control; the focus is on the new one (`keepingFocus`).
		clicked = clicked && !clicked.isConnected ? /** @type {Element} */ (event.target) : null;
	});
	document.addEventListener("keydown", (event) => {
		if (event.key === "Tab") clicked = null;
		if (!settings.shortcuts || event.defaultPrevented || event.isComposing || isOfSystem(event)) return;
		const target = /** @type {HTMLElement} */ (event.target);
		if (target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog, [contenteditable]"))
			return;
		// Space and Enter belong to a button that was focused with the keyboard, arrow keys to a group of radio buttons.
		const isPress = event.key === " " || event.key === "Enter";
		if (isPress && target !== clicked && target.closest("button, a, summary, input")) return;
		if (event.key.startsWith("Arrow") && target.closest("input")) return;
		const found = actionOf(current.page, event.key, settings.keys);
		// Space never presses the button that was clicked last.
		if (event.key === " " && target === clicked) event.preventDefault();
		const run = found && current.actions[found.scope]?.[found.action];
		if (!run) return;
		event.preventDefault();
		run();
	});
}

/** Whether a combination of keys belongs to the browser, the system or a screen reader: with Ctrl, Alt or the system key,
 *  or with Shift and a key that is not a character. AltGr types characters on many keyboards. */
function isOfSystem(/** @type {KeyboardEvent} */ event) {
	if (event.metaKey) return true;
	if ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph")) return true;
	return event.shiftKey && (event.key.length > 1 || event.key === " ");
}
