// What every work page loads: edit, review, validate, the human baseline, the object check.
import { clamp, csrfToken, fresh, isSignedOut, offline, post, reached, remember, remembered, unreached } from "../foilworks/dom.js";

// What translators, extensions and dark modes do to a stimulus. A sentence that changes on the page, [data-stimulus], is put back
// and its answer asked again: [data-stimulus-changed] says so. The watch evidence of the answer says what happened.
// An extension may change a sentence again and again: then nothing can be sent until it stops.
const MAX_RESTORED = 3;
const watched = new Map();

function wireStimuli(root) {
  for (const main of root.querySelectorAll("main")) {
    for (const form of fresh(main, "form#answer", "Stimuli")) watched.set(form, new Stimuli(form, main));
  }
  if (root.matches?.("main")) wireStimuli(root.parentElement);
}

class Stimuli {
  constructor(form, main) {
    this.form = form;
    this.changes = 0;
    this.shown = [...main.querySelectorAll("[data-stimulus]")].map((element) => [element, element.cloneNode(true)]);
    this.observer = new MutationObserver(() => this.isWhole());
    this.observer.observe(main, { subtree: true, childList: true, characterData: true });
    this.say(false);
  }

  /** Whether every sentence is as it came. One that is not is put back. */
  isWhole() {
    if (!this.form.isConnected) return this.observer.disconnect() ?? watched.delete(this.form);
    const changed = this.shown.filter(([element, sent]) => !element.isConnected || element.textContent !== sent.textContent);
    if (!changed.length) return true;
    this.changes += 1;
    for (const [element, sent] of this.changes > MAX_RESTORED ? [] : changed) element.replaceChildren(...sent.cloneNode(true).childNodes);
    for (const choice of this.form.querySelectorAll("input[name='answer'], [data-object] input")) choice.checked = false;
    delete this.form.dataset.chosen;
    this.say(true);
    return false;
  }

  say(changed) {
    for (const words of document.querySelectorAll("[data-stimulus-changed]")) words.hidden = !changed;
  }

  writeInto(data) {
    const page = document.documentElement;
    const player = document.querySelector("[data-player] video, .still img");
    let filtered = page.hasAttribute("data-darkreader-mode");
    for (let part = player; part && !filtered; part = part.parentElement) filtered = getComputedStyle(part).filter !== "none";
    const translated = page.matches(".translated-ltr, .translated-rtl, [_msttexthash], :has([_msttexthash])");
    for (const [name, value] of Object.entries({ changed: this.changes, translated, filtered })) {
      if (value) data.set(`watch_${name}`, String(Number(value)));
    }
  }
}

document.addEventListener("formdata", (event) => watched.get(event.target)?.writeInto(event.formData));

// The judgement form: 1 to 5 choose, the same key again (or Ctrl+Enter) sends; who wants it sends with the first press.
// On a phone, where the answers are the bar under the thumb, one tap sends: it can be undone.

const PREFERENCE = "oneKeyAnswers";
// Where work.css makes a bar of the answers.
const PHONE = matchMedia("(max-width: 40rem) and (min-height: 30rem)");

function wireJudgements(root) {
  for (const form of fresh(root, "form[data-judge]", "Judge")) {
    const toggle = form.querySelector("[data-one-key]");
    toggle.checked = remembered(PREFERENCE, "off") === "on";
    toggle.addEventListener("change", () => remember(PREFERENCE, toggle.checked ? "on" : "off"));
    for (const choice of form.querySelectorAll("input[name='answer']")) {
      choice.addEventListener("hotkey", () => {
        const again = form.dataset.chosen === choice.value;
        form.dataset.chosen = choice.value;
        if (again || toggle.checked) form.requestSubmit();
      });
      // Arrow keys choose by a click, too: only a pointer taps.
      let tapped = false;
      choice.closest("label").addEventListener("pointerdown", () => (tapped = true));
      choice.addEventListener("click", () => {
        if (tapped && PHONE.matches) form.requestSubmit();
        tapped = false;
      });
    }
  }
}

// The review form: decisions that need a reason ask for one before they are sent; "fix" opens its editor with the focus in it.

function wireReviews(root) {
  for (const form of fresh(root, "form[data-review]", "Review")) {
    const hint = form.querySelector("[data-reasons-missing]");
    const reasons = [...form.querySelectorAll("input[name='reasons']")];
    for (const button of form.querySelectorAll("button[data-needs-reason]")) {
      button.addEventListener("click", (event) => {
        if (reasons.some((reason) => reason.checked)) return;
        event.preventDefault();
        hint.hidden = false;
        reasons[0].focus();
        // The clip stays at the top of a phone: neither it nor the decisions may cover what is missing.
        hint.scrollIntoView({ block: "nearest" });
      });
    }
    for (const reason of reasons) reason.addEventListener("change", () => (hint.hidden = true));
    form.querySelector("[data-no-decision]")?.addEventListener("click", (event) => event.preventDefault());
    const fix = form.querySelector("details[data-fix]");
    let asked = true;
    fix?.addEventListener("toggle", () => {
      if (fix.open && asked) atItsEnd(fix.querySelector("textarea"));
      asked = true;
    });
    // A draft that comes back must not stay out of sight, nor take the page's keys away.
    fix?.addEventListener("foil:filled", () => {
      asked = fix.open;
      fix.open = true;
    });
  }
}

/** Whoever types goes on from what stands there. */
function atItsEnd(text) {
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

// The object check: one object is marked at a time; a key answers it and goes on to the next.

function wireObjects(root) {
  for (const form of fresh(root, "form[data-objects]", "Objects")) new ObjectList(form);
}

class ObjectList {
  constructor(form) {
    this.rows = [...form.querySelectorAll("[data-object]")];
    const press = { yes: () => this.answer("yes"), no: () => this.answer("no"), back: () => this.mark(this.at - 1), on: () => this.mark(this.at + 1) };
    for (const button of form.querySelectorAll("[data-object-do]")) button.addEventListener("click", press[button.dataset.objectDo]);
    for (const [place, row] of this.rows.entries()) row.addEventListener("change", () => this.mark(place));
    this.mark(0);
  }

  mark(place) {
    this.at = clamp(place, 0, this.rows.length - 1);
    for (const [other, row] of this.rows.entries()) row.toggleAttribute("data-marked", other === this.at);
    this.rows[this.at].scrollIntoView({ block: "nearest" });
  }

  answer(value) {
    const choice = this.rows[this.at].querySelector(`input[value="${value}"]`);
    choice.checked = true;
    choice.focus({ preventScroll: true });
    this.mark(this.at + 1);
  }
}

// Seconds that the page was in sight, sent with the form that holds <input name="seconds">.

function wireSpent(root) {
  for (const field of fresh(root, "input[name='seconds']", "Seconds")) {
    let [spent, since] = [0, visible() ? performance.now() : null];
    const gone = new AbortController();
    document.addEventListener("visibilitychange", () => {
      if (!field.isConnected) return gone.abort();
      if (since !== null) spent += performance.now() - since;
      since = visible() ? performance.now() : null;
    }, { signal: gone.signal });
    field.form.addEventListener("formdata", (event) => {
      const now = since === null ? 0 : performance.now() - since;
      event.formData.set("seconds", ((spent + now) / 1000).toFixed(1));
    });
  }
}

function visible() {
  return document.visibilityState === "visible";
}

// [data-undo]: the seconds in which the last submit can be taken back; then the bar goes blank (its place stays: nothing jumps).

function wireUndo(root) {
  for (const bar of fresh(root, "[data-undo]", "Undo")) {
    const endsAt = performance.now() + Number(bar.dataset.undo) * 1000;
    const clock = bar.querySelector("[data-undo-seconds]");
    const timer = setInterval(() => {
      const left = Math.ceil((endsAt - performance.now()) / 1000);
      clock.textContent = String(Math.max(0, left));
      if (left > 0 && bar.isConnected) return;
      clearInterval(timer);
      bar.classList.add("over");
    }, 500);
  }
}

// A claim is a lease. [data-lease] counts it down and renews it while the page is looked at:
//   data-seconds-left, data-lease-seconds, data-heartbeat (URL), data-token
// Inside it, [data-lease-clock] shows minutes and seconds, and one [data-lease-when="held|low|lost|gone"] is visible at a time.
// The heartbeat answers {"seconds_left": n}; 409 or 410 say that the lease is gone: work can still be sent, it is kept as late.
// 404 says that the person has no part in the project any more, or not the role of this work: nothing is taken from them.

const BEAT_SECONDS = 60;
const LOW_SECONDS = 120;

function wireLeases(root) {
  for (const element of fresh(root, "[data-lease]", "Lease")) new Lease(element);
}

class Lease {
  constructor(element) {
    this.element = element;
    this.beatEvery = Math.min(BEAT_SECONDS, Number(element.dataset.leaseSeconds) / 3) * 1000;
    this.renew(Number(element.dataset.secondsLeft));
    this.lastBeat = performance.now();
    this.timer = setInterval(() => this.tick(), 1000);
    this.gone = new AbortController();
    document.addEventListener("visibilitychange", () => this.tick(), { signal: this.gone.signal });
    this.tick();
  }

  /** Seconds count from now by this machine's steady clock: its wall clock may be wrong or jump. */
  renew(seconds) {
    this.endsAt = performance.now() + seconds * 1000;
  }

  tick() {
    // Another card took the place of this one.
    if (!this.element.isConnected) {
      clearInterval(this.timer);
      this.gone.abort();
      return;
    }
    const left = Math.max(0, Math.round((this.endsAt - performance.now()) / 1000));
    const clock = this.element.querySelector("[data-lease-clock]");
    if (clock) clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    this.show(this.lost || (left === 0 ? "lost" : left <= LOW_SECONDS ? "low" : "held"));
    const due = performance.now() - this.lastBeat >= this.beatEvery;
    if (due && !this.lost && document.visibilityState === "visible") this.beat();
  }

  async beat() {
    this.lastBeat = performance.now();
    try {
      const answer = await post(this.element.dataset.heartbeat, { token: this.element.dataset.token });
      if (answer.ok) this.renew((await answer.json()).seconds_left);
      else if (answer.status === 409 || answer.status === 410) this.lose("lost");
      else if (answer.status === 404) this.lose("gone");
    } catch (error) {
      // No network: the countdown goes on and the next beat tries again.
      if (!(error instanceof TypeError)) throw error;
    }
    this.tick();
  }

  lose(state) {
    this.lost = state;
    clearInterval(this.timer);
  }

  show(state) {
    if (this.element.dataset.state === state) return;
    this.element.dataset.state = state;
    for (const part of this.element.querySelectorAll("[data-lease-when]")) part.hidden = !part.dataset.leaseWhen.split(" ").includes(state);
  }
}

// A submit while nothing answers is kept in this browser and sent when the server is back; its idempotency key makes a second
// arrival harmless. [data-outbox="person's id"] says so in its [data-outbox-when] parts: kept, sent, signed_out, refused.
//   form[data-outbox-form]: its submits are kept; data-sign-in on the box: the path that a signed-out person is sent to

const PREFIX = "foilworks.outbox.";
const RETRY_MS = 5_000;

let outbox = null;

function wireOutbox(root) {
  for (const box of fresh(root, "[data-outbox]", "Outbox")) outbox = new Outbox(box);
  for (const form of outbox ? fresh(root, "form[data-outbox-form]", "Outboxed") : []) outbox.watch(form);
}

class Outbox {
  constructor(box) {
    this.box = box;
    this.prefix = `${PREFIX}${box.dataset.outbox}.`;
    addEventListener("online", () => this.flush());
    setInterval(() => this.flush(), RETRY_MS);
    this.flush();
  }

  /** A script that sends a form by itself says "foilworks:keep" where nothing took it. */
  watch(form) {
    form.addEventListener("submit", (event) => offline() && this.put(form, event.submitter) && event.preventDefault());
    form.addEventListener("foilworks:keep", (event) => {
      this.put(form, event.detail.submitter);
      this.flush();
    });
  }

  /** Whether it is kept. */
  put(form, submitter) {
    const fields = [...new FormData(form, submitter)].filter(([name]) => name !== "csrfmiddlewaretoken");
    const key = form.elements.namedItem("idempotency_key").value;
    try {
      localStorage.setItem(this.prefix + key, JSON.stringify({ url: location.pathname, at: Date.now(), fields }));
    } catch {
      return false; // Nothing can be kept here: the browser tries to send and says what it thinks.
    }
    this.show("kept");
    return true;
  }

  keys() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix));
    } catch {
      return [];
    }
  }

  /** One after the other; a second call while one is under way does nothing. */
  async flush() {
    if (this.busy || !navigator.onLine || !this.keys().length) return;
    this.busy = true;
    try {
      for (const key of this.keys()) if (!(await this.send(key))) break;
    } finally {
      this.busy = false;
    }
  }

  /** Whether the server answered, so that the next one can go. */
  async send(key) {
    const kept = JSON.parse(localStorage.getItem(key));
    // Another tab has sent it meanwhile.
    if (!kept) return true;
    const { url, fields } = kept;
    if (location.pathname === url) document.querySelector("form[data-outbox-form]")?.dispatchEvent(new CustomEvent("foilworks:leave"));
    let answer;
    try {
      const body = new URLSearchParams(fields);
      answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": csrfToken() }, credentials: "same-origin" });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.show("kept");
      return false;
    }
    if (answer.status >= 500) return false;
    const landed = new URL(answer.url);
    if (landed.pathname === this.box.dataset.signIn || isSignedOut(answer)) {
      this.show("signed_out");
      return false;
    }
    localStorage.removeItem(key);
    const taken = answer.ok && landed.searchParams.has("done");
    this.show(taken ? "sent" : "refused");
    // The page of the very piece goes on as if it had been sent by itself.
    if (taken && location.pathname === url) location.assign(landed);
    return true;
  }

  show(state) {
    this.box.hidden = false;
    for (const part of this.box.querySelectorAll("[data-outbox-when]")) part.hidden = part.dataset.outboxWhen !== state;
  }
}

// form[data-swap]: the answer is sent by this script and the next card put in the place of this one: one request a piece, no
// page to load, and the clip is there already: the page names the one that probably comes next ([data-next-clip]).
// Without scripts the form is sent as any other. What cannot be sent goes to the outbox.
// main[data-new]: the card has just come. A key pressed twice, or a double click, must not decide what nobody has seen.
// While an answer is under way (its form is [data-sent]) the card is done with: its skip would give a piece away that is
// answered, and its undo belongs to the answer before. Who takes back then means this answer: its own undo comes with the next card.

const LOADED = "foilworks:load";
// As long as the second press of a double click may take.
const UNSEEN_MS = 500;
let ahead = null;
let unseen = null;
let takenBack = false;
let cardAt = here();

function wireSwap(root) {
  for (const form of fresh(root, "form[data-swap]", "Swap")) {
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      send(form, event.submitter);
    });
  }
  for (const next of fresh(root, "[data-next-clip]", "NextClip")) loadAhead(root, next.dataset.nextClip);
}

/** The browser keeps what it has loaded of a clip: once the one on show has all that it needs, the next one is fetched. */
function loadAhead(root, source) {
  const shown = root.querySelector("[data-player] video");
  const load = () => {
    ahead = Object.assign(document.createElement("video"), { preload: "auto", muted: true, src: source });
  };
  if (!shown || shown.readyState >= HTMLMediaElement.HAVE_ENOUGH_DATA) load();
  else shown.addEventListener("canplaythrough", load, { once: true });
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const headers = { "X-Foilworks-Swap": "1" };
  let answer;
  try {
    answer = await fetch(location.pathname, { method: "POST", body, headers, credentials: "same-origin", redirect: "manual" });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    unreached();
    keep(form, submitter);
    return;
  }
  reached();
  const goes = answer.headers.get("X-Foilworks-Go");
  if (goes) location.assign(goes);
  // Signed out meanwhile, or the server is in trouble: the outbox keeps the answer and says so.
  else if (answer.type === "opaqueredirect" || isSignedOut(answer) || answer.status >= 500) keep(form, submitter);
  else show(await answer.text(), answer.headers.get("X-Foilworks-Url"));
}

function keep(form, submitter) {
  form.dispatchEvent(new CustomEvent("foilworks:keep", { detail: { submitter } }));
}

function show(page, address) {
  const found = new DOMParser().parseFromString(page, "text/html");
  const content = found.querySelector("main");
  const main = document.querySelector("main");
  if (!content) {
    location.reload();
    return;
  }
  const [was, is] = [main, content].map((part) => part.querySelector("[data-done-today]"));
  // The card that came counts on from this one: only what was stored came with an address.
  if (is && !is.textContent) is.textContent = String(Number(was?.textContent || 0) + (address ? 1 : 0));
  const [all, rest] = [main, content].map((part) => part.querySelector("[data-total]"));
  if (rest && !rest.textContent) rest.textContent = all?.textContent ?? "";
  // This card is still to be done, whatever was counted before it came.
  const least = Number(is?.textContent ?? 0) + 1;
  if (rest && Number(rest.textContent) < least) rest.textContent = String(least);
  if (address) moveTo(address);
  document.title = found.title;
  main.replaceChildren(...content.childNodes);
  guard(main);
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  main.dispatchEvent(new CustomEvent(LOADED, { bubbles: true }));
  say(main);
  if (takenBack && address) main.querySelector(".undo form")?.requestSubmit();
  takenBack = false;
}

function guard(main) {
  main.dataset.new = "";
  clearTimeout(unseen);
  unseen = setTimeout(() => delete main.dataset.new, UNSEEN_MS);
}

/** The address of the card, without the part of the page that somebody looks at. */
function here() {
  return location.pathname + location.search;
}

/** What stands outside the card and leads back to where the person is leads back to this one. */
function moveTo(address) {
  history.pushState(null, "", address);
  cardAt = here();
  for (const next of document.querySelectorAll(".appbar input[name='next']")) next.value = address;
  for (const link of document.querySelectorAll("[data-outbox] a")) link.search = new URLSearchParams({ next: location.pathname });
}

/** What a page that loads would have been heard to say. A status that comes with its words in it is mostly not read out. */
function say(main) {
  const words = [main.querySelector(".undo-word"), main.querySelector("[data-done-today]")?.parentElement];
  const text = words.map((part) => part?.textContent.trim().replace(/\s+/g, " "));
  const said = document.querySelector("[data-said]");
  if (said) said.textContent = text.filter(Boolean).join(" ");
}

/** A press that the guard swallows is answered, or it would look broken. */
function sayTooQuick() {
  const words = document.querySelector("main [data-too-quick]");
  const said = document.querySelector("[data-said]");
  if (words) words.hidden = false;
  if (words && said && !said.textContent.endsWith(words.textContent)) said.textContent += ` ${words.textContent}`;
}

// Before the form's own listeners, one of which takes a submit for sent.
addEventListener("submit", (event) => {
  const form = event.target;
  const isUnderWay = form.matches("main:has(form[data-swap][data-sent]) form[action]");
  if (isUnderWay && form.matches(".undo form")) takenBack = true;
  const isWhole = watched.get(form)?.isWhole() ?? true;
  if (isWhole && !isUnderWay && !form.matches("main[data-new] form[data-swap]")) return;
  if (isWhole && !isUnderWay) sayTooQuick();
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
// Nor is it asked why such a card is skipped.
addEventListener("click", (event) => {
  if (!event.target.closest?.("main:has(form[data-swap][data-sent]) [form='skip']")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
// A link within the page moves, too, and what was typed must not go with it.
addEventListener("popstate", () => here() !== cardAt && location.reload());

function wire(root) {
  wireStimuli(root);
  wireLeases(root);
  wireReviews(root);
  wireJudgements(root);
  wireObjects(root);
  wireSpent(root);
  wireUndo(root);
  wireOutbox(root);
  wireSwap(root);
}

wire(document);
document.addEventListener(LOADED, (event) => wire(event.target));
