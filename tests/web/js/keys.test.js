// @ts-check
/** The table of keys: no key has two meanings, and changed keys keep it that way. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { KEYS, actionOf, bindingsOf, mayChoose, userOf } from "../../../src/tengen/web/static/js/keys.js";

/** @import { Scope } from "../../../src/tengen/web/static/js/keys.js" */

const PAGES = /** @type {Scope[]} */ (Object.keys(KEYS).filter((scope) => scope !== "everywhere"));

test("no key has two meanings on a page", () => {
	for (const page of PAGES) {
		const keys = [...bindingsOf(page, {}), ...bindingsOf("everywhere", {})].flatMap((binding) => binding.keys);
		deepEqual({ page, twice: keys.filter((key, i) => keys.indexOf(key) !== i) }, { page, twice: [] });
	}
});

test("a changed key replaces the default keys", () => {
	const changed = { "play.undo": "z" };
	deepEqual(actionOf("play", "z", changed), { scope: "play", action: "undo" });
	equal(actionOf("play", "u", changed), null);
	equal(actionOf("analyse", "z", changed), null);
	deepEqual(actionOf("analyse", "d", changed), { scope: "everywhere", action: "theme" });
});

test("a key in use is not free, on the page and for keys that work everywhere", () => {
	equal(userOf("play", "undo", "h", {})?.action, "hint");
	equal(userOf("play", "undo", "d", {})?.action, "theme");
	equal(userOf("everywhere", "theme", "h", {})?.action, "hint");
	equal(userOf("play", "undo", "u", {}), null);
	equal(userOf("play", "undo", "j", {}), null); // a key of the review page only
	equal(userOf("play", "hint", "u", { "play.undo": "z" }), null); // given up
});

test("keys of the browser may not be chosen, and invalid stored ones are ignored", () => {
	for (const key of ["a", "Z", "ß", "7", "[", "ArrowUp", "Enter"]) equal(mayChoose(key), true);
	for (const key of ["Tab", "Escape", "F5", "Control", "Dead", "'", ""]) equal(mayChoose(key), false);
	deepEqual(actionOf("play", "u", { "play.undo": "F5" }), { scope: "play", action: "undo" });
});
