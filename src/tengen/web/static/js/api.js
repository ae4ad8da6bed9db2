/** Client for the server's API (docs/reference/api.md): HTTP for single requests, one WebSocket for live updates. */

import { t, tIfKnown, translated } from "./i18n.js";

/**
 * @import { ClientMessage, ExportReview, NewGame, OperationKind, PositionRequest, Problem, RecordInput, ImportRequest, ResumeOperation, Routes, ServerInfo,
 *   ServerMessage, StartTournament, StartTraining } from "./messages.js"
 */

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2000;

/** A failed request, with a message in the language of the page. */
export class ApiError extends Error {}

/** Translate a problem by its code; without a translation, keep the server's English text. */
const problemOf = (/** @type {Pick<Problem, "error"> & Partial<Problem>} */ { error, code }) =>
	new ApiError(tIfKnown(`problem.${code}`, { text: translated(error) }) ?? error);

/**
 * Send an HTTP request to a route and return the response.
 * @template {keyof Routes} R
 * @param {R} route method and path, such as `GET /api/puzzles/{puzzle_id}`
 * @param {{ path?: Routes[R]["path"], query?: Routes[R]["query"], body?: Routes[R]["body"] }} [parts]
 * @returns {Promise<Routes[R]["answer"]>}
 */
async function ask(route, { path = {}, query = {}, body } = {}) {
	const [method = "GET", template = ""] = route.split(" ");
	const address = template.replace(/\{(\w+)\}/g, (_, name) =>
		encodeURIComponent(String(/** @type {Record<string, unknown>} */ (path)[name])),
	);
	/** @type {RequestInit} */
	const request =
		method === "GET"
			? {}
			: { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) };
	let answer;
	try {
		answer = await fetch(address + queryText(query), request);
	} catch {
		throw new ApiError(t("error.offline"));
	}
	if (answer.ok) return answer.json();
	/** @type {Partial<Problem>} */
	const problem = await answer.json().catch(() => ({}));
	throw problemOf({ error: t("error.status", { status: answer.status }), ...problem });
}

/** Format the query string of an address; empty values are omitted. */
function queryText(/** @type {object} */ values) {
	const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
	const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
	return text ? `?${text}` : "";
}

/** @type {Promise<ServerInfo> | null} */
let info = null;

/** Return the description of the server. It is requested once; a failure is not cached. */
export function serverInfo() {
	info ??= ask("GET /api/info").catch((error) => {
		info = null;
		throw error;
	});
	return info;
}

export const positionInfo = (/** @type {PositionRequest} */ body) => ask("POST /api/position", { body });
export const exploreOpening = (/** @type {PositionRequest} */ body) => ask("POST /api/explorer", { body });
export const newGame = (/** @type {NewGame} */ body) => ask("POST /api/games", { body });
export const rematch = (/** @type {string} */ id) =>
	ask("POST /api/games/{game_id}/rematch", { path: { game_id: id } });
export const game = (/** @type {string} */ id) => ask("GET /api/games/{game_id}", { path: { game_id: id } });
export const deleteGame = (/** @type {string} */ id) => ask("DELETE /api/games/{game_id}", { path: { game_id: id } });
export const myGames = (/** @type {Routes["GET /api/my-games"]["query"]} */ query) =>
	ask("GET /api/my-games", { query });
export const myRating = () => ask("GET /api/my-rating");
export const exportMyGames = (/** @type {string} */ format, /** @type {string | null} */ id = null) =>
	ask("GET /api/my-games/export", { query: { format, game_id: id } });
export const exportReview = (/** @type {ExportReview} */ body) => ask("POST /api/reviews/export", { body });
export const importRecord = (/** @type {ImportRequest} */ body) => ask("POST /api/import", { body });
export const exportRecord = (/** @type {RecordInput} */ record, /** @type {string} */ format) =>
	ask("POST /api/export", { body: { record, format } });
export const saveStudy = (/** @type {RecordInput} */ body) => ask("POST /api/studies", { body });
export const study = (/** @type {string} */ id) => ask("GET /api/studies/{study_id}", { path: { study_id: id } });
export const puzzles = (/** @type {Routes["GET /api/puzzles"]["query"]} */ query) => ask("GET /api/puzzles", { query });
export const dailyPuzzle = (/** @type {string} */ day) => ask("GET /api/puzzles/daily", { query: { day } });
export const puzzle = (/** @type {string} */ id) => ask("GET /api/puzzles/{puzzle_id}", { path: { puzzle_id: id } });
export const tryPuzzle = (/** @type {string} */ id, /** @type {string[]} */ moves) =>
	ask("POST /api/puzzles/{puzzle_id}/try", { path: { puzzle_id: id }, body: { moves } });
export const puzzleSolution = (/** @type {string} */ id) =>
	ask("GET /api/puzzles/{puzzle_id}/solution", { path: { puzzle_id: id } });
export const runs = (/** @type {number} */ limit, /** @type {number} */ offset) =>
	ask("GET /api/runs", { query: { limit, offset } });
export const run = (/** @type {string} */ name) => ask("GET /api/runs/{name}", { path: { name } });
export const runGame = (/** @type {string} */ name, /** @type {string} */ file) =>
	ask("GET /api/runs/{name}/games/{file}", { path: { name, file } });
export const runPolicies = (/** @type {string} */ name, /** @type {PositionRequest} */ body) =>
	ask("POST /api/runs/{name}/policies", { path: { name }, body });
export const operations = () => ask("GET /api/operations");
export const algorithms = () => ask("GET /api/operations/algorithms");
export const startTraining = (/** @type {StartTraining} */ body) => ask("POST /api/operations/training", { body });
export const startTournament = (/** @type {StartTournament} */ body) =>
	ask("POST /api/operations/tournament", { body });
export const stopOperation = (/** @type {OperationKind} */ kind, /** @type {string} */ name) =>
	ask("POST /api/operations/stop/{kind}/{name}", { path: { kind, name } });
export const resumeOperation = (
	/** @type {OperationKind} */ kind,
	/** @type {string} */ name,
	/** @type {ResumeOperation} */ body,
) => ask("POST /api/operations/resume/{kind}/{name}", { path: { kind, name }, body });
export const tournaments = (/** @type {number} */ limit, /** @type {number} */ offset) =>
	ask("GET /api/tournaments", { query: { limit, offset } });
export const tournament = (/** @type {string} */ name) => ask("GET /api/tournaments/{name}", { path: { name } });
export const tournamentGames = (
	/** @type {string} */ name,
	/** @type {number} */ limit,
	/** @type {number} */ offset,
) => ask("GET /api/tournaments/{name}/games", { path: { name }, query: { limit, offset } });
export const tournamentGame = (/** @type {string} */ name, /** @type {number} */ number) =>
	ask("GET /api/tournaments/{name}/games/{number}", { path: { name, number } });
export const models = () => ask("GET /api/models");
export const papers = () => ask("GET /api/papers");

/** The type of the reply to each type of request. */
const ANSWERS = /** @type {const} */ ({
	watch: "game",
	act: "done",
	analyse: "analysis",
	solve: "solve",
	hint: "hint",
	review: "review",
	judge: "judge",
});

/** @typedef {keyof typeof ANSWERS} RequestType */

/**
 * A request without its id, which the socket assigns.
 * @template {RequestType} T
 * @typedef {Omit<Extract<ClientMessage, { type: T }>, "id"> & { type: T }} SocketRequest
 */

/**
 * @template {RequestType} T
 * @typedef {Extract<ServerMessage, { type: typeof ANSWERS[T] }>} Answer
 */

/**
 * @typedef {object} Stream a request that is active on the server
 * @property {string} id
 * @property {() => void} close ends the request, on the server as well
 */

/** @typedef {(error: ApiError, goesOn?: boolean) => void} ErrorListener `goesOn`: the stream stays open after the error */

/** @typedef {{ message: ClientMessage, onMessage: (message: ServerMessage) => void, onError: ErrorListener, lasts: boolean }} OpenStream */

/** The page's only socket. Streams survive a lost connection: their requests are sent again after a reconnect. */
class Socket {
	/** @type {WebSocket | null} */ socket = null;
	/** @type {Map<string, OpenStream>} */ streams = new Map();
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
			for (const { message } of this.streams.values()) this.send(message);
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

	send(/** @type {ClientMessage} */ message) {
		if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
	}

	receive(/** @type {ServerMessage} */ message) {
		const { id } = message;
		const stream = id === null ? undefined : this.streams.get(id);
		if (id === null || !stream) return;
		if (message.type !== "error") {
			stream.onMessage(message);
			return;
		}
		// A rate limit is not a failure: the request of a lasting stream is sent again after the given delay.
		if (message.retryAfterMs && stream.lasts) {
			setTimeout(() => this.streams.has(id) && this.send(stream.message), message.retryAfterMs);
			return;
		}
		if (!message.goesOn) this.streams.delete(id);
		stream.onError(problemOf(message), message.goesOn);
	}

	/**
	 * Send a request that receives many replies.
	 * @template {RequestType} T
	 * @param {SocketRequest<T>} message
	 * @param {(message: Answer<T>) => void} onMessage
	 * @param {ErrorListener} onError
	 * @param {{ lasts?: boolean }} [options] `lasts`: send the request again after a reconnect
	 * @returns {Stream}
	 */
	open(message, onMessage, onError, { lasts = true } = {}) {
		const id = `r${this.nextId++}`;
		const expected = ANSWERS[message.type];
		const sent = /** @type {ClientMessage} */ ({ ...message, id });
		this.streams.set(id, {
			message: sent,
			onMessage: (answer) => answer.type === expected && onMessage(/** @type {Answer<T>} */ (answer)),
			onError,
			lasts,
		});
		this.connect();
		this.send(sent);
		return { id, close: () => this.close(id) };
	}

	close(/** @type {string} */ id) {
		if (!this.streams.delete(id)) return;
		this.send({ type: "terminate", id: `t${this.nextId++}`, terminateId: id });
	}

	/**
	 * Send a request that receives a single reply.
	 * @template {RequestType} T
	 * @param {SocketRequest<T>} message
	 * @returns {Promise<Answer<T>>}
	 */
	request(message) {
		return new Promise((resolve, reject) => {
			const stream = this.open(
				message,
				(answer) => {
					this.streams.delete(stream.id);
					resolve(answer);
				},
				reject,
				{ lasts: false },
			);
		});
	}
}

export const socket = new Socket();
