// [data-undo]: the seconds in which the last submit can be taken back; then the bar goes blank (its place stays: nothing jumps).
import { fresh } from "../foilworks/dom.js";

export function wireUndo(root) {
  for (const bar of fresh(root, "[data-undo]", "Undo")) {
    const endsAt = performance.now() + Number(bar.dataset.undo) * 1000;
    const clock = bar.querySelector("[data-undo-seconds]");
    const timer = setInterval(() => {
      const left = Math.ceil((endsAt - performance.now()) / 1000);
      clock.textContent = String(Math.max(0, left));
      if (left > 0 && bar.isConnected) return;
      clearInterval(timer);
      bar.classList.add("over");
    }, 500);
  }
}
