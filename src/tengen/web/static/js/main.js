/** Starts the application: language, theme, header, routing. Each page is a module, loaded when first opened. */

import { socket } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { headline, showRules } from "./headline.js";
import { LANGUAGES, loadLanguage, preferredLanguage, t } from "./i18n.js";
import { showKeys } from "./keys_dialog.js";
import { notifyError } from "./notice.js";
import { go, parseRoute } from "./router.js";
import { applyTheme, change, isDark, onChange, settings } from "./settings.js";
import { openSettings } from "./settings_dialog.js";
import { listen, setGlobalActions, setPageActions } from "./shortcuts.js";
import { workspace } from "./workspace.js";

/** @import { Route } from "./router.js" */

/**
 * @typedef {object} Page the result of a page's `mount`
 * @property {() => void} unmount
 * @property {Record<string, () => void>} actions functions that the keys of the page call (keys.js)
 * @property {(route: Route) => void} [follow] called when the address changes within the page
 */

const PAGES = /** @type {const} */ (["play", "analyse", "review", "games", "puzzles", "laboratory"]);

/** The page named in the address; the play page if there is no such page. */
const pageIn = (/** @type {Route} */ { page }) => PAGES.find((name) => name === page) ?? "play";

/** The next style of coordinates. @type {Record<string, string>} */
const COORDINATES = { letters: "numbers", numbers: "off", off: "letters" };

/** The next style of move numbers. @type {Record<string, string>} */
const NUMBERS = { off: "last", last: "all", all: "off" };

const head = /** @type {HTMLElement} */ (document.getElementById("head"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const offline = /** @type {HTMLElement} */ (document.getElementById("offline"));

/** @type {{ name: string, page: Page } | null} */
let current = null;
let opening = 0;

function drawHead() {
	const page = pageIn(parseRoute(location.hash));
	const tool = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ run) =>
		h("button", { class: "button bare", type: "button", title: label, "aria-label": label, onclick: run }, icon(name));
	fill(
		head,
		h(
			"a",
			{ class: "brand", href: "#/play" },
			h("img", { src: new URL("../img/icon.svg", import.meta.url).href, alt: "", width: 30, height: 30 }),
			"Tengen",
		),
		h(
			"nav",
			{ class: "nav", "aria-label": t("pages") },
			PAGES.map((name) =>
				h("a", { href: `#/${name}`, "aria-current": name === page ? "page" : null }, icon(name), t(`page.${name}`)),
			),
		),
		h("span", { id: "rules-line", class: "rules-line soft small" }, headline()),
		h(
			"div",
			{ class: "tools" },
			tool(settings.sound ? "sound" : "mute", t(settings.sound ? "sound.off" : "sound.on"), () =>
				change({ sound: !settings.sound }),
			),
			tool("theme", t("theme.toggle"), toggleTheme),
			tool("language", t("language.next", { name: LANGUAGES[following()]?.name ?? "" }), nextLanguage),
			tool("settings", t("settings"), openSettings),
			tool("keys", t("keys.title"), showKeys),
		),
	);
	document.title = `${t(`page.${page}`)} · Tengen`;
}

function toggleTheme() {
	change({ theme: isDark() ? "light" : "dark" });
}

function following() {
	const names = Object.keys(LANGUAGES);
	const at = names.indexOf(preferredLanguage(settings.language));
	return names[(at + 1) % names.length] ?? "en";
}

const nextLanguage = () => change({ language: following() });

async function open() {
	const route = parseRoute(location.hash);
	const name = pageIn(route);
	drawHead();
	if (current?.name === name && current.page.follow) {
		current.page.follow(route);
		return;
	}
	const turn = ++opening;
	/** @type {{ mount: (main: HTMLElement, route: Route) => Promise<Page> }} */
	const module = await import(`./pages/${name}.js`);
	if (turn !== opening) return;
	current?.page.unmount();
	current = null;
	delete main.dataset.page;
	showRules(null);
	fill(main);
	const page = await module.mount(main, route);
	if (turn !== opening) {
		page.unmount();
		return;
	}
	current = { name, page };
	setPageActions(name, page.actions);
	// Mark the page as ready for keys and clicks.
	main.dataset.page = name;
}

async function reopen() {
	current?.page.unmount();
	current = null;
	await open();
}

async function start() {
	applyTheme();
	workspace.restore();
	await loadLanguage(preferredLanguage(settings.language));
	listen();
	setGlobalActions({
		play: () => go("play"),
		analyse: () => go("analyse"),
		review: () => go("review"),
		games: () => go("games"),
		puzzles: () => go("puzzles"),
		laboratory: () => go("laboratory"),
		theme: toggleTheme,
		language: nextLanguage,
		sound: () => change({ sound: !settings.sound }),
		coordinates: () => change({ coordinates: COORDINATES[settings.coordinates] ?? "letters" }),
		numbers: () => change({ numbers: NUMBERS[settings.numbers] ?? "off" }),
		settings: openSettings,
		help: showKeys,
	});
	onChange(async (changes) => {
		if ("theme" in changes) applyTheme();
		if ("language" in changes) {
			await loadLanguage(preferredLanguage(settings.language));
			await reopen();
		}
		drawHead();
	});
	socket.listeners.add((isOpen) => {
		offline.hidden = isOpen;
		offline.textContent = isOpen ? "" : t("offline");
	});
	window.addEventListener("hashchange", () => open().catch(notifyError));
	await open();
}

start().catch(notifyError);
