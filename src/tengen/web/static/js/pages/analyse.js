/** The analysis page: a tree of moves in the browser, and engines on the server that analyse the current position. */

import { saveStudy, serverInfo, study } from "../api.js";
import { followSettings } from "../board_settings.js";
import { keepingFocus } from "../dom.js";
import { copy, listenForGames, openExport, openImport } from "../files.js";
import { t } from "../i18n.js";
import { announce, notify, notifyError } from "../notice.js";
import { go, hashOf, replaceRoute } from "../router.js";
import { onChange } from "../settings.js";
import { playStone } from "../sound.js";
import { play, promote, remove, step, stonesAt, walk } from "../tree.js";
import { askPoint } from "../widgets/ask_point.js";
import { editHeader } from "../widgets/game_header.js";
import { StoneEditor } from "../widgets/stone_editor.js";
import { other, positionIn, queryOf, workspace } from "../workspace.js";
import { actionsOf } from "./analyse_keys.js";
import { fillSide } from "./analyse_side.js";
import { Thinking } from "./analyse_thinking.js";
import { AnalyseView } from "./analyse_view.js";

/** @import { RecordInput, ServerInfo } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Settings } from "../settings.js" */
/** @import { Node } from "../tree.js" */

export class AnalysePage {
	/** Sets up stones instead of playing moves. @type {StoneEditor | null} */ editor = null;
	/** Restores the game that was replaced. @type {(() => void) | null} */ restore = null;

	constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
		this.info = info;
		this.thinking = new Thinking(this, info);
		this.view = new AnalyseView(main, this);
		this.board = this.view.board;
		this.drawSide();
		this.unfollow = [
			followSettings(this.board),
			onChange((changes) => this.settingsChanged(changes)),
			listenForGames((record) => this.load(record)),
		];
	}

	drawSide() {
		keepingFocus(this.view.side, () => fillSide(this));
	}

	settingsChanged(/** @type {Partial<Settings>} */ changes) {
		if ("lines" in changes || "showPolicy" in changes) this.thinking.think();
		this.drawSide();
		this.view.showPosition();
		this.thinking.update();
	}

	// -- the tree --------------------------------------------------------------------------------------------------------

	play(/** @type {string} */ point) {
		const facts = workspace.facts.get(workspace.node.id);
		const foul = facts?.fouls.find((each) => each.point === point);
		if (facts && !facts.legal.includes(point)) {
			notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), {
				error: true,
			});
			return;
		}
		const colour = workspace.toMove();
		const known = workspace.node.children.length;
		const node = play(workspace.node, point, colour);
		playStone(colour);
		announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
		this.goTo(node, node.parent?.children.length !== known);
	}

	/** Go to a node: draw it immediately, then request its facts and an analysis. */
	async goTo(/** @type {Node} */ node, isNew = false) {
		workspace.node = node;
		this.thinking.leave();
		if (this.editor) this.closeEditor();
		this.thinking.think();
		this.view.showPosition();
		this.view.showTree();
		workspace.keep();
		const query = workspace.query();
		if (query) replaceRoute("analyse", query);
		this.view.explorer.show(workspace.position(node));
		try {
			await workspace.factsOf(node);
		} catch (error) {
			notifyError(error);
			if (isNew && node.parent) {
				remove(node);
				this.goTo(node.parent);
			}
			return;
		}
		if (workspace.node === node) {
			this.view.showPosition();
			this.thinking.update();
			if (workspace.facts.get(node.id)?.outcome !== "ongoing") this.thinking.think();
		}
	}

	walk(/** @type {number} */ steps) {
		const node = step(workspace.node, steps);
		if (node !== workspace.node) this.goTo(node);
	}

	promote() {
		promote(workspace.node);
		this.view.showTree();
		workspace.keep();
	}

	remove() {
		const gone = workspace.node;
		if (!gone.parent) return;
		const { parent, undo } = remove(gone);
		this.goTo(/** @type {Node} */ (parent));
		notify(t("tree.deleted"), {
			action: {
				label: t("tree.restore"),
				run: () => {
					undo();
					this.goTo(gone);
				},
			},
		});
	}

	/** Replace the tree, and offer to restore the old one. */
	replace(/** @type {() => void} */ replaceTree) {
		const { rules, root, node, header } = workspace;
		replaceTree();
		this.thinking.chances.clear();
		this.thinking.fillChances();
		this.goTo(workspace.node);
		if (!root.children.length) return;
		this.restore = () => {
			Object.assign(workspace, { rules, root, header });
			workspace.facts.clear();
			this.restore = null;
			this.goTo(node);
			this.drawSide();
		};
		this.drawSide();
	}

	load(/** @type {RecordInput} */ record) {
		this.replace(() => {
			workspace.load(record);
			workspace.node = workspace.lastNode();
		});
	}

	clear() {
		this.replace(() => workspace.begin({ rules: workspace.rules, moves: [] }));
	}

	// -- names, rules and set-up stones ------------------------------------------------------------------------------------

	async editHeader() {
		const { node } = workspace;
		const changed = await editHeader(workspace, this.info, (rules) => ({ ...workspace.position(node), rules }));
		if (!changed) return;
		Object.assign(workspace, changed);
		workspace.facts.clear();
		this.drawSide();
		this.goTo(workspace.node);
	}

	setUpStones() {
		this.editor = new StoneEditor(stonesAt(workspace.node).values(), workspace.toMove(), {
			onChange: () => {
				this.editor?.draw();
				this.view.showPosition();
			},
			onDone: ({ stones, toMove }) => {
				const { rules, header } = workspace;
				this.closeEditor();
				this.replace(() => {
					workspace.begin({ rules, initialStones: stones, initialPlayer: toMove, moves: [] });
					workspace.header = { black: header.black ?? "", white: header.white ?? "" };
				});
			},
			onCancel: () => this.closeEditor(),
		});
		this.drawSide();
		this.thinking.think();
		this.view.showPosition();
	}

	closeEditor() {
		this.editor = null;
		this.drawSide();
		this.thinking.think();
		this.view.showPosition();
	}

	openImport() {
		openImport((record) => this.load(record));
	}

	openExport() {
		openExport(this.info.formats, () => workspace.record(), this.board.view.picture);
	}

	/** Copy a link to the position; a tree with variations or comments is saved on the server first. */
	async share() {
		const isPlain =
			workspace.query() && [...walk(workspace.root)].every((node) => node.children.length < 2 && !node.comment);
		try {
			const address = isPlain
				? location.href
				: new URL(hashOf(`analyse/${(await saveStudy(workspace.record())).id}`), location.href).href;
			await copy(address);
		} catch (error) {
			notifyError(error);
		}
	}

	playFromHere() {
		go("play/new", queryOf(workspace.position(workspace.node)));
	}

	/** Add a line as a variation and go to its first move. */
	insert(/** @type {string[]} */ pv) {
		let at = workspace.node;
		let colour = workspace.toMove();
		for (const point of pv) {
			at = play(at, point, colour);
			colour = other(colour);
		}
		this.goTo(workspace.node.children.find((child) => child.point === pv[0]) ?? at);
	}

	async typePoint() {
		const point = this.board.state.toPlay ? await askPoint(this.board) : null;
		if (point) this.play(point);
	}

	playBest() {
		const best = this.thinking.engine.analysis?.moveInfos[0];
		if (best) this.play(best.move);
	}

	unmount() {
		this.thinking.halt();
		for (const end of this.unfollow) end();
	}
}

/** Go to the position in the address, if there is one. */
function followAddress(/** @type {URLSearchParams} */ query) {
	const position = positionIn(query);
	if (!position) return;
	const node = workspace.find(position);
	if (node) workspace.node = node;
	else workspace.begin(position);
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	const page = new AnalysePage(main, await serverInfo());
	const follow = async (/** @type {Route} */ { rest: [id], query }) => {
		if (id) {
			await study(id).then(
				({ record }) => page.load(record),
				(error) => {
					notifyError(error);
					page.goTo(workspace.node);
				},
			);
			return;
		}
		followAddress(query);
		page.thinking.fillChances();
		page.goTo(workspace.node);
	};
	await follow(route);
	return { unmount: () => page.unmount(), actions: actionsOf(page), follow };
}
