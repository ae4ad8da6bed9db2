/** The engines of the analysis page: their evaluations, what the board shows of them, and the lines to step through. */

import { socket } from "../api.js";
import { t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { settings } from "../settings.js";
import { boardCandidates, previewOf } from "../widgets/candidates.js";
import { finalChance, proofForBlack } from "../widgets/chances.js";
import { EnginePanel } from "../widgets/engine_panel.js";
import { workspace } from "../workspace.js";

/** @import { Colour, ServerInfo, ThreatKind } from "../messages.js" */
/** @import { Solved } from "../widgets/threat_list.js" */
/** @import { AnalysePage } from "./analyse.js" */

/** @typedef {{ moves: string[], step: number, colour: Colour }} SteppedLine a line, the number of its moves shown, and the side that moves first */

export class Thinking {
	/** The evaluations by node id. @type {Map<number, { blackWinrate: number, proof: string | null, visits: number }>} */
	chances = new Map();
	isOn = false;
	hasSecond = false;
	/**
	 * The hovered move, on the board or in an engine's table, and its line, which is shown instead of the candidates. The
	 * line is updated while the engine reports the move, and stays when the engine drops it.
	 * @type {{ move: string, engine: EnginePanel | null, line: string[] | null } | null}
	 */
	pointed = null;
	/** The result of the last search for a forced win. @type {Solved} */ solved = null;
	/** The line that the user steps through, instead of the candidates. @type {SteppedLine | null} */ line = null;

	constructor(/** @type {AnalysePage} */ page, /** @type {ServerInfo} */ info) {
		this.page = page;
		const listeners = {
			onUpdate: () => this.update(),
			onPoint: (/** @type {string | null} */ move, /** @type {EnginePanel} */ engine) => this.pointAt(move, engine),
			onPlay: (/** @type {string} */ move) => page.play(move),
			onChoose: () => this.think(),
		};
		this.engine = new EnginePanel(info, "engine", listeners);
		this.second = new EnginePanel(info, "secondEngine", listeners);
		this.engines = [this.engine, this.second];
	}

	// -- engines -----------------------------------------------------------------------------------------------------------

	toggle() {
		this.isOn = !this.isOn;
		this.page.drawSide();
		this.think();
	}

	toggleSecond() {
		this.hasSecond = !this.hasSecond;
		this.page.drawSide();
		this.think();
	}

	/** Analyse the current position with the engines that are on; stop the others. */
	think() {
		if (this.pointed) this.pointed.line = null;
		const facts = workspace.facts.get(workspace.node.id);
		const isOver = facts && facts.outcome !== "ongoing";
		for (const engine of this.engines) {
			if (!this.isOn || this.page.editor || (engine === this.second && !this.hasSecond)) engine.stop();
			else if (isOver) engine.stop(t("analysis.over"));
			else engine.analyse(workspace.position(workspace.node));
		}
		this.update();
	}

	halt() {
		for (const engine of this.engines) engine.halt();
	}

	update() {
		const { analysis } = this.engine;
		const { node } = workspace;
		const outcome = workspace.facts.get(node.id)?.outcome ?? "ongoing";
		if (outcome !== "ongoing") this.chances.set(node.id, { proof: null, ...finalChance(outcome), visits: Infinity });
		else if (analysis) {
			const { rootInfo } = analysis;
			const known = this.chances.get(node.id);
			if (!known || rootInfo.visits >= known.visits || rootInfo.proof) {
				this.chances.set(node.id, {
					blackWinrate: rootInfo.blackWinrate,
					proof: proofForBlack(rootInfo.proof, rootInfo.currentPlayer),
					visits: rootInfo.visits,
				});
				node.extra.blackWinrate = rootInfo.blackWinrate;
			}
		}
		this.page.view.showAnalysis();
	}

	/** The policy of the first engine that has one; null if it is hidden. */
	policy() {
		return settings.showPolicy ? (this.engine.analysis?.policy ?? this.second.analysis?.policy ?? null) : null;
	}

	fillChances() {
		for (const node of workspace.mainLine()) {
			const value = node.extra.blackWinrate;
			if (typeof value === "number") this.chances.set(node.id, { blackWinrate: value, proof: null, visits: 0 });
		}
	}

	leave() {
		this.solved = this.line = null;
	}

	// -- what the board shows ----------------------------------------------------------------------------------------------

	/** Return the candidates for the board. If both engines suggest a move, the first engine's evaluation is shown. */
	candidates() {
		if (!settings.showCandidates) return [];
		const first = this.engine.analysis ? boardCandidates(this.engine.analysis) : [];
		const second = this.second.analysis ? boardCandidates(this.second.analysis, true) : [];
		return [...first, ...second.filter((one) => !first.some(({ point }) => point === one.point))];
	}

	/** Return the analysis for the board: the line that is stepped through or pointed at, or else the candidates. */
	thoughts() {
		if (this.line) {
			const { moves, step, colour } = this.line;
			return { preview: previewOf(moves.slice(0, step), colour), candidates: [] };
		}
		const line = this.pointedLine();
		return line
			? { preview: previewOf(line, workspace.toMove()), candidates: [] }
			: { preview: this.solvedPreview(), candidates: this.candidates() };
	}

	pointAt(/** @type {string | null} */ move, /** @type {EnginePanel | null} */ engine = null) {
		this.pointed = move ? { move, engine, line: null } : null;
		this.page.view.showThoughts();
	}

	pointedLine() {
		const { pointed } = this;
		if (!pointed) return null;
		const engines = pointed.engine ? [pointed.engine] : settings.showCandidates ? this.engines : [];
		const found = engines
			.flatMap(({ analysis }) => analysis?.moveInfos ?? [])
			.find(({ move }) => move === pointed.move);
		pointed.line = found?.pv ?? pointed.line;
		return pointed.line;
	}

	// -- lines and forced wins ---------------------------------------------------------------------------------------------

	/** Step through a line: the one under the pointer, the forced win that was found, or the best line of the engine. */
	stepLine(/** @type {number} */ steps) {
		const line = this.line ?? this.lineToStep();
		if (!line) return;
		const step = Math.max(0, Math.min(line.moves.length, line.step + steps));
		this.line = step ? { ...line, step } : null;
		this.page.view.showLine();
	}

	/** @returns {SteppedLine | null} */
	lineToStep() {
		const { solved } = this;
		const colour = workspace.toMove();
		const pointed = this.pointedLine();
		if (pointed) return { moves: pointed, step: 0, colour };
		if (solved && solved !== "waiting" && solved.verdict === "win")
			return { moves: solved.pv, step: 0, colour: solved.attacker };
		const best = this.engines.flatMap(({ analysis }) => analysis?.moveInfos[0]?.pv ?? []);
		return best.length ? { moves: best, step: 0, colour } : null;
	}

	async solve(/** @type {ThreatKind} */ kind) {
		const { node } = workspace;
		this.solved = "waiting";
		this.page.view.showThreats();
		try {
			const answer = await socket.request({ type: "solve", ...workspace.position(node), kind });
			if (workspace.node !== node) return;
			this.solved = answer;
		} catch (error) {
			this.solved = null;
			notifyError(error);
		}
		this.page.view.showPosition();
	}

	solvedPreview() {
		const { solved } = this;
		return solved && solved !== "waiting" && solved.verdict === "win" ? previewOf(solved.pv, solved.attacker) : [];
	}
}
