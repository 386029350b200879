// form[data-once]: one press, one record. The key that makes a repeat harmless is in the form before it is sent (the server
// puts one there for pages without scripts), so pressing twice, a retry or a reload stores nothing twice.
import { fresh } from "./dom.js";

export function wireForms(root) {
  for (const form of fresh(root, "form[data-once]", "Once")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      const key = form.elements.namedItem("idempotency_key");
      if (key && !key.value) key.value = randomKey();
      form.dataset.sent = "yes";
      // After this turn: a disabled button would drop its own name and value from what is sent.
      setTimeout(() => setBusy(form, true));
    });
  }
  for (const form of fresh(root, "form[data-autosubmit]", "Autosubmit")) {
    form.addEventListener("change", () => form.requestSubmit());
  }
}

/** The page came back from the browser's cache: its forms may be sent again (the server knows the key). */
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    setBusy(form, false);
  }
});

function setBusy(form, busy) {
  // form.elements holds the buttons outside the form that name it, too.
  for (const element of form.elements) {
    if (element instanceof HTMLButtonElement && element.type === "submit") mark(element, busy);
  }
}

function mark(button, busy) {
  button.setAttribute("aria-disabled", String(busy));
  button.toggleAttribute("data-busy", busy);
}

/** randomUUID exists on secure origins only; a laboratory's plain-http address still needs a key. */
function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
