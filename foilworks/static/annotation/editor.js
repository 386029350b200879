// [data-foils]: the editors of one caption. Each [data-foil] holds a text box, its live difference to the caption, the number
// of changed words, the findings on it, and chips that fill it with a suggestion.
//   data-foils = id of the json_script {"caption", "others", "dropped", "marks"}; findings are <li data-check="code"> in each [data-foil]
import { changedWords, renderDiff } from "../foilworks/diff.js";
import { fresh, isComposing } from "../foilworks/dom.js";
import { checkText } from "./checks.js";

export function wireEditors(root) {
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
    foil.box.addEventListener("input", () => this.refresh());
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
    foil.box.value = chip.dataset.fill;
    foil.box.dispatchEvent(new Event("input", { bubbles: true }));
    const parent = foil.part.querySelector("[data-parent]");
    if (parent) parent.value = chip.dataset.parentId;
    foil.box.focus();
  }

  refresh() {
    this.foils.forEach((foil, index) => {
      // As on the server: each text counts as another of those after it.
      const before = this.foils.slice(0, index).map((other) => other.box.value);
      this.show(foil, [...this.facts.others, ...before]);
    });
  }

  show({ part, box }, others) {
    const { caption, dropped, marks } = this.facts;
    const findings = new Map(checkText(caption, box.value, others, dropped, marks));
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
    renderDiff(part.querySelector("[data-diff]"), caption, box.value, this.spoken);
    part.querySelector("[data-changed]").textContent = String(changedWords(caption, box.value));
    for (const chip of part.querySelectorAll("[data-fill]")) chip.setAttribute("aria-pressed", String(chip.dataset.fill === box.value));
  }
}
