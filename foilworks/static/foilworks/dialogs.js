// [data-dialog-open="id"] opens a <dialog>; a click on its backdrop closes it; [data-unfold="id"] shows and hides a part; menus close on Escape and on a click outside.
import { fresh } from "./dom.js";

export function wireDialogs(root) {
  for (const opener of fresh(root, "[data-dialog-open]", "Opener")) {
    opener.setAttribute("aria-haspopup", "dialog");
    opener.addEventListener("click", (event) => {
      // A button that sends a form without scripts asks first.
      event.preventDefault();
      document.getElementById(opener.dataset.dialogOpen)?.showModal();
    });
  }
  for (const dialog of fresh(root, "dialog", "Dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog && !within(dialog, event)) dialog.close();
    });
  }
  for (const button of fresh(root, "[data-unfold]", "Unfold")) {
    const part = document.getElementById(button.dataset.unfold);
    const show = () => button.setAttribute("aria-expanded", String(part.hasAttribute("data-unfolded")));
    button.addEventListener("click", () => {
      part.toggleAttribute("data-unfolded");
      show();
    });
    show();
  }
  for (const menu of fresh(root, "details.menu", "Menu")) {
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  }
}

function within(dialog, { clientX, clientY }) {
  const box = dialog.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
}
