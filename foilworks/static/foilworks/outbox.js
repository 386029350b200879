// A submit while nothing answers is kept in this browser and sent when the server is back; its idempotency key makes a second
// arrival harmless. [data-outbox="person's id"] says so in its [data-outbox-when] parts: kept, sent, signed_out, refused.
//   form[data-outbox-form]: its submits are kept; data-sign-in on the box: the path that a signed-out person is sent to
import { csrfToken, fresh, isSignedOut, offline } from "./dom.js";

const PREFIX = "foilworks.outbox.";
const RETRY_MS = 5_000;

let outbox = null;

export function wireOutbox(root) {
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
