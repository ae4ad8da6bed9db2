/** The actions of the keys on the analysis page. */

import { change, settings } from "../settings.js";
import { sibling } from "../tree.js";
import { workspace } from "../workspace.js";
import { MAX_LINES } from "./analyse_side.js";

/** @import { Actions } from "../keys.js" */
/** @import { AnalysePage } from "./analyse.js" */

/** @returns {Actions<"analyse">} */
export function actionsOf(/** @type {AnalysePage} */ page) {
	const turn = (/** @type {"showCandidates" | "showThreats" | "showPolicy"} */ key) => () =>
		change({ [key]: !settings[key] });
	return {
		toggle: () => page.thinking.toggle(),
		back: () => page.walk(-1),
		forward: () => page.walk(1),
		previousVariation: () => page.goTo(sibling(workspace.node, -1)),
		nextVariation: () => page.goTo(sibling(workspace.node, 1)),
		farBack: () => page.walk(-10),
		farForward: () => page.walk(10),
		first: () => page.walk(-Infinity),
		last: () => page.walk(Infinity),
		playBest: () => page.playBest(),
		lineForward: () => page.thinking.stepLine(1),
		lineBack: () => page.thinking.stepLine(-1),
		lineLeave: () => page.thinking.stepLine(-Infinity),
		setUp: () => (page.editor ? page.closeEditor() : page.setUpStones()),
		header: () => page.editHeader(),
		candidates: turn("showCandidates"),
		threats: turn("showThreats"),
		policy: turn("showPolicy"),
		moreLines: () => change({ lines: Math.min(MAX_LINES, settings.lines + 1) }),
		fewerLines: () => change({ lines: Math.max(1, settings.lines - 1) }),
		second: () => page.thinking.toggleSecond(),
		vcf: () => page.thinking.solve("vcf"),
		vct: () => page.thinking.solve("vct"),
		promote: () => page.promote(),
		remove: () => page.remove(),
		comment: () => page.view.comment.focus(),
		import: () => page.openImport(),
		export: () => page.openExport(),
		share: () => page.share(),
		clear: () => page.clear(),
		board: () => page.board.focus(),
		typePoint: () => page.typePoint(),
	};
}
