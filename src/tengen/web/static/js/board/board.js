/** The board component of the pages: `set` changes its state, and listeners report moves and hovered points. */

import { bind } from "./events.js";
import { isPoint } from "./points.js";
import { createView, render } from "./render.js";
import { initialState, resized, select } from "./state.js";

/** @typedef {import("./state.js").BoardState} BoardState */

export class Board {
	/**
	 * @param {HTMLElement} container
	 * @param {{ onPlay?: (point: string) => void, onHover?: (point: string | null) => void, onPending?: (point: string | null) => void,
	 *   onCursor?: (point: string) => void, onPick?: (point: string) => boolean }} [listeners] `onPick` is called for every
	 *   selected point and returns whether it has handled it
	 */
	constructor(container, listeners = {}) {
		this.listeners = listeners;
		/** @type {BoardState} */
		this.state = initialState();
		this.view = createView(container);
		bind(this, this.view.grid);
		render(this.view, this.state);
	}

	/** Change the state and redraw. Drawing is synchronous, so a stone appears in the frame after the click. */
	set(/** @type {Partial<BoardState>} */ changes) {
		const { width = this.state.width, height = this.state.height } = changes;
		const size = width === this.state.width && height === this.state.height ? {} : resized(width, height);
		const before = /** @type {Record<string, unknown>} */ (this.state);
		const after = { ...this.state, ...size, ...changes };
		if (!isPoint(after.cursor, width, height)) after.cursor = "a1";
		if (after.pending && after.stones.has(after.pending)) after.pending = null;
		const changed = new Set(
			Object.entries(after)
				.filter(([key, value]) => value !== before[key])
				.map(([key]) => key),
		);
		if (!changed.size) return;
		this.state = after;
		render(this.view, after, changed);
		if (changed.has("pending")) this.listeners.onPending?.(after.pending);
	}

	select(/** @type {string} */ point) {
		if (this.listeners.onPick?.(point)) return;
		const { changes, play } = select(this.state, point);
		this.set(changes);
		if (play) this.listeners.onPlay?.(play);
	}

	confirm() {
		if (this.state.pending) this.select(this.state.pending);
	}

	hover(/** @type {string | null} */ point) {
		this.set({ hover: point });
		this.listeners.onHover?.(point);
	}

	moveCursor(/** @type {string} */ point) {
		this.set({ cursor: point });
		this.listeners.onCursor?.(point);
		this.listeners.onHover?.(point);
	}

	focus() {
		this.view.grid.focus();
	}
}
