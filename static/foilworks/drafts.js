// form[data-draft="key"]: what is typed survives a closed tab, a crash and an expired session, kept in this browser.
// A draft comes back only onto the very text it was begun on, and [data-draft-status] says so; [data-draft-reset] starts over.
import { fresh } from "./dom.js";

const PREFIX = "foilworks.draft.";
const KEEP_MS = 7 * 24 * 3600 * 1000;
const PAUSE_MS = 800;

export function wireDrafts(root) {
  for (const form of fresh(root, "form[data-draft]", "Draft")) new Draft(form);
}

class Draft {
  constructor(form) {
    this.form = form;
    this.key = PREFIX + form.dataset.draft;
    this.base = JSON.stringify(this.values());
    this.statuses = form.querySelectorAll("[data-draft-when]");
    prune(this.key);
    this.restore();
    form.addEventListener("input", () => this.later());
    form.querySelector("[data-draft-reset]")?.addEventListener("click", () => this.reset());
    addEventListener("pagehide", () => this.timer && this.save());
  }

  fields() {
    return [...this.form.elements].filter((field) => field.name && (field.matches("textarea") || ["text"].includes(field.type)));
  }

  values() {
    return Object.fromEntries(this.fields().map((field) => [field.name, field.value]));
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), PAUSE_MS);
  }

  save() {
    clearTimeout(this.timer);
    this.timer = null;
    const stored = store(this.key, JSON.stringify({ at: Date.now(), base: this.base, values: this.values() }));
    this.savedAt = Date.now();
    this.show(stored ? "saved" : "failed");
    clearInterval(this.clock);
    if (stored) this.clock = setInterval(() => this.show("saved"), 5000);
  }

  restore() {
    const draft = read(this.key);
    if (!draft || draft.base !== this.base || JSON.stringify(draft.values) === this.base) return;
    this.fill(draft.values);
    this.show("restored");
  }

  reset() {
    this.fill(JSON.parse(this.base));
    localStorage.removeItem(this.key);
    clearInterval(this.clock);
    this.show("none");
  }

  fill(values) {
    for (const field of this.fields()) {
      if (!(field.name in values) || field.value === values[field.name]) continue;
      field.value = values[field.name];
      field.dispatchEvent(new Event("foil:filled", { bubbles: true }));
    }
  }

  show(state) {
    for (const part of this.statuses) part.hidden = part.dataset.draftWhen !== state;
    const ago = this.form.querySelector("[data-draft-ago]");
    if (ago && state === "saved") ago.textContent = String(Math.round((Date.now() - this.savedAt) / 1000));
  }
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function store(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Old drafts go; the one of this page stays whatever its age. */
function prune(current) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX) && key !== current && Date.now() - (read(key)?.at ?? 0) > KEEP_MS) localStorage.removeItem(key);
    }
  } catch {
    // No storage in this browser: nothing to prune.
  }
}
