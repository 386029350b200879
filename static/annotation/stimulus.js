// What translators, extensions and dark modes do to a stimulus. A sentence that changes on the page, [data-stimulus], is put back
// and its answer asked again: [data-stimulus-changed] says so. The watch evidence of the answer says what happened.
import { fresh } from "../foilworks/dom.js";

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
    if (!this.form.isConnected) {
      this.observer.disconnect();
      watched.delete(this.form);
      return true;
    }
    const changed = this.shown.filter(([element, sent]) => !element.isConnected || element.textContent !== sent.textContent);
    if (!changed.length) return true;
    this.changes += 1;
    for (const [element, sent] of this.changes > MAX_RESTORED ? [] : changed) element.replaceChildren(...sent.cloneNode(true).childNodes);
    for (const choice of this.form.querySelectorAll("input[name='answer']:checked")) choice.checked = false;
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

// Before any other listener, one of which takes a submit for sent.
addEventListener("submit", (event) => {
  if (watched.get(event.target)?.isWhole() ?? true) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
document.addEventListener("formdata", (event) => watched.get(event.target)?.writeInto(event.formData));

wireStimuli(document);
document.addEventListener("foilworks:load", (event) => wireStimuli(event.target));
