// select[data-shown-in="selector"]: the part of the page that the choice belongs to is fetched by htmx on change, and the
// field of that selector in it names the choice it was made for. What is chosen before htmx listens is fetched later.

/** Once everything is loaded: a choice that the page does not show yet is made again. */
export function catchUpChoices(root) {
  for (const select of root.querySelectorAll("select[data-shown-in]")) {
    const shown = root.querySelector(select.dataset.shownIn);
    if (shown && shown.value !== select.value) select.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
