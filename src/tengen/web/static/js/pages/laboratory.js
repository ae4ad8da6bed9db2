/** The laboratory page: its sections, and the refreshing of live content. */

import { fill, h, keepingFocus } from "../dom.js";
import { t } from "../i18n.js";
import { showComparison } from "../laboratory/compare.js";
import { showPolicies } from "../laboratory/policy.js";
import { showRun, showRuns } from "../laboratory/runs.js";
import { showModel, showModels, showPaper, showPapers } from "../laboratory/shelf.js";
import { showTournamentForm, showTrainingForm } from "../laboratory/start_forms.js";
import { showTournament, showTournaments } from "../laboratory/tournaments.js";
import { go, hashOf } from "../router.js";

/** @import { Actions } from "../keys.js" */
/** @import { Route } from "../router.js" */
/** @import { Child } from "../dom.js" */

const SECTIONS = ["runs", "tournaments", "models", "papers"];
/** Sections without a tab, and the tab they belong to. @type {Record<string, string>} */
const TABS = { compare: "runs", start: "runs", policy: "runs", "start-tournament": "tournaments" };
/** Interval between refreshes of a page with live content. */
const REFRESH_MS = 4000;

/**
 * @typedef {object} View
 * @property {(query: URLSearchParams) => Promise<Child[]>} list
 * @property {(name: string, query: URLSearchParams) => Promise<Child[]>} [detail]
 */

const RUNS = { list: showRuns, detail: showRun };

/** @type {Record<string, View>} */
const VIEWS = {
	runs: RUNS,
	tournaments: { list: showTournaments, detail: showTournament },
	models: { list: showModels, detail: showModel },
	papers: { list: showPapers, detail: showPaper },
	compare: { list: showComparison },
	start: { list: showTrainingForm },
	"start-tournament": { list: showTournamentForm },
	policy: { list: showRuns, detail: showPolicies },
};

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	const tabs = h("nav", { class: "tabs", "aria-label": t("page.laboratory") });
	const body = h("div", { class: "lab" });
	fill(main, h("div", { class: "page" }, h("h1", null, t("page.laboratory")), tabs, body));
	let shown = route;
	let turn = 0;
	let timer = 0;

	const show = async () => {
		clearTimeout(timer);
		const mine = ++turn;
		const [section = "runs", name] = shown.rest;
		const { list, detail } = VIEWS[section] ?? RUNS;
		fill(
			tabs,
			SECTIONS.map((each) =>
				h(
					"a",
					{ href: hashOf(`laboratory/${each}`), "aria-current": each === (TABS[section] ?? section) ? "page" : null },
					t(`lab.${each}`),
				),
			),
		);
		try {
			const parts = await (name && detail ? detail(name, shown.query) : list(shown.query));
			if (mine !== turn) return;
			// Do not redraw while the user has a section open.
			if (!body.querySelector("details[open]")) keepingFocus(body, () => fill(body, ...parts));
			if (body.querySelector(".live, .is-busy")) timer = setTimeout(show, REFRESH_MS);
		} catch (error) {
			if (mine === turn)
				fill(body, h("div", { class: "empty" }, error instanceof Error ? error.message : String(error)));
		}
	};
	const follow = (/** @type {Route} */ next) => {
		shown = next;
		fill(body, h("p", { class: "empty" }, t("loading")));
		show();
	};
	follow(route);
	/** @type {Actions<"laboratory">} */
	const actions = {
		runs: () => go("laboratory/runs"),
		tournaments: () => go("laboratory/tournaments"),
		models: () => go("laboratory/models"),
		papers: () => go("laboratory/papers"),
	};
	return {
		unmount: () => {
			turn += 1;
			clearTimeout(timer);
		},
		actions,
		follow,
	};
}
