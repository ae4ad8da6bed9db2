// @ts-check
/** The board as a picture file. What is seen is what is drawn: the styles of the page are written into the copy. */

import { svg } from "./dom.js";

const STYLES = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline"];
const WOOD = "#e0b16b";
const PIXELS = 1200;

/** The board as a document of its own. @returns {string} */
export function boardSvg(/** @type {SVGSVGElement} */ picture) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const [from, to] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    if (element.closest("defs")) return;
    const style = getComputedStyle(element);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      // Gradients are named by the attribute already.
      if (value && !value.startsWith("url(")) to[i].setAttribute(name, value);
    }
    to[i].removeAttribute("class");
  });
  copy.querySelectorAll(".layer-cursor").forEach((layer) => layer.remove());
  const [x, y, width, height] = (picture.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
  copy.querySelector("defs")?.after(svg("rect", { x, y, width, height, fill: WOOD }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(PIXELS));
  copy.setAttribute("height", String(Math.round((PIXELS * height) / width)));
  copy.removeAttribute("class");
  return new XMLSerializer().serializeToString(copy);
}

/** The board as PNG. @returns {Promise<Blob>} */
export async function boardPng(/** @type {SVGSVGElement} */ picture) {
  const url = URL.createObjectURL(new Blob([boardSvg(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture")))));
  } finally {
    URL.revokeObjectURL(url);
  }
}
