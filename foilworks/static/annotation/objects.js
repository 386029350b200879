// The object check: one object is marked at a time; a key answers it and goes on to the next.
import { clamp, fresh } from "../foilworks/dom.js";

export function wireObjects(root) {
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
