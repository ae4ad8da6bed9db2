/** Routing by the hash of the address: `#/analyse?rules=15x15:5:renju&moves=h8,i9`. */

/** @typedef {{ page: string, rest: string[], query: URLSearchParams }} Route */

/** @returns {Route} */
export function parseRoute(/** @type {string} */ hash) {
	const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
	const [page = "", ...rest] = decoded(path);
	return { page: page || "play", rest, query: new URLSearchParams(query) };
}

/** The decoded parts of a path; empty if the encoding is invalid. */
function decoded(/** @type {string} */ path) {
	try {
		return path.split("/").map(decodeURIComponent);
	} catch {
		return [];
	}
}

export function hashOf(/** @type {string} */ path, /** @type {Record<string, string>} */ query = {}) {
	const text = Object.entries(query)
		.filter(([, value]) => value !== "")
		.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`)
		.join("&");
	return `#/${path}${text ? `?${text}` : ""}`;
}

export const go = (/** @type {string} */ path, /** @type {Record<string, string>} */ query = {}) => {
	location.hash = hashOf(path, query);
};

/** Open a page in place of the current one, so that *back* skips the address that led here. */
export const redirect = (/** @type {string} */ path, /** @type {Record<string, string>} */ query = {}) =>
	location.replace(hashOf(path, query));

/**
 * Update the address without adding a history entry. Does nothing if the address already names another page: the user
 * is navigating there, and the current page is about to be unmounted.
 */
export function replaceRoute(/** @type {string} */ path, /** @type {Record<string, string>} */ query = {}) {
	if (parseRoute(location.hash).page !== parseRoute(path).page) return;
	history.replaceState(null, "", hashOf(path, query));
}
