// Keys, declared on what they press: <button data-hotkey="a">, several by spaces: data-hotkey="k Space".
//   "a", "5", "?", ",", "Space"     single keys: silent while typing, and can be switched off as a whole
//   "Ctrl+Enter"                    also while typing (Cmd on a Mac)
//   Escape                          leaves a text box, so that single keys count again
//   data-hotkey-alt                 inside a text box the single key works with Alt
//   data-hotkeys-only               a hidden box of buttons that exist for their keys alone
//   data-hotkey-label               what the keys dialog says; else the element's aria-label or text
import { fresh, isTyping, remember, remembered } from "./dom.js";

const PREFERENCE = "singleKeys";
const LEFT_BY_ESCAPE = "textarea, input[type='text']";
// Alt changes the character that a key types on some systems, so Alt keys are told by their place on the board.
const CODES = {
  Comma: ",", Period: ".", BracketLeft: "[", BracketRight: "]", Backslash: "\\", Space: "Space", Slash: "/", Minus: "-", Equal: "=",
};

/** Tells assistive technology the keys, and keeps their printed hints out of the names of what they press. */
export function announceHotkeys(root) {
  for (const element of fresh(root, "[data-hotkey]", "Hotkey")) {
    element.setAttribute("aria-keyshortcuts", element.dataset.hotkey.replace("Ctrl", "Control"));
    for (const hint of (element.labels?.[0] ?? element).querySelectorAll("kbd")) hint.setAttribute("aria-hidden", "true");
  }
}

export function startHotkeys(root) {
  root.addEventListener("keydown", (event) => onKey(root, event));
  const dialog = root.querySelector("[data-keys]");
  if (!dialog) return;
  for (const opener of root.querySelectorAll(`[data-dialog-open="${dialog.id}"]`)) opener.addEventListener("click", () => fill(root, dialog));
  const toggle = dialog.querySelector("[data-keys-toggle]");
  toggle.checked = singleKeysOn();
  toggle.addEventListener("change", () => remember(PREFERENCE, toggle.checked ? "on" : "off"));
}

function singleKeysOn() {
  return remembered(PREFERENCE, "on") === "on";
}

function onKey(root, event) {
  if (event.defaultPrevented || event.isComposing || (event.repeat && event.key === "Enter")) return;
  const typing = isTyping(event.target);
  const dialog = event.target instanceof Element ? event.target.closest("dialog[open]") : null;
  if (event.key === "Escape" && !dialog && event.target.matches?.(LEFT_BY_ESCAPE)) return event.target.blur();
  const combination = name(event, typing);
  if (!combination || leaveToElement(event, combination)) return;
  for (const element of root.querySelectorAll("[data-hotkey]")) {
    if (!element.dataset.hotkey.split(" ").includes(combination.key)) continue;
    if (combination.alt && !("hotkeyAlt" in element.dataset)) continue;
    if (combination.single && !singleKeysOn() && combination.key !== "?") continue;
    if ((dialog && !dialog.contains(element)) || !usable(element)) continue;
    event.preventDefault();
    // A key that is held steps through a clip. It decides once: the cards that come meanwhile nobody has seen.
    if (!event.repeat || element.closest("[data-player]")) press(element);
    return;
  }
}

/** What was pressed, in the words of data-hotkey, or null where the page must not listen. */
function name(event, typing) {
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) return event.altKey ? null : { key: `Ctrl+${key}` };
  if (event.altKey) return { key: CODES[event.code] ?? event.code.replace(/^(Key|Digit)/, "").toLowerCase(), alt: true };
  if (typing) return null;
  return { key: event.key.length === 1 && event.key !== " " ? (event.shiftKey ? event.key : key) : key, single: true };
}

/** Space and Enter belong to the button, link or option that has the focus. */
function leaveToElement(event, combination) {
  if (combination.alt || !["Space", "Enter"].includes(combination.key)) return false;
  return event.target instanceof Element && Boolean(event.target.closest("button, a[href], summary, input, label"));
}

function usable(element) {
  if (element.disabled || element.getAttribute("aria-disabled") === "true") return false;
  if (element.checkVisibility({ visibilityProperty: true })) return true;
  // Nothing behind a closed content warning is pressed.
  return Boolean(element.closest("[data-hotkeys-only]")) && !element.closest("details.player-gate:not([open])");
}

function press(element) {
  if (element.matches("textarea, input[type='text']")) element.focus();
  else {
    if (element.matches("input")) element.focus();
    element.click();
    // For those who must tell a key of the page from a click or an arrow.
    element.dispatchEvent(new Event("hotkey"));
  }
}

function fill(root, dialog) {
  const list = dialog.querySelector("[data-keys-list]");
  const template = dialog.querySelector("[data-keys-row]");
  list.replaceChildren();
  for (const element of root.querySelectorAll("[data-hotkey]")) {
    if (dialog.contains(element) || !usable(element)) continue;
    const row = template.content.cloneNode(true);
    row.querySelector("th").textContent = label(element);
    element.dataset.hotkey.split(" ").forEach((key, index) => {
      if (index) row.querySelector("td").append(" ");
      const kbd = document.createElement("kbd");
      kbd.textContent = key.replace("Ctrl", dialog.dataset.ctrl).replace("+", " + ");
      row.querySelector("td").append(kbd);
    });
    list.append(row);
  }
}

function label(element) {
  if (element.dataset.hotkeyLabel) return element.dataset.hotkeyLabel;
  if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
  const text = (element.labels?.[0] ?? element).cloneNode(true);
  text.querySelectorAll("kbd, .visually-hidden").forEach((part) => part.remove());
  return text.textContent.trim().replace(/\s+/g, " ");
}
