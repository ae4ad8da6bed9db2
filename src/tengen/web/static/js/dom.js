/** Builds elements without HTML strings, so text from a file or an engine is never parsed as HTML. */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | Child[]} Children */

/**
 * Create an HTML element. Keys that start with `on` add listeners; `dataset` and `style` expect objects. Keys that are
 * properties of the element (`value`, `checked`, `disabled`) are set as properties, all others as attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown> | null} [props]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
	const element = document.createElement(tag);
	for (const [key, value] of Object.entries(props ?? {})) {
		if (value === null || value === undefined) continue;
		if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
		else if (key === "class") element.className = String(value);
		else if (key === "dataset") Object.assign(element.dataset, value);
		else if (key === "style") Object.assign(element.style, value);
		else if (key in element && !key.startsWith("aria") && key !== "list" && key !== "role")
			Object.assign(element, { [key]: value });
		else element.setAttribute(key, String(value));
	}
	append(element, children);
	return element;
}

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | null | undefined>} [attributes]
 * @param {...Children} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes, ...children) {
	const element = document.createElementNS(SVG_NAMESPACE, tag);
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (value !== null && value !== undefined) element.setAttribute(key, String(value));
	}
	append(element, children);
	return element;
}

/**
 * @param {Element} element
 * @param {Children[]} children
 */
function append(element, children) {
	for (const child of children.flat()) {
		if (child === null || child === undefined || child === false) continue;
		element.append(child instanceof Node ? child : String(child));
	}
}

/**
 * Replace everything inside an element.
 * @param {Element} element
 * @param {...Children} children
 */
export function fill(element, ...children) {
	element.replaceChildren();
	append(element, children);
}

/**
 * Replace only the children that differ. An unchanged button stays in the document, so a click is not lost if the page
 * is redrawn between pointer down and pointer up. Children that look the same must behave the same.
 * @param {Element} element
 * @param {Node[]} children
 */
export function refill(element, children) {
	children.forEach((child, i) => {
		const there = element.childNodes[i];
		if (!there) element.append(child);
		else if (there !== child && !there.isEqualNode(child)) there.replaceWith(child);
	});
	while (element.childNodes.length > children.length) element.lastChild?.remove();
}

/**
 * Redraw a container without losing the focus: it stays on the same control, or moves to the new control with the same
 * `data-focus`.
 * @param {HTMLElement} container
 * @param {() => void} draw
 */
export function keepingFocus(container, draw) {
	const active = document.activeElement;
	const key =
		active && container.contains(active)
			? /** @type {HTMLElement | null} */ (active.closest("[data-focus]"))?.dataset.focus
			: undefined;
	draw();
	if (key === undefined || (active && container.contains(active))) return;
	const found = /** @type {HTMLElement | null} */ (container.querySelector(`[data-focus="${CSS.escape(key)}"]`));
	const control = found?.matches("button")
		? found
		: found?.querySelector("input:checked, input:not([type=radio]), select");
	/** @type {HTMLElement | null | undefined} */ (control)?.focus();
}

/**
 * Create an icon from the sprite in index.html.
 * @param {string} name
 */
export function icon(name) {
	return svg(
		"svg",
		{ class: "icon", "aria-hidden": "true", viewBox: "0 0 24 24" },
		svg("use", { href: `#icon-${name}` }),
	);
}

/**
 * Return a function that runs `action` once `delayMs` have passed without another call.
 * @template {unknown[]} A
 * @param {(...args: A) => void} action
 * @param {number} delayMs
 */
export function debounce(action, delayMs) {
	let timer = 0;
	const run = (/** @type {A} */ ...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => action(...args), delayMs);
	};
	run.cancel = () => clearTimeout(timer);
	return run;
}

/**
 * Let the browser save a blob as a file.
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
	const url = URL.createObjectURL(blob);
	const link = h("a", { href: url, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}
