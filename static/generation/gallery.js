// input[data-find-in="selector"]: hides what does not match it among the [data-find] in that part of the page.

import { fresh } from "../foilworks/dom.js";

function wire(root) {
  for (const field of fresh(root, "input[data-find-in]", "Find")) {
    const part = document.querySelector(field.dataset.findIn);
    field.addEventListener("input", (event) => {
      // It is no setting of the form around it.
      event.stopPropagation();
      find(part, field.value);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    showChosen(part);
    // Typed while this script was on its way.
    if (field.value) find(part, field.value);
  }
}

/** Show the rows that contain every word; a chosen row stays. */
function find(part, wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of part.querySelectorAll("[data-find]")) {
    const text = row.dataset.find.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word)) && !row.querySelector(":checked");
    shown += row.hidden ? 0 : 1;
  }
  part.querySelector("[data-find-none]").hidden = shown > 0;
}

/** The part scrolls on its own: begin at the row that is chosen already. */
function showChosen(part) {
  const row = part.querySelector("[data-find]:has(:checked)");
  if (row) part.scrollTop = row.offsetTop - part.offsetTop;
}

wire(document);
document.addEventListener("foilworks:load", (event) => wire(event.target));
