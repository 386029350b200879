// What a person types on a work page: its difference to the caption, its checks, its draft.
import { fresh, isComposing, post } from "../foilworks/dom.js";

// [data-foils]: the editors of one caption. Each [data-foil] holds a text box, its live difference to the caption, the number
// of changed words, the findings on it, chips that fill it with a suggestion, and a button that fills it with the caption
// (data-copies). [data-unfill] brings back what a filled box held before. data-replacement = address of the counts of foils
// that make the same change.
//   data-foils = id of the json_script {"caption", "others", "dropped", "marks"}; findings are <li data-check="code"> in each [data-foil]

function wireEditors(root) {
  for (const element of fresh(root, "[data-foils]", "Foils")) new Foils(element);
}

class Foils {
  constructor(element) {
    this.facts = JSON.parse(document.getElementById(element.dataset.foils).textContent);
    this.spoken = { removed: element.dataset.spokenRemoved, added: element.dataset.spokenAdded };
    this.foils = [...element.querySelectorAll("[data-foil]")].map((part) => ({ part, box: part.querySelector("textarea") }));
    for (const foil of this.foils) this.wire(foil);
    this.refresh();
  }

  wire(foil) {
    const undo = foil.part.querySelector("[data-unfill]");
    undo?.addEventListener("click", () => this.unfill(foil));
    foil.box.addEventListener("input", () => {
      // What was typed since would be lost.
      if (undo && !foil.filling) undo.hidden = true;
      // What the server refused is no longer what the box holds; the live checks go on.
      document.querySelector("[data-refused]")?.remove();
      this.refresh();
    });
    foil.box.addEventListener("foil:filled", () => this.refresh());
    foil.box.addEventListener("keydown", (event) => this.onEnter(event, foil));
    for (const chip of foil.part.querySelectorAll("[data-fill]")) chip.addEventListener("click", () => this.fill(foil, chip));
  }

  /** A foil is one line: Enter goes to the next editor. With Ctrl it is the page's key for submitting. */
  onEnter(event, foil) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || isComposing(event)) return;
    event.preventDefault();
    this.foils[this.foils.indexOf(foil) + 1]?.box.focus();
  }

  fill(foil, chip) {
    const parent = foil.part.querySelector("[data-parent]");
    const undo = foil.part.querySelector("[data-unfill]");
    foil.before = { text: foil.box.value, parent: parent?.value };
    foil.begun = "copies" in chip.dataset;
    this.write(foil, chip.dataset.fill, chip.dataset.parentId);
    if (undo) undo.hidden = foil.before.text === foil.box.value;
  }

  unfill(foil) {
    this.write(foil, foil.before.text, foil.before.parent);
    foil.part.querySelector("[data-unfill]").hidden = true;
  }

  /** As if typed, so that the browser's own undo (Ctrl+Z) takes it back as well. */
  write(foil, text, parentId) {
    const { box } = foil;
    const parent = foil.part.querySelector("[data-parent]");
    foil.filling = true;
    box.focus();
    box.select();
    document.execCommand(text ? "insertText" : "delete", false, text);
    if (box.value !== text) {
      box.value = text;
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (parent) parent.value = parentId;
    foil.filling = false;
    this.refresh();
  }

  refresh() {
    this.foils.forEach((foil, index) => {
      // As on the server: each text counts as another of those after it.
      const before = this.foils.slice(0, index).map((other) => other.box.value);
      this.show(foil, [...this.facts.others, ...before]);
    });
  }

  /** How often foils make this replacement, as the server counts it; offline, nothing. */
  count(part, text) {
    const line = part.querySelector("[data-replacement]");
    if (!line || line.counted === text) return;
    line.counted = text;
    clearTimeout(line.timer);
    line.timer = setTimeout(async () => {
      const answer = await fetch(`${line.dataset.replacement}?${new URLSearchParams({ text })}`).catch(() => null);
      const words = answer?.ok && !answer.redirected ? await answer.text() : "";
      if (line.counted === text) line.textContent = words;
    }, COUNT_MS);
  }

  show({ part, box, begun }, others) {
    const { caption, dropped, marks } = this.facts;
    const findings = new Map(checkText(caption, box.value, others, dropped, marks));
    // A copied caption is a beginning, not yet a mistake: it is only marked when it is sent.
    if (begun && box.value === caption) findings.delete("same_as_caption");
    let wrong = false;
    for (const line of part.querySelectorAll("[data-check]")) {
      const found = findings.has(line.dataset.check);
      line.hidden = !found;
      wrong ||= found && "error" in line.dataset;
      const number = line.querySelector("[data-number]");
      if (found && number) number.textContent = String(findings.get(line.dataset.check));
    }
    // An empty box is not yet a mistake: it is only marked when it is sent.
    box.setAttribute("aria-invalid", String(wrong && box.value !== ""));
    const copies = part.querySelector("[data-copies]");
    if (copies) copies.hidden = box.value === caption;
    renderDiff(part.querySelector("[data-diff]"), caption, box.value, this.spoken);
    part.querySelector("[data-changed]").textContent = String(changedWords(caption, box.value));
    this.count(part, box.value);
    for (const chip of part.querySelectorAll("[data-fill][aria-pressed]")) chip.setAttribute("aria-pressed", String(chip.dataset.fill === box.value));
  }
}

// How long typing pauses before the server counts.
const COUNT_MS = 600;

// The checks of annotation/rules/editing.py while a person types; the server asks them again. A browser test holds both together.

const MAX_CHARACTERS = 2000;
const ENDS = new Set([".", "!", "?", "…", "。"]);

/** Equal for texts that read the same: letter case, width forms, runs of white space and a final stop do not count. */
function normalised(text) {
  return text.normalize("NFKC").toLowerCase().trim().split(/\s+/u).join(" ").replace(/^[ .!?…。]+|[ .!?…。]+$/gu, "");
}

/**
 * [code, number] findings on one text. `others`: the other foils of the caption; `dropped`: texts a reviewer has dropped;
 * `marks`: {"stay", "change"}, the caption's words for people and things, and those for what happens.
 */
export function checkText(caption, text, others, dropped, marks = { stay: [], change: [] }) {
  const length = [...text].length;
  if (!text.trim()) return [["empty", 0]];
  if (length > MAX_CHARACTERS) return [["too_long", length]];
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return [["control_character", 0]];
  const plain = normalised(text);
  if (plain === normalised(caption)) return [["same_as_caption", 0]];
  if (others.some((other) => plain === normalised(other))) return [["duplicate", 0]];
  if (dropped.some((other) => plain === normalised(other))) return [["dropped_before", 0]];
  return warnings(caption, text, marks);
}

function warnings(caption, text, marks) {
  const found = [];
  const changed = changedWords(caption, text);
  if (changed > Math.max(4, Math.floor(comparedWords(caption).length / 3))) found.push(["many_changed_words", changed]);
  if (sentences(text) > Math.max(1, sentences(caption))) found.push(["not_one_sentence", 0]);
  const words = new Set(comparedWords(text));
  const stands = (word) => comparedWords(word).every((part) => words.has(part));
  const lost = marks.stay.filter((word) => !stands(word)).length;
  if (lost) found.push(["entity_changed", lost]);
  if (marks.change.length && marks.change.every(stands)) found.push(["same_action", 0]);
  return found;
}

function split(text) {
  return text.trim() ? text.trim().split(/\s+/u) : [];
}

function sentences(text) {
  const words = split(text);
  return words.slice(0, -1).filter((word) => ENDS.has(word.at(-1))).length + (words.length ? 1 : 0);
}

// Word-level difference of two texts, as foilworks/core/text/diff.py makes it: the same words, the same minimal alignment, the same ties.
// A browser test holds both to each other.

// Scripts that put no space between words (UNSPACED in foilworks/core/text/tokens.py): each character is compared.
const SCRIPTS = "Han Hiragana Katakana Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Javanese Balinese";
const UNSPACED = SCRIPTS.replace(/\w+ ?/g, (name) => `\\p{Script=${name.trim()}}`) + "\u30fc\uff70";
const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}_]\\p{M}*)+`;
const MARKS = "[\\p{M}\\p{EMod}\\u{e0020}-\\u{e007f}]*";
const WORD = new RegExp(`${LETTERS}(?:['’]${LETTERS})*|[${UNSPACED}]\\p{M}*|\\p{RI}{2}|\\S${MARKS}(?:\\u200d\\S${MARKS})*`, "gu");
const SILENT = /^[\p{P}\p{C}]/u;
// Above this the page would stutter at each key press; the middle then counts as replaced as a whole.
const MAX_CELLS = 250_000;

function tokens(text) {
  return [...text.matchAll(WORD)].map((match) => ({ start: match.index, end: match.index + match[0].length, text: match[0] }));
}

/** Index pairs [i, j] of equal elements, rising in both; fewest changes, then most kept words, then leftmost. */
function align(left, right) {
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const middle = alignMiddle(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  const pairs = Array.from({ length: head }, (_, i) => [i, i]);
  for (const [i, j] of middle) pairs.push([i + head, j + head]);
  for (let k = tail; k > 0; k -= 1) pairs.push([left.length - k, right.length - k]);
  return pairs;
}

function alignMiddle(left, right) {
  if (!left.length || !right.length || left.length * right.length > MAX_CELLS) return [];
  // Cost in the high part, kept words (negated) in the low part: one number compares both.
  const unit = left.length + right.length + 1;
  const table = [Array.from({ length: right.length + 1 }, (_, j) => j * unit)];
  left.forEach((word, i) => {
    const above = table[i];
    const row = [(i + 1) * unit];
    right.forEach((other, j) => {
      row.push(Math.min(above[j] + (word === other ? -1 : unit), above[j + 1] + unit, row[j] + unit));
    });
    table.push(row);
  });
  return trace(table, left, right, unit);
}

function trace(table, left, right, unit) {
  const pairs = [];
  let [i, j] = [left.length, right.length];
  while (i && j) {
    const here = table[i][j];
    if (here === table[i - 1][j] + unit) i -= 1;
    else if (here === table[i][j - 1] + unit) j -= 1;
    else {
      i -= 1;
      j -= 1;
      if (left[i] === right[j]) pairs.push([i, j]);
    }
  }
  return pairs.reverse();
}

/** [kind, text] pieces in reading order, kind in same, removed, added; same + removed spell a, same + added spell b. */
export function diffSegments(a, b) {
  const [left, right] = [tokens(a), tokens(b)];
  const pieces = [];
  let [atA, atB, kept] = [0, 0, 0];
  const pairs = align(left.map((token) => token.text), right.map((token) => token.text));
  for (const [i, j] of [...pairs, [left.length, right.length]]) {
    const endA = i < left.length ? left[i].start : a.length;
    const endB = j < right.length ? right[j].start : b.length;
    const edit = trimmed(a.slice(atA, endA), b.slice(atB, endB));
    if (edit) {
      pieces.push(["same", a.slice(kept, atA + edit.head)], ["removed", edit.removed], ["added", edit.added]);
      kept = endA - edit.tail;
    }
    if (i < left.length) [atA, atB] = [left[i].end, right[j].end];
  }
  pieces.push(["same", a.slice(kept)]);
  return pieces.filter(([, text]) => text);
}

/** One changed region without the blanks that both sides share at its ends; null where nothing changed. */
function trimmed(old, now) {
  if (old === now) return null;
  const shared = Math.min(old.length, now.length);
  let head = 0;
  while (head < shared && old[head] === now[head] && /\s/.test(old[head])) head += 1;
  let tail = 0;
  while (tail < shared - head && old.at(-1 - tail) === now.at(-1 - tail) && /\s/.test(old.at(-1 - tail))) tail += 1;
  return { head, tail, removed: old.slice(head, old.length - tail), added: now.slice(head, now.length - tail) };
}

/** Words of a text as changedWords compares them: without punctuation, in lower case. */
function comparedWords(text) {
  return tokens(text).map((token) => token.text.toLowerCase()).filter((word) => !SILENT.test(word));
}

/** Count the words replaced, removed or added, ignoring case, punctuation and white space. */
export function changedWords(a, b) {
  const [left, right] = [comparedWords(a), comparedWords(b)];
  let [changed, atI, atJ] = [0, 0, 0];
  for (const [i, j] of [...align(left, right), [left.length, right.length]]) {
    changed += Math.max(i - atI, j - atJ);
    [atI, atJ] = [i + 1, j + 1];
  }
  return changed;
}

/** Fills `view` with the difference; `spoken` holds the words that a screen reader hears before a change. */
function renderDiff(view, a, b, spoken) {
  view.replaceChildren();
  for (const [kind, text] of diffSegments(a, b)) {
    if (kind === "same") {
      view.append(text);
      continue;
    }
    const change = document.createElement(kind === "removed" ? "del" : "ins");
    const hint = document.createElement("span");
    hint.className = "visually-hidden";
    // Words of the page, which say nothing of the direction of the text.
    hint.dir = "auto";
    hint.textContent = `${spoken[kind]} `;
    change.append(hint, text);
    view.append(change);
  }
}

// form[data-draft="key"]: what is typed survives a closed tab, a crash and an expired session. It is kept in this browser at
// once and on the server as soon as that answers; on opening, the newer of the two comes back.
//   data-draft-url   takes {"draft": JSON}; data-draft-now is the server's clock, data-draft-server the id of a json_script with
//                    {"at", "base", "values"} or null; data-draft-typed: the page shows what was just sent, so nothing comes back
//   data-draft-base  names the form as the server first shows it: a draft comes back only onto the form it was begun on
// Whoever sends what stands in the form by another way than its submit says "foilworks:leave" to it before.
// One [data-draft-when] at a time says how things stand: saved, kept, signed_out, failed, restored. [data-draft-reset] starts over.

const PREFIX = "foilworks.draft.";
const KEEP_MS = 7 * 24 * 3600 * 1000;
const PAUSE_MS = 800;
const RETRY_MS = 10_000;

function wireDrafts(root) {
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

function wire(root) {
  wireEditors(root);
  wireDrafts(root);
}

wire(document);
document.addEventListener("foilworks:load", (event) => wire(event.target));
