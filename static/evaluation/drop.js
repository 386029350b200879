// form[data-drop]: files and folders that are dropped or chosen become those of its file field. A list says at once what
// they are; what is neither records nor a video is left out. The upload shows its progress.

/* global htmx */
import { csrfToken, fresh } from "../foilworks/dom.js";

const SHOWN = 8;

for (const form of fresh(document, "form[data-drop]", "Drop")) wire(form);
// The search of the formats is loaded when it is first used.
document.addEventListener("focusin", ({ target }) => target.matches("input[data-find-in]") && import("../generation/gallery.js"));

function wire(form, files = []) {
  const field = form.querySelector(".drop input[type=file]");
  const list = form.querySelector("[data-drop-list]");
  const zone = form.querySelector(".drop");
  let isSending = false;
  const take = (files) => {
    const kinds = sorted(files, list.dataset);
    show(list, kinds, (records) => setFiles(field, [records, ...kinds.archives, ...kinds.videos]));
    setFiles(field, [...kinds.records, ...kinds.archives, ...kinds.videos]);
  };
  field.addEventListener("change", () => take([...field.files]));
  if (files.length) take(files);
  // A part of the page, because the browser may collect one that is not while its dialogue is open. Without a name: not sent.
  const folder = Object.assign(document.createElement("input"), { type: "file", webkitdirectory: true, hidden: true });
  form.append(folder);
  folder.addEventListener("change", () => take([...folder.files]));
  form.querySelector("[data-drop-folder]").addEventListener("click", () => folder.click());
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("drop-over");
    });
  }
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("drop-over");
  });
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("drop-over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    list.textContent = list.dataset.reading;
    try {
      take(entries.length ? (await Promise.all(entries.map(filesOf))).flat() : [...event.dataTransfer.files]);
    } catch {
      list.textContent = list.dataset.unreadable;
    }
  });
  form.addEventListener("submit", (event) => {
    if (!field.files.length) return;
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    send(form, field, list, event.submitter).finally(() => (isSending = false));
  });
}

/** All files of a dropped file or folder. */
async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  // A reader gives a hundred entries at a time.
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    found.push(...(await Promise.all(entries.map(filesOf))).flat());
  }
}

function sorted(files, { endings, videoEndings }) {
  const kinds = { archives: [], records: [], videos: [], leftOut: [] };
  const hasEnding = (file, all) => all.split(" ").some((ending) => file.name.toLowerCase().endsWith(ending));
  const isVideo = (file) => hasEnding(file, videoEndings) || file.type.startsWith("video/") || !file.name.includes(".");
  const names = new Set();
  for (const file of files) {
    if (file.name.startsWith(".")) continue;
    // Of another folder: records could mean either.
    if (names.has(file.name)) kinds.leftOut.push(file);
    else if (hasEnding(file, ".zip")) kinds.archives.push(file);
    else if (hasEnding(file, endings)) kinds.records.push(file);
    else if (videoEndings && isVideo(file)) kinds.videos.push(file);
    else kinds.leftOut.push(file);
    names.add(file.name);
  }
  // A text beside a table says something about it.
  const isText = (file) => file.name.toLowerCase().endsWith(".txt");
  if (!kinds.records.every(isText)) {
    kinds.leftOut.push(...kinds.records.filter(isText));
    kinds.records = kinds.records.filter((file) => !isText(file));
  }
  return kinds;
}

function setFiles(field, files) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  field.files = transfer.files;
}

function show(list, { archives, records, videos, leftOut }, choose) {
  const lines = archives.length ? [line(list.dataset.archives, archives)] : [];
  if (records.length > 1 && list.dataset.which) lines.push(choices(list.dataset.which, records, choose));
  else if (records.length) lines.push(line(list.dataset.records, records));
  if (videos.length) lines.push(line(list.dataset.videos, videos));
  if (leftOut.length) lines.push(line(list.dataset.leftOut, leftOut));
  list.replaceChildren(...lines);
}

function line(label, files) {
  const paragraph = document.createElement("p");
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const names = files.slice(0, SHOWN).map((file) => file.name).join(", ") + (files.length > SHOWN ? ", …" : "");
  const strong = Object.assign(document.createElement("strong"), { textContent: `${label} ${files.length}` });
  paragraph.append(strong, ` (${megabytes(size)}) `, names);
  return paragraph;
}

function choices(label, files, choose) {
  const group = document.createElement("fieldset");
  group.append(Object.assign(document.createElement("legend"), { textContent: label }));
  for (const file of files) {
    const row = Object.assign(document.createElement("label"), { className: "check" });
    // Without a name: it is not sent.
    const radio = Object.assign(document.createElement("input"), { type: "radio" });
    radio.addEventListener("change", () => {
      for (const other of group.querySelectorAll("input")) other.checked = other === radio;
      choose(file);
    });
    row.append(radio, Object.assign(document.createElement("span"), { textContent: file.name }));
    group.append(row);
  }
  return group;
}

/** Send the files, then the form; go where the answer is. One of this page comes in its place, with the files. */
async function send(form, field, list, submitter) {
  const files = [...field.files];
  const panel = form.querySelector("[data-drop-sending]");
  try {
    const data = new FormData(form, submitter);
    if (panel.dataset.parts) {
      const sent = await sendParts(files, panel);
      data.delete(field.name);
      // The last part of an address identifies the file.
      data.set("arrived", sent.map((address) => address.split("/").at(-2)).join(" "));
    }
    const answer = await fetch(form.action, { method: "POST", body: data });
    if (answer.url === location.href.split("#")[0]) showInPlace(await answer.text(), files);
    else location.assign(answer.url);
  } catch (error) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[data-busy]")) {
      button.setAttribute("aria-disabled", "false");
      button.removeAttribute("data-busy");
    }
    const text = error instanceof TypeError ? list.dataset.lost : error.message;
    list.append(Object.assign(document.createElement("p"), { className: "notice notice-bad", textContent: text }));
  }
}

function showInPlace(text, files) {
  const answer = new DOMParser().parseFromString(text, "text/html");
  const main = document.querySelector("main");
  main.replaceChildren(...document.importNode(answer.querySelector("main"), true).childNodes);
  main.querySelector("[role=alert], h1")?.scrollIntoView();
  for (const form of fresh(main, "form[data-drop]", "Drop")) wire(form, files);
  main.dispatchEvent(new CustomEvent("foilworks:load", { bubbles: true }));
  htmx.process(main);
}

// Files are sent in parts before their form, by tus-js-client: with progress and time left. An upload can be paused, and
// continues after a lost connection; a large one also after the page was left, when the same file is chosen again.

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
  // Only an upload needs it: dist/tus.min.js of tus-js-client 4.3.1 from npm, unchanged (MIT, see LICENSE beside it). A new
  // version: replace both files, and run tests/e2e/test_large_uploads.py.
  library ??= import("../vendor/tus/tus.min.js");
  await library;
  return window.tus;
}

/** Send the files, show it in `panel`, and return their addresses. An Error has the server's reason. */
async function sendParts(files, panel) {
  const { parts: url, partBytes: partText } = panel.dataset;
  const partBytes = Number(partText);
  const { DefaultHttpStack, Upload, defaultOptions } = await loadTus();
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
      ...(panel.dataset.toStore && { httpStack: toStore(new DefaultHttpStack({})) }),
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

/** Send parts of files with an address in the object store there: our server gives the signed address of each part. */
function toStore(stack) {
  return {
    getName: () => "object store",
    createRequest(method, url) {
      const isPart = method === "PATCH" && url.includes("/imports/objects/");
      return isPart ? new StorePart(stack, url) : stack.createRequest(method, url);
    },
  };
}

class StorePart {
  constructor(stack, url) {
    Object.assign(this, { stack, url, headers: {} });
  }
  getMethod = () => "PATCH";
  getURL = () => this.url;
  setHeader = (name, value) => (this.headers[name] = value);
  getHeader = (name) => this.headers[name];
  setProgressHandler = (handler) => (this.progress = handler);
  getUnderlyingObject = () => this.request?.getUnderlyingObject();
  abort = () => this.request?.abort() ?? Promise.resolve();

  async send(part) {
    const offset = Number(this.headers["Upload-Offset"]);
    this.request = this.stack.createRequest("GET", `${this.url}?offset=${offset}`);
    const answer = await this.request.send();
    if (answer.getStatus() !== 200) return answer;
    this.request = this.stack.createRequest("PUT", answer.getBody());
    this.request.setProgressHandler(this.progress);
    const stored = await this.request.send(part);
    if (stored.getStatus() !== 200) return stored;
    const headers = { "Upload-Offset": String(offset + part.size) };
    return { getStatus: () => 204, getBody: () => "", getHeader: (name) => headers[name], getUnderlyingObject: () => null };
  }
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

function megabytes(bytes) {
  return bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
