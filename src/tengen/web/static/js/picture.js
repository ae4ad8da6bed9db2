/** Exports the board as a picture. Computed styles are copied into it, so that it looks the same outside the page. */

import { svg } from "./dom.js";

const STYLES = [
	"fill",
	"stroke",
	"stroke-width",
	"stroke-linecap",
	"stroke-linejoin",
	"stroke-dasharray",
	"opacity",
	"font-size",
	"font-weight",
	"font-family",
	"text-anchor",
	"dominant-baseline",
];
const WOOD = "#e0b16b";
const PIXELS = 1200;

/** The board as a standalone SVG document. @returns {string} */
export function boardSvg(/** @type {SVGSVGElement} */ picture) {
	const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
	const [from, to] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
	from.forEach((element, i) => {
		const target = to[i];
		if (!target || element.closest("defs")) return;
		const style = getComputedStyle(element);
		for (const name of STYLES) {
			const value = style.getPropertyValue(name);
			// References to gradients are already in the attributes.
			if (value && !value.startsWith("url(")) target.setAttribute(name, value);
		}
		target.removeAttribute("class");
	});
	copy.querySelectorAll(".layer-cursor").forEach((layer) => layer.remove());
	const [x = 0, y = 0, width = 1, height = 1] = (picture.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
	copy.querySelector("defs")?.after(svg("rect", { x, y, width, height, fill: WOOD }));
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	copy.setAttribute("width", String(PIXELS));
	copy.setAttribute("height", String(Math.round((PIXELS * height) / width)));
	copy.removeAttribute("class");
	return new XMLSerializer().serializeToString(copy);
}

/** The board as a PNG file. @returns {Promise<Blob>} */
export async function boardPng(/** @type {SVGSVGElement} */ picture) {
	const url = URL.createObjectURL(new Blob([boardSvg(picture)], { type: "image/svg+xml" }));
	try {
		const image = new Image();
		image.src = url;
		await image.decode();
		const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
		canvas.getContext("2d")?.drawImage(image, 0, 0);
		return await new Promise((resolve, reject) =>
			canvas.toBlob((blob) =>
				blob ? resolve(blob) : reject(new Error("the browser could not encode the picture as PNG")),
			),
		);
	} finally {
		URL.revokeObjectURL(url);
	}
}
