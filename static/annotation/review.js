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
    const fix = form.querySelector("details[data-fix]");
    fix?.addEventListener("toggle", () => fix.open && fix.querySelector("textarea").focus());
  }
}
