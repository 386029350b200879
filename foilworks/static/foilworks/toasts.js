// Messages at the corner of the page. Good news leaves by itself; warnings and errors stay until dismissed.
import { fresh } from "./dom.js";

const STAY_MS = 7000;

export function wireToasts(root) {
  for (const toast of fresh(root, "[data-toast]", "Toast")) {
    toast.querySelector("[data-toast-close]")?.addEventListener("click", () => toast.remove());
    if (!toast.matches(".toast-warning, .toast-error") && !toast.querySelector("a, button:not([data-toast-close])")) leave(toast);
  }
}

function leave(toast) {
  let timer = setTimeout(() => toast.remove(), STAY_MS);
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => (timer = setTimeout(() => toast.remove(), STAY_MS)));
}
