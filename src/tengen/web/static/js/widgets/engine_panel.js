// @ts-check
/** One engine that thinks about the position shown: choosing it, running it, its candidates. */

import { socket } from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { change, settings } from "../settings.js";
import { agentField } from "./agent_field.js";
import { CandidateTable } from "./candidates.js";

/** Walking quickly through a game asks for the position where it ends, not for each on the way. */
const QUIET_MS = 70;

export class EnginePanel {
  /** The newest report on the position asked for. @type {any} */ analysis = null;
  /** @type {import("../api.js").Stream | null} */ stream = null;
  timer = 0;
  isOn = false;

  /**
   * @param {any} info what the server offers
   * @param {"engine" | "secondEngine"} key where its text is kept
   * @param {{ onUpdate: () => void, onPoint: (move: string | null, engine: EnginePanel) => void, onPlay: (move: string) => void,
   *   onChoose: () => void }} listeners
   */
  constructor(info, key, { onUpdate, onPoint, onPlay, onChoose }) {
    this.key = key;
    this.onUpdate = onUpdate;
    this.table = new CandidateTable({ onPoint: (move) => onPoint(move, this), onPlay });
    this.table.clear(t("analysis.off"));
    const chooser = agentField(info, settings[key] || info.defaultAgent, (text) => {
      change({ [key]: text });
      summary.textContent = text;
      onChoose();
    }, { analyses: true, label: t("engine") });
    const summary = h("span", { class: "engine-name" }, settings[key] || info.defaultAgent);
    this.element = h("div", { class: "stack engine" }, h("details", { class: "engine-choice" }, h("summary", null, summary), chooser), this.table.element);
  }

  /**
   * Think about a position from now on, in place of the one before.
   * @param {object} position
   */
  analyse(position) {
    this.halt();
    this.isOn = true;
    this.timer = setTimeout(() => {
      const agent = settings[this.key];
      const request = { type: "analyse", ...position, lines: settings.lines, ...(agent ? { agent } : {}), ...(settings.showPolicy ? { includePolicy: true } : {}) };
      this.stream = socket.open(request, (message) => {
        if (message.type !== "analysis") return;
        this.analysis = message;
        this.table.show(message);
        this.onUpdate();
      }, (error) => this.table.clear(error.message));
    }, QUIET_MS);
  }

  /** Forget the position, on the server too. */
  halt() {
    clearTimeout(this.timer);
    this.stream?.close();
    this.stream = null;
    this.analysis = null;
  }

  /** Stop thinking and say why. */
  stop(/** @type {string} */ text = t("analysis.off")) {
    this.halt();
    this.isOn = false;
    this.table.clear(text);
  }
}
