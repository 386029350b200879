// input[data-find-in="selector"]: hides what does not match it among the [data-find] in that part of the page.

for (const field of document.querySelectorAll("input[data-find-in]")) {
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
