/** Synthesised sounds: a stone on wood, a chime at the end of a game. No files are loaded. */

import { settings } from "./settings.js";

/** @type {AudioContext | null} */
let context = null;

/** Return the audio context. Browsers allow it only after a user gesture, so it is created on first use. */
function audio() {
	if (!settings.sound || typeof AudioContext === "undefined") return null;
	context ??= new AudioContext();
	if (context.state === "suspended") context.resume().catch(() => {});
	return context;
}

/**
 * Play one decaying tone.
 * @param {AudioContext} at
 * @param {{ frequency: number, seconds: number, gain: number, delay?: number, type?: OscillatorType }} tone
 */
function ring(at, { frequency, seconds, gain, delay = 0, type = "sine" }) {
	const start = at.currentTime + delay;
	const oscillator = new OscillatorNode(at, { frequency, type });
	const volume = new GainNode(at, { gain: 0 });
	volume.gain.setValueAtTime(gain, start);
	volume.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
	oscillator.connect(volume).connect(at.destination);
	oscillator.start(start);
	oscillator.stop(start + seconds);
}

/** Run a function after the next frame is drawn, because starting audio output takes longer than a frame. */
const afterFrame = (/** @type {() => void} */ run) => requestAnimationFrame(() => setTimeout(run, 0));

export const playStone = (colour = "black") => afterFrame(() => knock(colour));

/** Play a short burst of filtered noise over a low knock. */
function knock(/** @type {string} */ colour) {
	const at = audio();
	if (!at) return;
	const length = Math.floor(0.03 * at.sampleRate);
	const buffer = new AudioBuffer({ length, sampleRate: at.sampleRate });
	const samples = buffer.getChannelData(0);
	for (let i = 0; i < length; i += 1) samples[i] = (Math.random() * 2 - 1) * (1 - i / length) ** 3;
	const noise = new AudioBufferSourceNode(at, { buffer });
	const filter = new BiquadFilterNode(at, { type: "bandpass", frequency: colour === "black" ? 1900 : 2300, Q: 1.4 });
	const volume = new GainNode(at, { gain: 0.5 });
	noise.connect(filter).connect(volume).connect(at.destination);
	noise.start();
	ring(at, { frequency: colour === "black" ? 210 : 240, seconds: 0.09, gain: 0.22, type: "triangle" });
}

/** Play the end of a game: a rising fifth for a win, a falling one for a loss, one note otherwise. */
export const playEnd = (/** @type {"win" | "loss" | "end"} */ kind) => afterFrame(() => chime(kind));

function chime(/** @type {"win" | "loss" | "end"} */ kind) {
	const at = audio();
	if (!at) return;
	const notes = { win: [523, 784], loss: [392, 262], end: [440] }[kind];
	notes.forEach((frequency, i) => ring(at, { frequency, seconds: 0.9, gain: 0.1, delay: 0.16 * i }));
}
