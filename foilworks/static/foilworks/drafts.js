// form[data-draft="key"]: what is typed survives a closed tab, a crash and an expired session. It is kept in this browser at
// once and on the server as soon as that answers; on opening, the newer of the two comes back.
//   data-draft-url   takes {"draft": JSON}; data-draft-now is the server's clock, data-draft-server the id of a json_script with
//                    {"at", "base", "values"} or null; data-draft-typed: the page shows what was just sent, so nothing comes back
//   data-draft-base  names the form as the server first shows it: a draft comes back only onto the form it was begun on
// Whoever sends what stands in the form by another way than its submit says "foilworks:leave" to it before.
// One [data-draft-when] at a time says how things stand: saved, kept, signed_out, failed, restored. [data-draft-reset] starts over.
import { fresh, post } from "./dom.js";

const PREFIX = "foilworks.draft.";
const KEEP_MS = 7 * 24 * 3600 * 1000;
const PAUSE_MS = 800;
const RETRY_MS = 10_000;

export function wireDrafts(root) {
  for (const form of fresh(root, "form[data-draft]", "Draft")) new Draft(form);
}

class Draft {
  constructor(form) {
    this.form = form;
    this.key = PREFIX + form.dataset.draft;
    this.base = form.dataset.draftBase;
    this.ahead = Number(form.dataset.draftNow) - Date.now();
    this.initial = this.values();
    this.statuses = form.querySelectorAll("[data-draft-when]");
    prune(this.key);
    this.open();
    form.addEventListener("input", () => this.later());
    for (const leaving of ["submit", "foilworks:leave"]) form.addEventListener(leaving, () => this.leave());
    form.querySelector("[data-draft-reset]")?.addEventListener("click", () => this.reset());
    const { signal } = (this.gone = new AbortController());
    addEventListener("pagehide", () => this.unsent && this.save({ keepalive: true }), { signal });
    addEventListener("online", () => this.unsent && this.save(), { signal });
    this.clock = setInterval(() => this.tick(), 1000);
  }

  /** The server's time by this page's clock: what two machines kept can then be told apart by age. */
  now() {
    return Date.now() + this.ahead;
  }

  fields() {
    const typed = "textarea, input[type='text'], input[type='checkbox'], input[data-parent]";
    return [...this.form.elements].filter((field) => field.name && field.matches(typed));
  }

  /** {name: [text, …]}: several editors share a name. */
  values() {
    const found = {};
    for (const field of this.fields()) (found[field.name] ??= []).push(textOf(field));
    return found;
  }

  open() {
    const local = this.own(read(this.key));
    const server = this.own(JSON.parse(document.getElementById(this.form.dataset.draftServer)?.textContent ?? "null"));
    if ("draftTyped" in this.form.dataset) return this.later();
    this.seen = server?.at ?? 0;
    // What the server has confirmed and no longer has was sent in, or given up on another machine. What it has not confirmed
    // goes on from what it had then, or is told from what another machine has saved since by age.
    const pending = local && !local.sent && (local.seen >= this.seen || local.at > this.seen);
    const draft = pending ? local : server;
    if (!draft || same(draft.values, this.initial)) return;
    this.fill(draft.values);
    this.show("restored");
    if (pending) this.later({ quiet: true });
  }

  own(draft) {
    return draft && draft.base === this.base ? draft : null;
  }

  later({ quiet = false } = {}) {
    clearTimeout(this.timer);
    this.unsent = true;
    this.timer = setTimeout(() => this.save({ quiet }), PAUSE_MS);
  }

  /** The text goes to the server with the form; this browser keeps it in case it does not arrive. Nothing is left to be saved:
   *  a draft that came after the work would find its lease over. */
  leave() {
    clearTimeout(this.timer);
    this.timer = null;
    this.unsent = false;
    this.stop();
    this.keep();
  }

  /** Gives up the save that is under way. */
  stop() {
    this.saving?.abort();
    this.saving = null;
  }

  /** In this browser, at once. */
  keep(sent = false) {
    return store(this.key, JSON.stringify({ at: this.now(), seen: this.seen, sent, base: this.base, values: this.values() }));
  }

  /** One at a time: of two under way the older might arrive last. Only a page that goes cannot wait. */
  async save({ keepalive = false, quiet = false } = {}) {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.form.isConnected) return;
    const kept = this.keep();
    if (this.saving && !keepalive) return;
    this.stop();
    const { signal } = (this.saving = new AbortController());
    const values = this.values();
    this.triedAt = Date.now();
    const state = await this.send(values, { keepalive, signal });
    if (signal.aborted) return;
    this.saving = null;
    this.unsent = state !== "none" && (state !== "saved" || !same(values, this.values()));
    if (state === "saved") this.savedAt = Date.now();
    if (state === "saved" && !this.unsent) this.keep(true);
    if (!quiet || state !== "saved") this.show(state === "kept" && !kept ? "failed" : state);
    if (state === "saved" && this.unsent && !this.timer) this.save();
  }

  async send(values, options) {
    const draft = JSON.stringify({ base: this.base, values });
    try {
      const answer = await post(this.form.dataset.draftUrl, { draft }, options);
      if (answer.ok) {
        this.seen = (await answer.json()).at;
        return "saved";
      }
      // A redirect leads to the sign-in page; a refusal means that somebody has signed in anew since.
      if (answer.type === "opaqueredirect" || answer.status === 403) return "signed_out";
      return answer.status === 410 ? "none" : "kept";
    } catch (error) {
      if (options.signal.aborted) return "none";
      if (!(error instanceof TypeError)) throw error;
      return "kept";
    }
  }

  tick() {
    // Another card took the place of this one, whose answer is sent.
    if (!this.form.isConnected) {
      clearInterval(this.clock);
      this.gone.abort();
      return;
    }
    const waits = this.unsent && !this.timer;
    if (waits && document.visibilityState === "visible" && Date.now() - this.triedAt >= RETRY_MS) this.save();
    const ago = this.form.querySelector("[data-draft-ago]");
    if (ago && this.state === "saved") ago.textContent = String(Math.round((Date.now() - this.savedAt) / 1000));
  }

  reset() {
    this.fill(this.initial);
    this.later({ quiet: true });
    this.show("none");
  }

  fill(values) {
    const places = {};
    for (const field of this.fields()) {
      const place = (places[field.name] = (places[field.name] ?? -1) + 1);
      const text = values[field.name]?.[place];
      if (text === undefined || textOf(field) === text) continue;
      if (field.type === "checkbox") field.checked = text === "on";
      else field.value = text;
      field.dispatchEvent(new Event("foil:filled", { bubbles: true }));
    }
  }

  show(state) {
    this.state = state;
    for (const part of this.statuses) part.hidden = part.dataset.draftWhen !== state;
    this.tick();
  }
}

function textOf(field) {
  return field.type === "checkbox" ? (field.checked ? "on" : "") : field.value;
}

/** Whether two forms hold the same; the order of their fields does not matter. */
function same(one, other) {
  const ordered = (values) => JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
  return ordered(one) === ordered(other);
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

function remove(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // No storage in this browser: nothing to remove.
  }
}

/** Old drafts go; the one of this page stays whatever its age. */
function prune(current) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX) && key !== current && Date.now() - (read(key)?.at ?? 0) > KEEP_MS) remove(key);
    }
  } catch {
    // No storage in this browser: nothing to prune.
  }
}
