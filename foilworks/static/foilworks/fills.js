// [data-fills="id"]: a button that writes its value into the field with this id.
import { fresh } from "./dom.js";

export function wireFills(root) {
  for (const button of fresh(root, "[data-fills]", "Fills")) button.addEventListener("click", () => fill(button));
}

function fill(button) {
  const field = document.getElementById(button.dataset.fills);
  field.value = button.value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}
