/** The games that were played in this browser: search, open, review, save, delete. The server stores and searches them. */

import { deleteGame, exportMyGames, myGames, serverInfo } from "../api.js";
import { fill, h, keepingFocus } from "../dom.js";
import { saveFile } from "../files.js";
import { rulesText } from "../headline.js";
import { counted, number, t } from "../i18n.js";
import { confirmed, notifyError } from "../notice.js";
import { go, replaceRoute } from "../router.js";
import { button, choice, field } from "../widgets/fields.js";
import { nameOf } from "../widgets/player_bar.js";

/** @import { Actions } from "../keys.js" */
/** @import { Colour, GameList, GameSummary, MyResult, Opponent, Routes, Rule, ServerInfo } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Options } from "../widgets/fields.js" */
/** @typedef {{ opponent: string, result: string, rule: string, since: string, until: string }} Search an empty string matches anything; the dates are written as 2026-11-18 */

const AT_ONCE = 100;
const FORMATS = ["sgf", "psq"];
const COLUMNS = ["date", "opponent", "result", "accuracy", "rules", "actions"];
const RESULTS = { won: "games.won", lost: "games.lost", draw: "draw", ongoing: "games.unfinished" };
/** @type {Search} */
const EVERYTHING = { opponent: "", result: "", rule: "", since: "", until: "" };

class GamesPage {
	/** @type {GameSummary[]} */ games = [];
	total = 0;
	stored = 0;
	/** @type {Opponent[]} */ opponents = [];
	/** Incremented by every search; replies to earlier ones are ignored. */ turn = 0;

	constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info, /** @type {Search} */ search) {
		this.info = info;
		this.search = search;
		this.form = h("search", { class: "fields", "aria-label": t("games.search") });
		this.list = h("tbody", { role: "rowgroup" });
		this.notes = h("p", { class: "soft", role: "status" });
		this.more = button(t("games.more"), () => this.load(this.games.length));
		this.exportAll = this.exportButtons(null);
		const header = COLUMNS.map((name) => h("th", { scope: "col", role: "columnheader" }, t(`games.${name}`)));
		// The roles keep it a table for screen readers where the style sheet turns its rows into blocks.
		this.table = h(
			"table",
			{ role: "table" },
			h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, header)),
			this.list,
		);
		fill(
			main,
			h(
				"section",
				{ class: "card games" },
				h("h1", null, t("page.games")),
				this.form,
				this.notes,
				this.table,
				this.more,
				this.exportAll,
			),
		);
	}

	async load(offset = 0) {
		const turn = ++this.turn;
		try {
			const found = await myGames({ ...queryOf(this.search), limit: AT_ONCE, offset });
			if (turn === this.turn) this.show(found, offset);
		} catch (error) {
			notifyError(error);
		}
	}

	show(/** @type {GameList} */ { games, total, stored, opponents }, /** @type {number} */ offset) {
		this.games = offset ? [...this.games, ...games] : games;
		Object.assign(this, { total, stored, opponents });
		this.draw();
	}

	setSearch(/** @type {Partial<Search>} */ changes) {
		this.search = { ...this.search, ...changes };
		replaceRoute("games", this.search);
		this.load();
	}

	draw() {
		keepingFocus(this.form, () => this.drawForm());
		fill(
			this.list,
			this.games.map((game) => this.row(game, this.texts(game))),
		);
		const { total, stored } = this;
		this.notes.textContent = !stored
			? t("games.none")
			: !total
				? t("games.no-match")
				: total === stored
					? counted("games.count", total)
					: t("games.count-of", { count: number(total), all: number(stored) });
		this.form.hidden = !stored;
		this.table.hidden = !total;
		this.exportAll.hidden = !stored;
		this.more.hidden = this.games.length >= total;
	}

	drawForm() {
		const select = (/** @type {"opponent" | "result" | "rule"} */ key, /** @type {Options} */ options) =>
			field(
				t(`games.${key}`),
				choice([["", t("any")], ...options], this.search[key], (value) => this.setSearch({ [key]: value })),
			);
		const date = (/** @type {"since" | "until"} */ key) => {
			const input = h("input", {
				type: "date",
				value: this.search[key],
				onchange: () => this.setSearch({ [key]: input.value }),
			});
			return field(t(`games.${key}`), input);
		};
		const isSearching = Object.values(this.search).some(Boolean);
		fill(
			this.form,
			select(
				"opponent",
				this.opponents.map(({ key, player, games }) => [key, `${this.nameOf(player)} · ${number(games)}`]),
			),
			select(
				"result",
				Object.entries(RESULTS).map(([result, text]) => [result, t(text)]),
			),
			select(
				"rule",
				this.info.rules.map((rule) => [rule, t(`rule.${rule}`)]),
			),
			date("since"),
			date("until"),
			button(t("games.clear-search"), () => this.setSearch(EVERYTHING), { disabled: !isSearching }),
		);
	}

	texts(/** @type {GameSummary} */ game) {
		const mine = colourOfPerson(game);
		const accuracy = mine ? game.accuracy[mine] : undefined;
		const both = /** @type {Colour[]} */ (["black", "white"]).flatMap((colour) => game.accuracy[colour] ?? []);
		return {
			date: new Date(1000 * game.startedAt).toLocaleString(document.documentElement.lang, {
				dateStyle: "medium",
				timeStyle: "short",
			}),
			opponent: this.opponent(game, mine),
			result: resultText(game, mine),
			accuracy: accuracy !== undefined ? String(Math.round(accuracy)) : both.map((one) => Math.round(one)).join(" – "),
			rules: rulesText(game.rules),
		};
	}

	nameOf(/** @type {GameSummary["black"]} */ player) {
		return (player && nameOf(player, this.info.levels)) || t("opponent.person");
	}

	/** The other player; both players if two people or two agents played. */
	opponent(/** @type {GameSummary} */ { players, black, white }, /** @type {Colour | null} */ mine) {
		if (mine) return this.nameOf(mine === "black" ? white : black);
		const seats = [players.proposer ?? null, players.chooser ?? null];
		const others = seats.filter((player) => player?.kind !== "person");
		return (others.length === 1 ? others : [black ?? seats[0] ?? null, white ?? seats[1] ?? null])
			.map((player) => this.nameOf(player))
			.join(" – ");
	}

	row(/** @type {GameSummary} */ game, /** @type {ReturnType<GamesPage["texts"]>} */ texts) {
		const mine = colourOfPerson(game);
		const cell = (/** @type {string} */ name, /** @type {(Node | string | null)[]} */ ...children) =>
			h("td", { role: "cell", class: `games-${name}` }, children);
		return h(
			"tr",
			{ role: "row", class: "game-row" },
			cell("date", h("a", { href: `#/play/${game.id}` }, texts.date)),
			cell(
				"opponent",
				mine ? h("span", { class: `disc ${mine}`, role: "img", "aria-label": t(mine) }) : null,
				texts.opponent,
			),
			cell(
				"result",
				h("span", { class: `result ${mine ? outcomeFor(game, mine) : ""}` }, texts.result),
				h("span", { class: "soft small" }, ` · ${counted("moves.count", game.moveCount)}`),
			),
			cell(
				texts.accuracy ? "accuracy" : "accuracy is-missing",
				h("span", { class: "games-label" }, `${t("games.accuracy")} `),
				texts.accuracy || "–",
			),
			cell("rules", texts.rules),
			cell(
				"actions",
				button(t("games.open"), () => go(`play/${game.id}`), { icon: "play", kind: "bare", showLabel: false }),
				button(t("page.review"), () => go(`review/${game.id}`), {
					icon: "review",
					kind: "bare",
					showLabel: false,
					disabled: !game.moveCount,
				}),
				this.exportButtons(game),
				button(t("games.delete"), () => this.delete(game), { icon: "delete", kind: "bare", showLabel: false }),
			),
		);
	}

	/** Create one button per format, which saves the given game; null saves all games. */
	exportButtons(/** @type {GameSummary | null} */ game) {
		return h(
			"span",
			{ class: "buttons" },
			FORMATS.map((format) =>
				game
					? button(format.toUpperCase(), () => this.export(format, game), {
							kind: "bare",
							title: t("games.export", { format: format.toUpperCase() }),
						})
					: button(t("games.export-all", { format: format.toUpperCase() }), () => this.export(format, null), {
							icon: "export",
						}),
			),
		);
	}

	async export(/** @type {string} */ format, /** @type {GameSummary | null} */ game) {
		try {
			saveFile(await exportMyGames(format, game?.id ?? null));
		} catch (error) {
			notifyError(error);
		}
	}

	async delete(/** @type {GameSummary} */ game) {
		if (!(await confirmed(t("games.delete.question"), t("games.delete")))) return;
		try {
			await deleteGame(game.id);
			this.games = this.games.filter((each) => each.id !== game.id);
			this.total -= 1;
			this.stored -= 1;
			this.draw();
		} catch (error) {
			notifyError(error);
		}
	}
}

/** The colour of the only human player; null if there are two or none, or if the opening has not settled it. @returns {Colour | null} */
function colourOfPerson(/** @type {GameSummary} */ { black, white }) {
	const isBlack = black?.kind === "person";
	if (isBlack === (white?.kind === "person")) return null;
	return isBlack ? "black" : "white";
}

/** How a finished game ended for a colour; empty for a draw and an ongoing game. */
const outcomeFor = (/** @type {GameSummary} */ { outcome }, /** @type {Colour} */ mine) =>
	outcome === "black" || outcome === "white" ? (outcome === mine ? "won" : "lost") : "";

function resultText(/** @type {GameSummary} */ game, /** @type {Colour | null} */ mine) {
	if (game.outcome === "ongoing") return t("games.unfinished");
	if (game.outcome === "draw") return t("draw");
	return mine ? t(`games.${outcomeFor(game, mine)}`) : t("games.winner", { colour: t(game.outcome) });
}

/** The query of a search. Dates in the user's time zone become seconds since 1970; the last day is included. */
function queryOf(/** @type {Search} */ { opponent, result, rule, since, until }) {
	const day = (/** @type {string} */ date, /** @type {number} */ later) => {
		if (!date) return null;
		const time = new Date(`${date}T00:00`);
		time.setDate(time.getDate() + later);
		return Number.isNaN(time.getTime()) ? null : Math.max(0, time.getTime() / 1000);
	};
	return /** @type {Routes["GET /api/my-games"]["query"]} */ ({
		opponent: opponent || null,
		result: /** @type {MyResult} */ (result) || null,
		rule: /** @type {Rule} */ (rule) || null,
		since: day(since, 0),
		until: day(until, 1),
	});
}

/** The search in the address; unknown values are dropped. @returns {Search} */
function searchIn(/** @type {URLSearchParams} */ query, /** @type {ServerInfo} */ { rules }) {
	const given = (/** @type {keyof Search} */ key) => query.get(key) ?? "";
	const date = (/** @type {string} */ text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? text : "");
	return {
		opponent: given("opponent"),
		result: given("result") in RESULTS ? given("result") : "",
		rule: rules.includes(given("rule")) ? given("rule") : "",
		since: date(given("since")),
		until: date(given("until")),
	};
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	const info = await serverInfo();
	const page = new GamesPage(main, info, searchIn(route.query, info));
	await page.load();
	/** @type {Actions<"games">} */
	const actions = { search: () => page.form.querySelector("select")?.focus() };
	return { unmount: () => {}, actions };
}
