/** The tournaments of the laboratory: the list, and one tournament with its tables and games. */

import { operations, tournament, tournamentGame, tournamentGames, tournaments } from "../api.js";
import { h } from "../dom.js";
import { number, t, translated } from "../i18n.js";
import { notifyError } from "../notice.js";
import { hashOf } from "../router.js";
import { button } from "../widgets/fields.js";
import { operationPanel, startingPage, startLink } from "./operate.js";
import { CARDS_PER_PAGE, cardList, damage, empty, heading, live, reportTable, study, timeLeft, when } from "./parts.js";
import { ratingHelp } from "./runs.js";

/** @import { GameRow, TournamentSummary } from "../messages.js" */

const GAMES_PER_PAGE = 50;

const tournamentCard = (/** @type {TournamentSummary} */ each) =>
	h(
		"a",
		{ class: "card link", href: hashOf(`laboratory/tournaments/${encodeURIComponent(each.name)}`) },
		h("div", { class: "row-between" }, h("h3", null, each.title || each.name), live(each.isLive)),
		h("progress", { value: each.games, max: Math.max(1, each.gamesPlanned), "aria-label": t("lab.progress") }),
		h(
			"p",
			{ class: "small" },
			[t("lab.games-of", { games: number(each.games), planned: number(each.gamesPlanned) }), timeLeft(each.secondsLeft)]
				.filter(Boolean)
				.join(" · "),
		),
		h("p", { class: "soft small clip" }, each.players.join(", ")),
		damage(each.problem),
		h("p", { class: "soft small" }, when(each.updatedAt)),
	);

export async function showTournaments() {
	const [found, operating] = await Promise.all([tournaments(CARDS_PER_PAGE, 0), operations()]);
	const tools = h("div", { class: "row-start" }, startLink(operating, "start-tournament", t("lab.start-tournament")));
	if (!found.total) return [tools, empty("lab.no-tournaments", "tengen tournament FILE.toml")];
	const load = async (/** @type {number} */ offset) => (await tournaments(CARDS_PER_PAGE, offset)).tournaments;
	return [tools, ...cardList(found.tournaments, found.total, tournamentCard, load)];
}

export async function showTournament(/** @type {string} */ name) {
	const operating = await operations();
	const starting = startingPage(operating, "tournament", name);
	if (starting) return starting;
	const [detail, listed] = await Promise.all([tournament(name), tournamentGames(name, GAMES_PER_PAGE, 0)]);
	const { summary } = detail;
	const body = h("tbody");
	const addRows = (/** @type {GameRow[]} */ games) =>
		body.append(
			...games.map((game) =>
				h(
					"tr",
					null,
					h(
						"td",
						{ class: "num" },
						button(
							String(game.number),
							async () => {
								try {
									study(await tournamentGame(name, game.number));
								} catch (error) {
									notifyError(error);
								}
							},
							{ kind: "bare" },
						),
					),
					h("td", null, game.black),
					h("td", null, game.white),
					h("td", null, game.outcome === "draw" ? t("draw") : t(game.outcome)),
					h("td", null, translated(game.ending)),
					h("td", { class: "num" }, game.moves),
				),
			),
		);
	addRows(listed.games);
	let shown = listed.games.length;
	const more = button(t("more"), async () => {
		const next = await tournamentGames(name, GAMES_PER_PAGE, shown);
		addRows(next.games);
		shown += next.games.length;
		more.hidden = shown >= next.total;
	});
	more.hidden = shown >= listed.total;
	return [
		heading("tournaments", summary.title || summary.name, summary.isLive),
		h(
			"p",
			{ class: "soft" },
			[
				t("lab.games-of", { games: number(summary.games), planned: number(summary.gamesPlanned) }),
				timeLeft(summary.secondsLeft),
			]
				.filter(Boolean)
				.join(" · "),
		),
		operationPanel(operating, "tournament", summary.name),
		ratingHelp(),
		...detail.tables.filter((table) => !table.isDetail).map(reportTable),
		h(
			"div",
			{ class: "card scroll" },
			h(
				"table",
				null,
				h("caption", null, t("lab.all-games")),
				h(
					"thead",
					null,
					h(
						"tr",
						null,
						["#", t("black"), t("white"), t("result"), t("ending"), t("moves")].map((text) =>
							h("th", { scope: "col" }, text),
						),
					),
				),
				body,
			),
			more,
		),
		h(
			"details",
			null,
			h("summary", { class: "soft" }, t("lab.details")),
			h("div", { class: "stack" }, detail.tables.filter((table) => table.isDetail).map(reportTable)),
		),
	];
}
