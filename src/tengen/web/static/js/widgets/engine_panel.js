/** The panel of one engine: the choice of agent, the analysis of the current position, and the candidate moves. */

import { socket } from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { change, settings } from "../settings.js";
import { agentField } from "./agent_field.js";
import { CandidateTable } from "./candidates.js";

/** @import { Stream } from "../api.js" */
/** @import { AnalysisMessage, ServerInfo } from "../messages.js" */
/** @import { PositionFields } from "../workspace.js" */

/** Delay before a search starts, so that stepping quickly through a game does not start one for every position. */
const START_DELAY_MS = 70;

export class EnginePanel {
	/** The newest report on the current position. @type {AnalysisMessage | null} */ analysis = null;
	/** @type {Stream | null} */ stream = null;
	timer = 0;
	isOn = false;

	/**
	 * @param {ServerInfo} info
	 * @param {"engine" | "secondEngine"} key the setting that stores the agent specification
	 * @param {{ onUpdate: () => void, onPoint: (move: string | null, engine: EnginePanel) => void, onPlay: (move: string) => void,
	 *   onChoose: () => void }} listeners
	 */
	constructor(info, key, { onUpdate, onPoint, onPlay, onChoose }) {
		this.key = key;
		this.onUpdate = onUpdate;
		this.table = new CandidateTable({ onPoint: (move) => onPoint(move, this), onPlay });
		this.table.clear(t("analysis.off"));
		const chooser = agentField(
			info,
			settings[key] || info.defaultAgent,
			(text) => {
				change({ [key]: text });
				summary.textContent = text;
				onChoose();
			},
			{ analyses: true, label: t("engine") },
		);
		const summary = h("span", { class: "engine-name" }, settings[key] || info.defaultAgent);
		this.element = h(
			"div",
			{ class: "stack engine" },
			h("details", { class: "engine-choice" }, h("summary", null, summary), chooser),
			this.table.element,
		);
	}

	/**
	 * Start analysing a position and stop the previous analysis.
	 * @param {PositionFields} position
	 */
	analyse(position) {
		this.halt();
		this.isOn = true;
		this.timer = setTimeout(() => {
			const agent = settings[this.key];
			this.stream = socket.open(
				{
					type: "analyse",
					...position,
					lines: settings.lines,
					...(agent ? { agent } : {}),
					...(settings.showPolicy ? { includePolicy: true } : {}),
				},
				(message) => {
					this.analysis = message;
					this.table.show(message);
					this.onUpdate();
				},
				(error) => this.table.clear(error.message),
			);
		}, START_DELAY_MS);
	}

	/** End the search, on the server as well, and clear its result. */
	halt() {
		clearTimeout(this.timer);
		this.stream?.close();
		this.stream = null;
		this.analysis = null;
	}

	/** Stop and show the reason. */
	stop(/** @type {string} */ text = t("analysis.off")) {
		this.halt();
		this.isOn = false;
		this.table.clear(text);
	}
}
