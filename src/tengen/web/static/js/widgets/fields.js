/** Styled form fields. */

import { h, icon } from "../dom.js";

let groups = 0;

/** @typedef {[value: string, label: string][]} Options */

export const field = (/** @type {string} */ label, /** @type {HTMLElement} */ control) =>
	h("label", { class: "field", dataset: { focus: label } }, h("span", null, label), control);

/**
 * A row of radio buttons.
 * @param {string} label for screen readers
 * @param {Options} options
 * @param {string} value
 * @param {(value: string) => void} onchange
 */
export function segments(label, options, value, onchange) {
	const name = `group${++groups}`;
	return h(
		"div",
		{ class: "segments", role: "radiogroup", "aria-label": label, dataset: { focus: label } },
		options.map(([key, text]) =>
			h(
				"label",
				null,
				h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onchange(key) }),
				h("span", null, text),
			),
		),
	);
}

/** @param {Options} options @param {string} value @param {(value: string) => void} onchange */
export function choice(options, value, onchange) {
	const select = h(
		"select",
		{ onchange: () => onchange(select.value) },
		options.map(([key, text]) => h("option", { value: key }, text)),
	);
	select.value = value;
	return select;
}

/** @param {string} label @param {boolean} checked @param {(checked: boolean) => void} onchange */
export const check = (label, checked, onchange) =>
	h(
		"label",
		{ class: "check", dataset: { focus: label } },
		h("input", {
			type: "checkbox",
			checked,
			onchange: (/** @type {Event} */ event) => onchange(/** @type {HTMLInputElement} */ (event.target).checked),
		}),
		label,
	);

/**
 * An integer field; out-of-range values are clamped when the field loses focus.
 * @param {number} value @param {number} min @param {number} max @param {(value: number) => void} onchange
 */
export function wholeNumber(value, min, max, onchange) {
	const input = h("input", {
		type: "number",
		value,
		min,
		max,
		step: 1,
		inputMode: "numeric",
		onchange: () => {
			const given = Math.round(Number(input.value));
			input.value = String(Math.max(min, Math.min(max, Number.isFinite(given) ? given : value)));
			onchange(Number(input.value));
		},
	});
	return input;
}

/**
 * @param {string} label @param {() => void} run
 * @param {{ icon?: string, kind?: string, title?: string, pressed?: boolean, disabled?: boolean, showLabel?: boolean }} [look]
 */
export function button(label, run, look = {}) {
	const { kind = "", showLabel = true } = look;
	return h(
		"button",
		{
			type: "button",
			class: `button ${kind}`,
			dataset: { focus: look.icon ?? label },
			disabled: look.disabled ?? false,
			onclick: run,
			title: look.title ?? (showLabel ? null : label),
			"aria-label": showLabel ? null : label,
			"aria-pressed": look.pressed === undefined ? null : String(look.pressed),
		},
		look.icon ? icon(look.icon) : null,
		showLabel ? label : null,
	);
}
