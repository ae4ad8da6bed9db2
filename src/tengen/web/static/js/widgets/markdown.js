/** Renders the Markdown of cards and papers: headings, paragraphs, lists, tables, code, pictures. Never parses HTML. */

import { h } from "../dom.js";

/** @import { Child } from "../dom.js" */

const INLINE =
	/`([^`]+)`|!\[([^\]]*)\]\(([^)\s]+)\)|\[([^\]]+)\]\(([^)\s]+)\)|<(https?:[^>\s]+)>|\*\*([^*]+)\*\*|\*([^*]+)\*/g;
const ROW = /^\|.*\|$/;
const ITEM = /^(\s*)([-*]|\d+\.)\s+/;
const BLOCK = /^(#{1,6} |```|\||\s*[-*] |\s*\d+\. |$)/;

/** @typedef {(file: string) => string | null} Figure the address of a picture; null if it is not shown */

/** Render code, links, pictures and emphasis in a line. @returns {Child[]} */
function inline(/** @type {string} */ text, /** @type {Figure} */ figure) {
	/** @type {Child[]} */
	const parts = [];
	let end = 0;
	for (const match of text.matchAll(INLINE)) {
		const [whole, code, alt, image, label, target, address, bold, emphasis] = match;
		parts.push(text.slice(end, match.index));
		end = (match.index ?? 0) + whole.length;
		if (code) parts.push(h("code", null, code));
		else if (image) parts.push(picture(image, alt ?? "", figure));
		else if (label) parts.push(link(target ?? "", inline(label, figure)));
		else if (address) parts.push(link(address, [address]));
		else if (bold) parts.push(h("strong", null, inline(bold, figure)));
		else if (emphasis) parts.push(h("em", null, inline(emphasis, figure)));
	}
	parts.push(text.slice(end));
	return parts;
}

/** A link to another site; links to files of the repository become plain text, because the server does not show them. */
const link = (/** @type {string} */ target, /** @type {Child[]} */ label) =>
	/^https?:\/\//.test(target)
		? h("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, label)
		: h("span", null, label);

function picture(/** @type {string} */ file, /** @type {string} */ alt, /** @type {Figure} */ figure) {
	const src = figure(file.split("/").at(-1) ?? "");
	return src ? h("img", { src, alt, loading: "lazy" }) : alt;
}

const cellsOf = (/** @type {string} */ row) =>
	row
		.slice(1, -1)
		.split(/(?<!\\)\|/)
		.map((cell) => cell.trim().replaceAll("\\|", "|"));

function table(/** @type {string[]} */ rows, /** @type {Figure} */ figure) {
	const [head = "", rule = "", ...body] = rows;
	const kinds = cellsOf(rule).map((cell) => (cell.endsWith(":") ? "num" : ""));
	const row = (/** @type {"th" | "td"} */ tag, /** @type {string} */ text) =>
		h(
			"tr",
			null,
			cellsOf(text).map((cell, i) =>
				h(tag, { class: kinds[i] ?? "", scope: tag === "th" ? "col" : null }, inline(cell, figure)),
			),
		);
	return h(
		"div",
		{ class: "scroll", tabIndex: 0, role: "group" },
		h(
			"table",
			null,
			h("thead", null, row("th", head)),
			h(
				"tbody",
				null,
				body.map((text) => row("td", text)),
			),
		),
	);
}

/**
 * Draw a Markdown text.
 * @param {string} text
 * @param {Figure} figure
 * @returns {HTMLElement[]}
 */
export function markdown(text, figure) {
	const lines = text.replaceAll("\r", "").split("\n");
	/** @type {HTMLElement[]} */
	const blocks = [];
	const take = (/** @type {(line: string) => boolean} */ belongs) => {
		const taken = [];
		while (lines.length && belongs(lines[0] ?? "")) taken.push(lines.shift() ?? "");
		return taken;
	};
	while (lines.length) {
		const line = lines[0] ?? "";
		const heading = /^(#{1,6}) (.*)$/.exec(line);
		if (!line.trim()) lines.shift();
		else if (heading) {
			lines.shift();
			// The page has h1 and h2 already.
			const tag = /** @type {"h3" | "h4" | "h5"} */ (`h${Math.min(5, (heading[1]?.length ?? 1) + 2)}`);
			blocks.push(h(tag, null, inline(heading[2] ?? "", figure)));
		} else if (line.startsWith("```")) {
			lines.shift();
			const code = take((each) => !each.startsWith("```"));
			lines.shift();
			blocks.push(h("pre", { class: "small scroll", tabIndex: 0 }, code.join("\n")));
		} else if (ROW.test(line))
			blocks.push(
				table(
					take((each) => ROW.test(each)),
					figure,
				),
			);
		else if (ITEM.test(line))
			blocks.push(
				list(
					take((each) => ITEM.test(each) || /^\s+\S/.test(each)),
					figure,
				),
			);
		else {
			const first = lines.shift() ?? "";
			const rest = take((each) => !BLOCK.test(each));
			blocks.push(h("p", null, inline([first, ...rest].join(" "), figure)));
		}
	}
	return blocks;
}

/** Draw a list; indented lines belong to the item above them. */
function list(/** @type {string[]} */ lines, /** @type {Figure} */ figure) {
	/** @type {string[]} */
	const items = [];
	for (const line of lines) {
		if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
		else items.push(`${items.pop() ?? ""} ${line.trim()}`);
	}
	return h(
		/^\s*\d/.test(lines[0] ?? "") ? "ol" : "ul",
		null,
		items.map((item) => h("li", null, inline(item, figure))),
	);
}
