// [data-shown-in="selector"], a select or a group of radio buttons: the part of the page that the choice belongs to is
// fetched by htmx on change, and the field of that selector in it names the choice it was made for. What is chosen before
// htmx listens is fetched later.

/** Once everything is loaded: a choice that the page does not show yet is made again. */
export function catchUpChoices(root) {
  for (const choice of root.querySelectorAll("[data-shown-in]")) {
    const shown = root.querySelector(choice.dataset.shownIn);
    if (shown && shown.value !== chosen(choice)) choice.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function chosen(choice) {
  return choice.matches("select") ? choice.value : (choice.querySelector("input:checked")?.value ?? "");
}
