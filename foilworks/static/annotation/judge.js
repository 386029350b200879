// The judgement form: 1 to 5 choose, the same key again (or Ctrl+Enter) sends; who wants it sends with the first press.
// On a phone, where the answers are the bar under the thumb, one tap sends: it can be undone.
import { fresh, remember, remembered } from "../foilworks/dom.js";

const PREFERENCE = "oneKeyAnswers";
// Where work.css makes a bar of the answers.
const PHONE = matchMedia("(max-width: 40rem) and (min-height: 30rem)");

export function wireJudgements(root) {
  for (const form of fresh(root, "form[data-judge]", "Judge")) {
    const toggle = form.querySelector("[data-one-key]");
    toggle.checked = remembered(PREFERENCE, "off") === "on";
    toggle.addEventListener("change", () => remember(PREFERENCE, toggle.checked ? "on" : "off"));
    for (const choice of form.querySelectorAll("input[name='answer']")) {
      choice.addEventListener("hotkey", () => {
        const again = form.dataset.chosen === choice.value;
        form.dataset.chosen = choice.value;
        if (again || toggle.checked) form.requestSubmit();
      });
      // Arrow keys choose by a click, too: only a pointer taps.
      let tapped = false;
      choice.closest("label").addEventListener("pointerdown", () => (tapped = true));
      choice.addEventListener("click", () => {
        if (tapped && PHONE.matches) form.requestSubmit();
        tapped = false;
      });
    }
  }
}
