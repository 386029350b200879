// Keys, declared on what they press: <button data-hotkey="a">, several by spaces: data-hotkey="k Space".
//   "a", "5", "?", ",", "Space"     single keys: silent while typing, and can be switched off as a whole
//   "Ctrl+Enter"                    also while typing (Cmd on a Mac)
//   Escape                          leaves a text box, so that single keys count again
//   data-hotkey-alt                 inside a text box the single key works with Alt, on a Mac with Ctrl+Option
//   data-hotkeys-only               a hidden box of buttons that exist for their keys alone
//   data-hotkey-label               what the keys dialog says; else the element's aria-label or text
import { fresh, isComposing, isTyping, remember, remembered } from "./dom.js";

const PREFERENCE = "singleKeys";
const LEFT_BY_ESCAPE = "textarea, input[type='text']";
// What a place types on a US keyboard, without and with Shift.
const PLACES = { Comma: ",<", Period: ".>", BracketLeft: "[{", BracketRight: "]}", Backslash: "\\|", Slash: "/?", Minus: "-_", Equal: "=+", Space: "  " };
// On a Mac, Option is a way to type: almost every key has a character with it.
const IS_MAC = /^(Mac|iP)/.test(navigator.platform);
// Place -> what it typed here without a modifier.
const typedHere = new Map();

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
  // Browsers that fill in a form send a keydown without a key.
  if (!event.key || event.defaultPrevented || isComposing(event) || (event.repeat && event.key === "Enter")) return;
  learn(event);
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

function learn(event) {
  const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.getModifierState("AltGraph");
  if (event.key.length === 1 && !modified) typedHere.set(event.code, event.key.toLowerCase());
}

/** What was pressed, in the words of data-hotkey, or null where the page must not listen. */
function name(event, typing) {
  const key = asHotkey(event);
  // Windows reports AltGr as Ctrl and Alt, too.
  if (event.getModifierState("AltGraph")) return typing ? null : { key, single: true };
  if (event.altKey && event.ctrlKey) return IS_MAC ? { key: byPlace(event) ?? key, alt: true } : null;
  if (event.ctrlKey || event.metaKey) return event.altKey ? null : { key: `Ctrl+${key}` };
  if (event.altKey) return typing && typesWithAlt(event) ? null : { key, alt: true };
  return typing ? null : { key, single: true };
}

/** The key as data-hotkey names it: by its character, or by its place where that is none that a hotkey has. */
function asHotkey(event) {
  if (event.key === " ") return "Space";
  if (event.key.length !== 1) return event.key;
  const isAscii = event.key < "\x7f";
  // The row of digits of a French keyboard types &é"'( without Shift.
  const isPlain = !event.shiftKey && !event.altKey && !event.getModifierState("AltGraph");
  const isDigit = isPlain && /^Digit[0-9]$/.test(event.code) && !/[a-z]/i.test(event.key);
  const key = isAscii && !isDigit ? event.key : byPlace(event) ?? event.key;
  return event.shiftKey && !event.altKey ? key : key.toLowerCase();
}

/** What the place types on a US keyboard, or undefined. */
function byPlace({ code, shiftKey }) {
  if (code === "Space") return "Space";
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  if (letter) return shiftKey ? letter : letter.toLowerCase();
  const [, digit] = /^(?:Digit|Numpad)([0-9])$/.exec(code) ?? [];
  return digit ? (shiftKey ? undefined : digit) : PLACES[code]?.[Number(shiftKey)];
}

/** Whether a key with Alt types a character: another one than without Alt. */
function typesWithAlt(event) {
  if (IS_MAC || event.key === "Dead") return true;
  const plain = typedHere.get(event.code) ?? PLACES[event.code]?.[0] ?? byPlace({ code: event.code, shiftKey: false });
  const withShift = event.shiftKey && event.key === PLACES[event.code]?.[1];
  return event.key.length === 1 && event.key.toLowerCase() !== plain && !withShift;
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
