/** The strings of the page: one file per language under i18n/, all with the same keys (a test compares them). A new
 *  language needs a file and a line in LANGUAGES. */

/** The languages by file name: the displayed name, and the language tag of the document. @type {Record<string, { name: string, tag: string }>} */
export const LANGUAGES = { en: { name: "English", tag: "en" }, zh: { name: "中文", tag: "zh-Hans" } };

/** @type {Record<string, string>} */
let texts = {};
let language = "en";
/** The patterns of the server's messages with their translations, the most specific ones first. @type {[RegExp, string][]} */
let patterns = [];

export function preferredLanguage(/** @type {string | null} */ wanted) {
	if (wanted && wanted in LANGUAGES) return wanted;
	const own = navigator.languages.map((tag) => tag.toLowerCase().split("-")[0] ?? "");
	return own.find((name) => name in LANGUAGES) ?? "en";
}

/** Load the strings of a language and set the language of the document. */
export async function loadLanguage(/** @type {string} */ name) {
	const answer = await fetch(new URL(`../i18n/${name}.json`, import.meta.url));
	if (!answer.ok)
		throw new Error(`cannot load the texts for language "${name}": the server returned status ${answer.status}`);
	texts = await answer.json();
	language = name;
	patterns = Object.keys(texts)
		.filter((key) => key.startsWith(FAULT) || (key.startsWith(TEXT) && key.includes("{1}")))
		.sort((a, b) => literal(b) - literal(a))
		.map((key) => [patternOf(key.slice(key.indexOf(".") + 1)), texts[key] ?? ""]);
	document.documentElement.lang = LANGUAGES[name]?.tag ?? name;
}

/**
 * Return the text for a key, with its {placeholders} filled in; the key itself if the text is missing.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
	const text = texts[key] ?? key;
	return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : text;
}

/** Return the text for a count; the key with `.one` holds the singular. */
export const counted = (/** @type {string} */ key, /** @type {number} */ count) =>
	t(count === 1 ? `${key}.one` : key, { count: number(count) });

/** Like `t`, but null if the text is missing. */
export const tIfKnown = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values) =>
	key in texts ? t(key, values) : null;

/** Key prefixes of the server's errors and of its other messages. */
const [FAULT, TEXT] = ["fault.", "text."];
/** The number of characters of a template outside its placeholders. */
const literal = (/** @type {string} */ template) => template.replace(/\{\d+\}/g, "").length;

/** The pattern of a template such as "cannot play {1}: {2}". */
function patternOf(/** @type {string} */ template) {
	const escaped = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d+\}/g, "(.+?)");
	return new RegExp(`^${escaped}$`, "s");
}

/** Translate an English message from the server and the text it quotes; unchanged if there is no translation. @returns {string} */
export function translated(/** @type {string} */ text) {
	const whole = texts[TEXT + text];
	if (whole !== undefined) return whole;
	for (const [pattern, translation] of patterns) {
		const found = pattern.exec(text);
		if (found) return translation.replace(/\{(\d+)\}/g, (_, place) => translated(found[Number(place)] ?? ""));
	}
	return text;
}

/** Format a number for the language: 12,345, or 1.2M with `compact`. */
export function number(/** @type {number} */ value, compact = false) {
	return new Intl.NumberFormat(language, compact ? { notation: "compact", maximumFractionDigits: 1 } : {}).format(
		value,
	);
}
