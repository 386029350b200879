// The review form: decisions that need a reason ask for one before they are sent; "fix" opens its editor with the focus in it.
import { fresh } from "../foilworks/dom.js";

export function wireReviews(root) {
  for (const form of fresh(root, "form[data-review]", "Review")) {
    const hint = form.querySelector("[data-reasons-missing]");
    const reasons = [...form.querySelectorAll("input[name='reasons']")];
    for (const button of form.querySelectorAll("button[data-needs-reason]")) {
      button.addEventListener("click", (event) => {
        if (reasons.some((reason) => reason.checked)) return;
        event.preventDefault();
        hint.hidden = false;
        reasons[0].focus();
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
