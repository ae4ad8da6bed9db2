/** The forms of the review page: the effort and thresholds of a review, and the lesson. */

import { h } from "../dom.js";
import { counted, t } from "../i18n.js";
import { change, settings } from "../settings.js";
import { button, choice, field, segments, wholeNumber } from "../widgets/fields.js";
import { workspace } from "../workspace.js";

/** @import { ReviewPage } from "./review.js" */

/** @typedef {"inaccuracy" | "mistake" | "blunder"} BadQuality */

/** @type {BadQuality[]} */
const BAD = ["inaccuracy", "mistake", "blunder"];
/** @type {(typeof settings.effort)[]} */
const EFFORTS = ["quick", "normal", "deep"];

/** The effort of a review and the losses that count as mistakes. */
export function parameterFields() {
	return h(
		"details",
		null,
		h("summary", { class: "small soft" }, t("parameters")),
		h(
			"div",
			{ class: "stack" },
			h(
				"div",
				{ class: "fields" },
				field(
					t("review.effort"),
					choice(
						EFFORTS.map((name) => [name, t(`effort.${name}`)]),
						settings.effort,
						(value) => change({ effort: EFFORTS.find((name) => name === value) ?? "normal" }),
					),
				),
			),
			h(
				"div",
				{ class: "fields" },
				BAD.map((name) => thresholdField(name)),
			),
		),
	);
}

/** The field for the smallest loss, in percent, that counts as this kind of mistake. */
function thresholdField(/** @type {BadQuality} */ name) {
	const set = (/** @type {number} */ percent) => change({ thresholds: { ...settings.thresholds, [name]: percent } });
	return field(
		t("review.threshold", { quality: t(`quality.${name}`) }),
		wholeNumber(settings.thresholds[name], 1, 100, set),
	);
}

export function gameTitle(/** @type {number} */ count) {
	const { black, white } = workspace.header;
	const names = black || white ? `${black || t("black")} – ${white || t("white")} · ` : "";
	return `${names}${counted("moves.count", count)}`;
}

export function lessonForm(/** @type {ReviewPage} */ page) {
	return h(
		"div",
		{ class: "stack lesson" },
		segments(
			t("review.side"),
			["black", "white", "both"].map((side) => [side, t(side)]),
			page.side,
			(side) => {
				page.side = side;
				page.draw();
			},
		),
		button(t("review.learn"), () => page.startLesson(), {
			kind: "primary",
			icon: "puzzles",
			disabled: !page.mistakesOfSide().length,
		}),
	);
}
