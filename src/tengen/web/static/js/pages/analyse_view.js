/** The elements of the analysis page, and their drawing: board, bar, graph, tree, threats, the line to step through. */

import { Board } from "../board/board.js";
import { fill, h, keepingFocus } from "../dom.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { settings } from "../settings.js";
import { lineThrough } from "../tree.js";
import { ChanceBar, ChanceGraph } from "../widgets/chances.js";
import { Explorer } from "../widgets/explorer.js";
import { button } from "../widgets/fields.js";
import { linePlayer } from "../widgets/line_player.js";
import { MoveTree } from "../widgets/move_tree.js";
import { threatItems } from "../widgets/threat_list.js";
import { transport } from "../widgets/transport.js";
import { workspace } from "../workspace.js";

/** @import { AnalysePage } from "./analyse.js" */

export class AnalyseView {
	constructor(/** @type {HTMLElement} */ main, /** @type {AnalysePage} */ page) {
		this.page = page;
		const boardBox = h("div");
		this.bar = new ChanceBar();
		this.graph = new ChanceGraph((ply) => page.goTo(lineThrough(workspace.node)[ply] ?? workspace.node));
		this.board = new Board(boardBox, {
			onPlay: (point) => page.play(point),
			onHover: (point) => page.thinking.pointAt(point),
			// On a touch screen, the first tap shows the line of a candidate and the second one plays it.
			onPending: (point) => {
				this.confirmBar.hidden = !point;
				page.thinking.pointAt(point);
			},
			onPick: (point) => {
				page.editor?.pick(point);
				return page.editor !== null;
			},
		});
		this.confirmBar = h(
			"div",
			{ class: "confirm-bar", hidden: true },
			button(t("cancel"), () => this.board.set({ pending: null })),
			button(t("place"), () => this.board.confirm(), { kind: "primary" }),
		);
		this.tree = new MoveTree((node) => page.goTo(node));
		this.status = h("p", { class: "status small", role: "status" });
		this.explorer = new Explorer((move) => page.play(move));
		this.lineBox = h("div", { hidden: true });
		this.threatList = h("ul", { class: "threat-list small" });
		this.comment = h("textarea", {
			class: "comment",
			rows: 2,
			maxLength: 10000,
			placeholder: t("comment.placeholder"),
			"aria-label": t("comment"),
			oninput: () => {
				workspace.node.comment = this.comment.value;
				workspace.keep();
				// Update now: if the list grew only on blur, it would move the button whose click caused the blur.
				this.tree.show(workspace.root, workspace.node);
			},
		});
		this.side = h("div", { class: "side" });
		fill(
			main,
			h("h1", { class: "visually-hidden" }, t("page.analyse")),
			h(
				"div",
				{ class: "stage" },
				h(
					"section",
					{ class: "table", "aria-label": t("board") },
					h("div", { class: "board-row" }, this.bar.element, boardBox),
					this.confirmBar,
					transport((where) => page.walk(where)),
				),
				this.side,
			),
		);
	}

	/** Show the evaluation of the position and what the engines suggest. */
	showAnalysis() {
		const { thinking } = this.page;
		const policy = thinking.policy();
		if (!this.page.editor) this.board.set({ ...thinking.thoughts(), heat: new Map(Object.entries(policy ?? {})) });
		this.bar.show(thinking.chances.get(workspace.node.id) ?? null);
		this.showGraph();
		this.status.textContent = this.statusText(Boolean(policy));
	}

	statusText(/** @type {boolean} */ hasPolicy) {
		const outcome = workspace.facts.get(workspace.node.id)?.outcome ?? "ongoing";
		if (outcome === "draw") return t("result.draw");
		if (outcome !== "ongoing") return t("result.win", { colour: t(outcome) });
		if (settings.showPolicy && this.page.thinking.engine.analysis && !hasPolicy) return t("policy.none");
		return t("status.to-move", { colour: t(workspace.toMove()) });
	}

	showThoughts() {
		if (!this.page.editor) this.board.set(this.page.thinking.thoughts());
	}

	showLine() {
		const { thinking } = this.page;
		const { line } = thinking;
		this.lineBox.hidden = !line;
		if (line)
			keepingFocus(this.lineBox, () =>
				fill(
					this.lineBox,
					linePlayer(line.moves, line.step, (step) => thinking.stepLine(step - line.step)),
				),
			);
		this.showThoughts();
	}

	showPosition() {
		showRules(workspace.rules);
		const { thinking, editor } = this.page;
		const facts = workspace.facts.get(workspace.node.id);
		const isOver = facts && facts.outcome !== "ongoing";
		const threats = this.threats() ?? [];
		this.showLine();
		this.board.set({
			...workspace.boardState(),
			toPlay: isOver ? null : workspace.toMove(),
			...thinking.thoughts(),
			threats: threats.map(({ colour, kind, stones, answers }) => ({ colour, kind, points: stones, answers })),
			...(editor?.boardState() ?? {}),
		});
		this.showThreats();
		if (document.activeElement !== this.comment) this.comment.value = workspace.node.comment;
	}

	/** Return the threats on the board; null if they are hidden. */
	threats() {
		return settings.showThreats ? (workspace.facts.get(workspace.node.id)?.threats?.standing ?? []) : null;
	}

	/** List the threats on the board and the result of the last search for a forced win. */
	showThreats() {
		fill(
			this.threatList,
			threatItems(this.threats(), this.page.thinking.solved, (pv) => this.page.insert(pv)),
		);
	}

	showTree() {
		this.tree.show(workspace.root, workspace.node);
		this.showGraph();
	}

	showGraph() {
		const line = lineThrough(workspace.node);
		this.graph.show(
			line.map((node) => this.page.thinking.chances.get(node.id) ?? null),
			line.indexOf(workspace.node),
		);
	}
}
