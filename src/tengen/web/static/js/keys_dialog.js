/** The dialog that lists the keys of the current page, and lets the user change them. */

import { fill, h, keepingFocus } from "./dom.js";
import { t } from "./i18n.js";
import { bindingsOf, mayChoose, userOf } from "./keys.js";
import { openDialog } from "./notice.js";
import { change, settings } from "./settings.js";
import { pageOfKeys } from "./shortcuts.js";
import { button } from "./widgets/fields.js";

/** @import { Binding, Scope } from "./keys.js" */

const SHOWN = /** @type {Record<string, string>} */ ({
	ArrowLeft: "←",
	ArrowRight: "→",
	ArrowUp: "↑",
	ArrowDown: "↓",
	Delete: "Del",
	Escape: "Esc",
});
/** The keys of the board while it has the focus; they cannot be changed. @type {Pick<Binding, "keys" | "label">[]} */
const ON_BOARD = [
	{ keys: ["Tab"], label: "key.board-focus" },
	{ keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], label: "key.board-move" },
	{ keys: ["Enter"], label: "key.board-place" },
	{ keys: ["Escape"], label: "key.board-leave" },
];

const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta"]);

const shownKey = (/** @type {string} */ key) => (key === " " ? t("key.space") : (SHOWN[key] ?? key));
const shownKeys = (/** @type {readonly string[]} */ keys) => keys.map((key) => h("kbd", null, shownKey(key)));

export function showKeys() {
	const page = pageOfKeys();
	const columns = h("div", { class: "key-columns" });
	const notes = h("p", { class: "soft small", role: "status" }, t("keys.help"));
	const reset = button(t("keys.reset"), () => {
		change({ keys: {} });
		notes.textContent = t("keys.help");
		draw();
	});

	const choose = (/** @type {Scope} */ scope, /** @type {Binding} */ { action, label }, /** @type {string} */ key) => {
		const user = userOf(scope, action, key, settings.keys);
		if (!mayChoose(key)) notes.textContent = t("keys.reserved", { key: shownKey(key) });
		else if (user) notes.textContent = t("keys.used", { key: shownKey(key), action: t(user.label) });
		else {
			change({ keys: { ...settings.keys, [`${scope}.${action}`]: key } });
			notes.textContent = t("keys.changed", { key: shownKey(key), action: t(label) });
		}
		draw();
	};

	const row = (/** @type {Scope} */ scope, /** @type {Binding} */ binding) => {
		const { action, keys, label } = binding;
		let isWaiting = false;
		const wait = (/** @type {boolean} */ waits, /** @type {string} */ note) => {
			isWaiting = waits;
			control.classList.toggle("is-waiting", waits);
			fill(control, waits ? "…" : shownKeys(keys));
			notes.textContent = note;
		};
		const control = h(
			"button",
			{
				type: "button",
				class: "key-button",
				dataset: { focus: `${scope}.${action}` },
				"aria-label": t("keys.change", { action: t(label), key: keys.map(shownKey).join(", ") }),
				onclick: () => wait(true, t("keys.press", { action: t(label) })),
				onblur: () => isWaiting && wait(false, t("keys.help")),
				onkeydown: (/** @type {KeyboardEvent} */ event) => {
					if (!isWaiting || event.key === "Tab" || MODIFIERS.has(event.key)) return;
					event.preventDefault();
					event.stopPropagation();
					if (event.key === "Escape") wait(false, t("keys.help"));
					else {
						isWaiting = false;
						choose(scope, binding, event.key);
					}
				},
			},
			shownKeys(keys),
		);
		return [h("dt", null, control), h("dd", null, t(label))];
	};
	const part = (/** @type {string} */ title, /** @type {HTMLElement[]} */ rows) => [
		h("h3", null, t(title)),
		h("dl", { class: "keys" }, rows),
	];
	const rowsOf = (/** @type {Scope} */ scope) => bindingsOf(scope, settings.keys).flatMap((one) => row(scope, one));
	const fixed = (/** @type {Pick<Binding, "keys" | "label">} */ { keys, label }) => [
		h("dt", null, shownKeys(keys)),
		h("dd", null, t(label)),
	];
	const draw = () => {
		keepingFocus(columns, () =>
			fill(
				columns,
				settings.shortcuts ? part("keys.page", rowsOf(page)) : null,
				part("keys.board", ON_BOARD.flatMap(fixed)),
				settings.shortcuts ? part("keys.everywhere", rowsOf("everywhere")) : null,
			),
		);
		reset.disabled = !Object.keys(settings.keys).length;
	};
	draw();
	openDialog(
		t("keys.title"),
		() =>
			settings.shortcuts
				? [columns, h("div", { class: "row-between" }, notes, reset)]
				: [h("p", null, t("keys.off")), columns],
		"wide",
	);
}
