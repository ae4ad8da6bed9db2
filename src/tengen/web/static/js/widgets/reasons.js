/** The reason for a verdict or a hint as a sentence in the language of the page. */

import { shownPoint, shownPoints } from "../board/points.js";
import { t } from "../i18n.js";

/** @import { ReasonInfo } from "../messages.js" */

/** The reason with the move as its subject, without a capital letter or a full stop. @returns {string} */
function reasonText(/** @type {ReasonInfo} */ { kind, colour, point, shape, stones, moves, why }) {
	return t(`why.${kind}`, {
		colour: colour ? t(colour) : "",
		point: point ? shownPoint(point) : "",
		shape: shape ? shapeText(shape) : "",
		stones: shownPoints(stones),
		moves: moves ?? "",
		why: why ? reasonText(why) : "",
	});
}

export function reasonSentence(/** @type {ReasonInfo} */ reason) {
	const text = reasonText(reason);
	return t("why.sentence", { text: text.charAt(0).toUpperCase() + text.slice(1) });
}

/** A shape with its article: "a four-three". */
export const shapeText = (/** @type {string} */ shape) => t(`shape.${shape.replaceAll(" ", "-")}`);
