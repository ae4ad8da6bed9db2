// @ts-check
/** The words of the page: one file per language under i18n/, the same keys in each (a test compares them). */

export const LANGUAGES = /** @type {const} */ ({ en: "English", zh: "中文" });

/** @type {Record<string, string>} */
let texts = {};
let language = "en";

/** The language asked for, or what the browser prefers. */
export function preferredLanguage(/** @type {string | null} */ wanted) {
  if (wanted && wanted in LANGUAGES) return wanted;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Load a language and name it in the document. */
export async function loadLanguage(/** @type {string} */ name) {
  const answer = await fetch(new URL(`../i18n/${name}.json`, import.meta.url));
  if (!answer.ok) throw new Error(`no texts for ${name}`);
  texts = await answer.json();
  language = name;
  document.documentElement.lang = name === "zh" ? "zh-Hans" : name;
}

/**
 * The text of a key, with {names} filled in; the key itself where a text is missing.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  const text = texts[key] ?? key;
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : text;
}

/** As `t`, but null where there is no text. */
export const tIfKnown = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ values) => (key in texts ? t(key, values) : null);

/** A text of the server, which speaks English, in the language of the page where there is a translation. */
export const translated = (/** @type {string} */ text) => texts[`text.${text}`] ?? text;

/** A number the way the language writes it: 12,345 or 1.2M with `compact`. */
export function number(/** @type {number} */ value, compact = false) {
  return new Intl.NumberFormat(language, compact ? { notation: "compact", maximumFractionDigits: 1 } : {}).format(value);
}
