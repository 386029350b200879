// Sends files in parts before their form, by tus-js-client: with progress and time left. An upload can be paused, and
// continues after a lost connection; a large one also after the page was left, when the same file is chosen again.

import { csrfToken } from "../foilworks/dom.js";

const AT_ONCE = 2;
const RETRY_DELAYS = [0, 1000, 3000];
const LOST_DELAY = 5000;
// Bytes of the last part of the upload say how fast it is now.
const RATE_MS = 15_000;
const DAY_MS = 24 * 3600 * 1000;
// File -> the address under which all its bytes have arrived.
const addresses = new WeakMap();
let library;

async function loadTus() {
  // A script of its own: only an upload needs it.
  library ??= import("../vendor/tus/tus.min.js");
  await library;
  return window.tus;
}

/** Send the files, show it in `panel`, and return their addresses. An Error has the server's reason. */
export async function sendParts(files, panel) {
  const { parts: url, partBytes: partText } = panel.dataset;
  const partBytes = Number(partText);
  const { Upload, defaultOptions } = await loadTus();
  await forgetOld(defaultOptions.urlStorage);
  const waiting = files.filter((file) => !addresses.has(file));
  const sentBytes = new Map(files.map((file) => [file, addresses.has(file) ? file.size : 0]));
  const active = new Set();
  const shown = progressIn(panel, files, sentBytes);
  let isPaused = false;
  let done, failed;
  const over = new Promise((resolve, reject) => ([done, failed] = [resolve, reject]));

  const next = () => {
    while (active.size < AT_ONCE && waiting.length) begin(waiting.shift());
    if (!active.size) done();
  };
  const begin = async (file) => {
    const isLarge = file.size > partBytes;
    const upload = new Upload(file, {
      endpoint: url,
      chunkSize: partBytes,
      retryDelays: RETRY_DELAYS,
      metadata: { filename: file.name },
      headers: { "X-CSRFToken": csrfToken() },
      uploadDataDuringCreation: !isLarge,
      storeFingerprintForResuming: isLarge,
      onProgress: (bytes) => {
        sentBytes.set(file, bytes);
        shown.progress();
      },
      onSuccess: () => {
        addresses.set(file, upload.url);
        sentBytes.set(file, file.size);
        active.delete(upload);
        if (!isPaused) next();
      },
      onError: (error) => {
        const status = error.originalResponse?.getStatus() ?? 0;
        if (status && status < 500 && status !== 409) {
          for (const other of active) other.abort();
          failed(new Error(error.originalResponse.getBody() || panel.dataset.refused));
          return;
        }
        shown.state("lost");
        setTimeout(() => isPaused || upload.start(), LOST_DELAY);
      },
    });
    active.add(upload);
    if (isLarge) {
      const [previous] = await upload.findPreviousUploads();
      if (previous) upload.resumeFromPreviousUpload(previous);
    }
    if (!isPaused) upload.start();
  };
  const button = panel.querySelector("[data-drop-pause]");
  const pause = () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? button.dataset.resume : button.dataset.pause;
    shown.state(isPaused ? "paused" : "");
    for (const upload of active) isPaused ? upload.abort() : upload.start();
    if (!isPaused) next();
  };
  button.addEventListener("click", pause);
  panel.hidden = false;
  shown.progress();
  next();
  try {
    await over;
  } finally {
    button.removeEventListener("click", pause);
    panel.hidden = true;
  }
  return files.map((file) => addresses.get(file));
}

/** Addresses of unfinished files that the server has removed since. */
async function forgetOld(storage) {
  for (const upload of await storage.findAllUploads()) {
    if (Date.now() - Date.parse(upload.creationTime) > DAY_MS) await storage.removeUpload(upload.urlStorageKey);
  }
}

function progressIn(panel, files, sentBytes) {
  const [bar, numbers, state] = ["progress", "[data-drop-numbers]", "[data-drop-state]"].map((part) => panel.querySelector(part));
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const samples = [];
  return {
    progress() {
      const sent = [...sentBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
      const now = performance.now();
      samples.push([now, sent]);
      while (samples.length > 2 && now - samples[0][0] > RATE_MS) samples.shift();
      const [since, before] = samples[0];
      bar.value = total ? sent / total : 1;
      const share = `${Math.floor(100 * bar.value)} % · ${megabytes(sent)} / ${megabytes(total)}`;
      const left = sent > before ? ((total - sent) * (now - since)) / (sent - before) : Infinity;
      numbers.textContent = Number.isFinite(left) ? `${share} · ${panel.dataset.left.replace("TIME", duration(left))}` : share;
      if (sent > before && !state.dataset.paused) this.state("");
    },
    state(name) {
      state.dataset.paused = name === "paused" ? "yes" : "";
      if (name) samples.length = 0;
      const text = name ? panel.dataset[name] : "";
      if (state.textContent !== text) state.textContent = text;
    },
  };
}

function duration(ms) {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 90 ? `${seconds} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

export function megabytes(bytes) {
  return bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
