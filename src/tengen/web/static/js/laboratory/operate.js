/** Links to the forms that start processes of the laboratory, and the panel that stops and resumes them. */

import { resumeOperation, stopOperation } from "../api.js";
import { h } from "../dom.js";
import { t, translated } from "../i18n.js";
import { notifyError } from "../notice.js";
import { hashOf } from "../router.js";
import { button, field, wholeNumber } from "../widgets/fields.js";
import { duration, heading } from "./parts.js";

/** @import { OperatingInfo, OperationInfo, RunSummary } from "../messages.js" */

/** A link to a form, or the reason why the laboratory is read-only. */
export const startLink = (
	/** @type {OperatingInfo} */ operating,
	/** @type {string} */ path,
	/** @type {string} */ label,
) =>
	operating.isEnabled
		? h("a", { class: "button primary", href: hashOf(`laboratory/${path}`) }, label)
		: h("span", { class: "soft small", title: translated(operating.whyNot) }, t("lab.read-only"));

const acting = (/** @type {() => Promise<unknown>} */ action) => async () => {
	try {
		await action();
		dispatchEvent(new HashChangeEvent("hashchange"));
	} catch (error) {
		notifyError(error);
	}
};

/**
 * Create the panel of a run or tournament: the state of its process, and the buttons that stop, resume and extend it.
 * @param {OperatingInfo} operating
 * @param {"training" | "tournament"} kind
 * @param {string} name
 * @param {RunSummary} [summary] of a run
 */
export function operationPanel(operating, kind, name, summary) {
	if (!operating.isEnabled) return null;
	const found = operating.operations.find((each) => each.kind === kind && each.name === name);
	const isLive = found?.state === "running" || found?.state === "stopping";
	const buttons = isLive
		? [
				button(
					t("lab.stop"),
					acting(() => stopOperation(kind, name)),
					{ disabled: found?.state === "stopping" },
				),
			]
		: resumeButtons(kind, name, found, summary);
	if (!found && !buttons.length) return null;
	return h(
		"div",
		{ class: isLive ? "card is-busy" : "card" },
		found ? stateOf(found, isLive) : null,
		buttons.length ? h("div", { class: "buttons" }, buttons) : null,
	);
}

/**
 * The page of a run or tournament whose process has not created it yet; null if it can be shown.
 * @param {OperatingInfo} operating
 * @param {"training" | "tournament"} kind
 * @param {string} name
 */
export function startingPage(operating, kind, name) {
	const found = operating.operations.find((each) => each.kind === kind && each.name === name);
	if (!found || found.isShown) return null;
	const section = kind === "training" ? "runs" : "tournaments";
	return [heading(section, name, found.state === "running"), operationPanel(operating, kind, name)];
}

function stateOf(/** @type {OperationInfo} */ found, /** @type {boolean} */ isLive) {
	const left = (Date.parse(found.deadline) - Date.now()) / 1000;
	return h(
		"div",
		null,
		h(
			"p",
			null,
			h("strong", null, t(`lab.process.${found.state}`)),
			isLive ? ` ${t("lab.ends-after", { time: duration(Math.max(0, left)), memory: found.memoryMb })}` : null,
		),
		found.message
			? h("pre", { class: "small prose log", tabIndex: 0, "aria-label": t("lab.log") }, found.message)
			: null,
	);
}

/**
 * @param {"training" | "tournament"} kind
 * @param {string} name
 * @param {OperationInfo | undefined} found
 * @param {RunSummary | undefined} summary
 */
function resumeButtons(kind, name, found, summary) {
	const resume = (/** @type {object} */ more) => acting(() => resumeOperation(kind, name, more));
	if (!summary) {
		return found && found.state !== "finished" ? [button(t("lab.resume"), resume({}), { kind: "primary" })] : [];
	}
	if (summary.isLive || summary.problem) return [];
	const parts = summary.state === "stopped" ? [button(t("lab.resume"), resume({}), { kind: "primary" })] : [];
	const unit = summary.hasTimeLimit ? "moreMinutes" : "moreIterations";
	let more = summary.hasTimeLimit ? 5 : 10;
	return [
		...parts,
		field(
			t(summary.hasTimeLimit ? "lab.more-minutes" : "lab.more-iterations"),
			wholeNumber(more, 1, summary.hasTimeLimit ? 1440 : 100_000, (value) => (more = value)),
		),
		button(t("lab.extend"), () => resume({ [unit]: more })()),
	];
}
