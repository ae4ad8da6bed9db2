// @ts-check
/** The server: questions over HTTP, everything that lives over one socket (docs/api.md). */

import { t, tIfKnown } from "./i18n.js";

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2000;

/** What could not be done, in the words of the page. */
export class ApiError extends Error {}

/** The problem of an answer or a message: by its code in the language of the page, else in the words of the server. */
const problemOf = (/** @type {{ error: string, code?: string }} */ { error, code }) => new ApiError(tIfKnown(`problem.${code}`, { text: error }) ?? error);

/**
 * Ask over HTTP; a body makes it a POST.
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new ApiError(t("error.offline"));
  }
  if (answer.ok) return answer.json();
  const problem = await answer.json().catch(() => ({}));
  throw problemOf({ error: t("error.status", { status: answer.status }), ...problem });
}

const path = (/** @type {string[]} */ ...parts) => `/api/${parts.map(encodeURIComponent).join("/")}`;

const query = (/** @type {Record<string, string | number>} */ values) => {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "").map(([key, value]) => [key, String(value)])).toString();
  return text ? `?${text}` : "";
};

/** @type {Promise<any> | null} */
let info = null;

/** What the server offers; asked once. */
export function serverInfo() {
  info ??= ask(path("info")).catch((error) => {
    info = null;
    throw error;
  });
  return info;
}

export const positionInfo = (/** @type {object} */ position) => ask(path("position"), position);
export const newGame = (/** @type {object} */ game) => ask(path("games"), game);
export const rematch = (/** @type {string} */ id) => ask(path("games", id, "rematch"), {});
export const importRecord = (/** @type {object} */ request) => ask(path("import"), request);
export const exportRecord = (/** @type {object} */ record, /** @type {string} */ format) => ask(path("export"), { record, format });
export const keepStudy = (/** @type {object} */ record) => ask(path("studies"), record);
export const study = (/** @type {string} */ id) => ask(path("studies", id));
export const puzzles = (/** @type {Record<string, string | number>} */ filter) => ask(path("puzzles") + query(filter));
export const puzzle = (/** @type {string} */ id) => ask(path("puzzles", id));
export const tryPuzzle = (/** @type {string} */ id, /** @type {string[]} */ moves) => ask(path("puzzles", id, "try"), { moves });
export const puzzleSolution = (/** @type {string} */ id) => ask(path("puzzles", id, "solution"));
export const runs = () => ask(path("runs"));
export const run = (/** @type {string} */ name) => ask(path("runs", name));
export const runGame = (/** @type {string} */ name, /** @type {string} */ file) => ask(path("runs", name, "games", file));
export const tournaments = () => ask(path("tournaments"));
export const tournament = (/** @type {string} */ name) => ask(path("tournaments", name));
export const tournamentGames = (/** @type {string} */ name, /** @type {Record<string, string | number>} */ page) => ask(path("tournaments", name, "games") + query(page));
export const tournamentGame = (/** @type {string} */ name, /** @type {number} */ number) => ask(path("tournaments", name, "games", String(number)));
export const models = () => ask(path("models"));
export const papers = () => ask(path("papers"));

/**
 * @typedef {object} Stream something under way on the server
 * @property {string} id
 * @property {() => void} close end it, on the server too
 */

/** The one socket. Streams survive a lost connection: they are asked for again when it is back. */
class Socket {
  /** @type {WebSocket | null} */ socket = null;
  /** @type {Map<string, { message: object, onMessage: (message: any) => void, onError: (error: ApiError, goesOn?: boolean) => void, lasts: boolean }>} */ streams = new Map();
  /** @type {Set<(isOpen: boolean) => void>} */ listeners = new Set();
  nextId = 1;
  retryMs = FIRST_RETRY_MS;
  isOpen = false;

  connect() {
    if (this.socket) return;
    const address = new URL("/api/socket", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.socket = new WebSocket(address);
    this.socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.setOpen(true);
      for (const [id, stream] of this.streams) this.send({ ...stream.message, id });
    };
    this.socket.onmessage = ({ data }) => this.receive(JSON.parse(data));
    this.socket.onclose = () => {
      this.socket = null;
      this.setOpen(false);
      for (const [id, stream] of this.streams) {
        if (stream.lasts) continue;
        this.streams.delete(id);
        stream.onError(new ApiError(t("error.offline")));
      }
      setTimeout(() => this.connect(), this.retryMs);
      this.retryMs = Math.min(LAST_RETRY_MS, 2 * this.retryMs);
    };
  }

  setOpen(/** @type {boolean} */ isOpen) {
    this.isOpen = isOpen;
    for (const listener of this.listeners) listener(isOpen);
  }

  send(/** @type {object} */ message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  receive(/** @type {any} */ message) {
    const stream = this.streams.get(message.id);
    if (!stream) return;
    if (message.type === "error") {
      // Too soon is no failure: what lasts is asked for again when the server says.
      if (message.retryAfterMs && stream.lasts) {
        setTimeout(() => this.streams.has(message.id) && this.send({ ...stream.message, id: message.id }), message.retryAfterMs);
        return;
      }
      if (!message.goesOn) this.streams.delete(message.id);
      stream.onError(problemOf(message), message.goesOn);
    } else {
      stream.onMessage(message);
    }
  }

  /**
   * Begin something that answers many times.
   * @param {object} message
   * @param {(message: any) => void} onMessage
   * @param {(error: ApiError, goesOn?: boolean) => void} onError told of what ended it, and of troubles that it goes on after
   * @param {{ lasts?: boolean }} [options]
   * @returns {Stream}
   */
  open(message, onMessage, onError, { lasts = true } = {}) {
    const id = `r${this.nextId++}`;
    this.streams.set(id, { message, onMessage, onError, lasts });
    this.connect();
    this.send({ ...message, id });
    return { id, close: () => this.close(id) };
  }

  close(/** @type {string} */ id) {
    if (!this.streams.delete(id)) return;
    this.send({ type: "terminate", id: `t${this.nextId++}`, terminateId: id });
  }

  /** Ask for one answer. @returns {Promise<any>} */
  request(/** @type {object} */ message) {
    return new Promise((resolve, reject) => {
      const stream = this.open(message, (answer) => {
        this.streams.delete(stream.id);
        resolve(answer);
      }, reject, { lasts: false });
    });
  }
}

export const socket = new Socket();
