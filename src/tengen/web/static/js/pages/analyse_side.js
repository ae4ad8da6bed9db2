/** The panel beside the board of the analysis page: engines, display options, moves and the tools of the game. */

import { fill, h } from "../dom.js";
import { t } from "../i18n.js";
import { go } from "../router.js";
import { change, settings } from "../settings.js";
import { button, check, wholeNumber } from "../widgets/fields.js";
import { headerLine } from "../widgets/game_header.js";
import { workspace } from "../workspace.js";

/** @import { AnalysePage } from "./analyse.js" */

export const MAX_LINES = 20;

export function fillSide(/** @type {AnalysePage} */ page) {
	fill(
		page.view.side,
		page.view.graph.element,
		page.editor ? page.editor.element : engineCard(page),
		movesCard(page),
		// Its height changes when the server responds, so it is the last element.
		page.view.explorer.element,
	);
}

function engineCard(/** @type {AnalysePage} */ page) {
	const shown = (/** @type {"showCandidates" | "showThreats" | "showPolicy"} */ key) =>
		check(t(key), settings[key], (value) => change({ [key]: value }));
	return h(
		"div",
		{ class: "card" },
		h(
			"div",
			{ class: "row-between" },
			h("h2", null, t("analysis")),
			button(t(page.thinking.isOn ? "analysis.stop" : "analysis.start"), () => page.thinking.toggle(), {
				icon: page.thinking.isOn ? "pause" : "start",
				kind: page.thinking.isOn ? "" : "primary",
			}),
		),
		page.view.status,
		page.thinking.engine.element,
		page.thinking.hasSecond ? page.thinking.second.element : null,
		page.view.lineBox,
		h("div", { class: "row-start options" }, shown("showCandidates"), shown("showThreats"), shown("showPolicy")),
		h(
			"div",
			{ class: "row-start options" },
			button(t("solve.vcf"), () => page.thinking.solve("vcf"), { title: t("solve.vcf.help") }),
			button(t("solve.vct"), () => page.thinking.solve("vct"), { title: t("solve.vct.help") }),
			button(t("line.step"), () => page.thinking.stepLine(1), { icon: "forward" }),
			button(t("second-engine"), () => page.thinking.toggleSecond(), {
				icon: "compare",
				pressed: page.thinking.hasSecond,
			}),
			h(
				"label",
				{ class: "check", dataset: { focus: "lines" } },
				wholeNumber(settings.lines, 1, MAX_LINES, (lines) => change({ lines })),
				t("lines"),
			),
		),
		page.view.threatList,
	);
}

function movesCard(/** @type {AnalysePage} */ page) {
	const tool = (/** @type {string} */ key, /** @type {string} */ icon, /** @type {() => void} */ run) =>
		button(t(key), run, { icon, kind: "bare" });
	const { restore } = page;
	return h(
		"div",
		{ class: "card" },
		h("h2", null, t("moves")),
		headerLine(workspace),
		restore
			? h(
					"p",
					{ class: "small replaced", role: "status" },
					t("tree.replaced"),
					" ",
					button(t("tree.restore"), restore, { icon: "undo" }),
				)
			: null,
		page.view.tree.element,
		page.view.comment,
		h(
			"div",
			{ class: "buttons even" },
			button(t("review.this"), () => go("review"), { icon: "review" }),
			button(t("play.from-here"), () => page.playFromHere(), { icon: "play" }),
		),
		h(
			"div",
			{ class: "tool-grid" },
			tool("header.edit", "comment", () => page.editHeader()),
			tool("setup-stones", "games", () => page.setUpStones()),
			tool("tree.promote", "up", () => page.promote()),
			tool("tree.delete", "delete", () => page.remove()),
			tool("import", "import", () => page.openImport()),
			tool("export", "export", () => page.openExport()),
			tool("share", "share", () => page.share()),
			tool("board.clear", "new", () => page.clear()),
		),
	);
}
