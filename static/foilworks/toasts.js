// Messages at the corner of the page. Good news leaves by itself; warnings and errors stay until dismissed.
import { fresh } from "./dom.js";

const STAY_MS = 7000;

export function wireToasts(root) {
  for (const toast of fresh(root, "[data-toast]", "Toast")) {
    toast.querySelector("[data-toast-close]")?.addEventListener("click", () => toast.remove());
    if (!toast.matches(".toast-warning, .toast-error") && !toast.querySelector("a, button:not([data-toast-close])")) leave(toast);
  }
}

/** Shows `text` as a toast of a level: info, success, warning or error. */
export function toast(text, level = "info") {
  const box = document.getElementById("toasts");
  const element = document.createElement("div");
  element.className = `toast toast-${level}`;
  element.dataset.toast = "";
  const line = document.createElement("p");
  line.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-quiet btn-small";
  close.dataset.toastClose = "";
  close.textContent = box.dataset.dismissLabel;
  element.append(line, close);
  box.append(element);
  wireToasts(element);
}

function leave(toast) {
  let timer = setTimeout(() => toast.remove(), STAY_MS);
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => (timer = setTimeout(() => toast.remove(), STAY_MS)));
}
