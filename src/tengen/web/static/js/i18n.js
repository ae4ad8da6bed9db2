// @ts-check
/** The texts of the page: one file per language under i18n/, all with the same keys (a test compares them). */

export const LANGUAGES = /** @type {const} */ ({ en: "English", zh: "中文" });

/** @type {Record<string, string>} */
let texts = {};
let language = "en";

/** Return the chosen language, or the browser's preferred one. */
export function preferredLanguage(/** @type {string | null} */ wanted) {
  if (wanted && wanted in LANGUAGES) return wanted;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Load the texts of a language and set the language of the document. */
export async function loadLanguage(/** @type {string} */ name) {
  const answer = await fetch(new URL(`../i18n/${name}.json`, import.meta.url));
  if (!answer.ok)
    throw new Error(`cannot load the texts for language "${name}": the server returned status ${answer.status}`);
  texts = await answer.json();
  language = name;
  document.documentElement.lang = name === "zh" ? "zh-Hans" : name;
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

/** Like `t`, but null if the text is missing. */
export const tIfKnown = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values) =>
  key in texts ? t(key, values) : null;

/** Translate an English text from the server; unchanged if there is no translation. */
export const translated = (/** @type {string} */ text) => texts[`text.${text}`] ?? text;

/** Format a number for the language: 12,345, or 1.2M with `compact`. */
export function number(/** @type {number} */ value, compact = false) {
  return new Intl.NumberFormat(language, compact ? { notation: "compact", maximumFractionDigits: 1 } : {}).format(
    value,
  );
}
