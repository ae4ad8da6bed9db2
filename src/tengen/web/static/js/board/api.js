// @ts-check
/** The board as pages use it: `set` what is to be seen, listen to what is played and pointed at. */

import { bind } from "./events.js";
import { isPoint } from "./points.js";
import { createView, render } from "./render.js";
import { initialState, resized, select } from "./state.js";

/** @typedef {import("./state.js").BoardState} BoardState */

export class Board {
  /**
   * @param {HTMLElement} container
   * @param {{ onPlay?: (point: string) => void, onHover?: (point: string | null) => void, onPending?: (point: string | null) => void,
   *   onCursor?: (point: string) => void }} [listeners]
   */
  constructor(container, listeners = {}) {
    this.listeners = listeners;
    /** @type {BoardState} */
    this.state = initialState();
    this.view = createView(container);
    bind(this, this.view.grid);
    render(this.view, this.state);
  }

  /** Change what is shown; drawn at once, so that a stone is there in the frame after the click. */
  set(/** @type {Partial<BoardState>} */ changes) {
    const { width = this.state.width, height = this.state.height } = changes;
    const size = width === this.state.width && height === this.state.height ? {} : resized(width, height);
    const before = this.state.pending;
    this.state = { ...this.state, ...size, ...changes };
    if (!isPoint(this.state.cursor, width, height)) this.state.cursor = "a1";
    if (this.state.pending && this.state.stones.has(this.state.pending)) this.state.pending = null;
    render(this.view, this.state);
    if (this.state.pending !== before) this.listeners.onPending?.(this.state.pending);
  }

  /** A click or its equal on a point. */
  select(/** @type {string} */ point) {
    const { changes, play } = select(this.state, point);
    this.set(changes);
    if (play) this.listeners.onPlay?.(play);
  }

  /** Play the point that waits for its second click. */
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
