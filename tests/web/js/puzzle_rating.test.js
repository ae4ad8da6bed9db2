// @ts-check
/** The rating and the streaks of a solver. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { daysInARow, rated } from "../../../src/tengen/web/static/js/puzzle_rating.js";

const fresh = { rating: 1000, attempts: 0, streak: 0, best: 0, days: [] };

test("a solved puzzle of the same rating gains half a step, and a failed one loses it", () => {
	deepEqual(rated(fresh, 1000, true), { rating: 1024, attempts: 1, streak: 1, best: 1, days: [] });
	const after = rated({ ...fresh, streak: 3, best: 3 }, 1000, false);
	deepEqual([after.rating, after.streak, after.best], [976, 0, 3]);
});

test("the rating moves less for expected results and after twenty attempts", () => {
	equal(rated(fresh, 600, true).rating - 1000 < 6, true);
	equal(rated({ ...fresh, attempts: 20 }, 1000, true).rating, 1010);
});

test("days in a row end with today or yesterday", () => {
	const days = ["2026-02-27", "2026-02-28", "2026-03-01", "2026-02-20"];
	equal(daysInARow(days, "2026-03-01"), 3);
	equal(daysInARow(days, "2026-03-02"), 3);
	equal(daysInARow(days, "2026-03-03"), 0);
});
