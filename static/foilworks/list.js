// Lists with pictures (templates/foilworks/list.html): strips that play, rows by keys, the panel beside them.
import { fresh } from "./dom.js";

const PLAYS_AFTER_MS = 250;
// Narrower windows have no room for a panel: a row's link leads to its page.
const HAS_PANEL = matchMedia("(min-width: 72rem)");
const IS_CALM = matchMedia("(prefers-reduced-motion: reduce)");

for (const list of document.querySelectorAll("[data-list]")) wireList(list);
document.addEventListener("htmx:load", (event) => wireStrips(event.target));
wireStrips(document);

function wireList(list) {
  const panel = list.querySelector("[data-list-panel]");
  // An empty field says nothing in the address of a view.
  list.querySelector("[data-list-filters]")?.addEventListener("htmx:configRequest", ({ detail }) => {
    for (const [name, value] of [...detail.formData.entries()]) if (value === "") detail.formData.delete(name);
  });
  list.addEventListener("htmx:afterSettle", () => panel && keep(list, panel));
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-panel]");
    if (!link || !HAS_PANEL.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    // No click count: opened by key. Tab then goes on in the panel, not through all rows before it.
    show(list, panel, link, event.detail === 0);
  });
  list.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) {
      for (const box of boxes(list)) box.checked = event.target.checked;
    }
    count(list);
  });
  for (const button of list.querySelectorAll("[data-list-move]")) button.addEventListener("click", () => move(list, panel, Number(button.dataset.listMove)));
  list.querySelector("[data-list-select]")?.addEventListener("click", () => current(list)?.querySelector("[data-select]")?.click());
  panel?.querySelector("[data-panel-close]").addEventListener("click", () => close(list, panel));
  list.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && panel && !panel.hidden && !event.defaultPrevented && !event.target.matches("input, textarea")) close(list, panel);
  });
  // A shared address names the row whose panel was open.
  const link = document.getElementById(location.hash.slice(1))?.querySelector("a[data-panel]");
  if (panel && link && list.contains(link) && HAS_PANEL.matches) show(list, panel, link);
}

function rows(list) {
  return [...list.querySelectorAll("[data-row]")];
}

function boxes(list) {
  return list.querySelectorAll("[data-row] [data-select]");
}

/** The row that has the focus, else the one that the panel shows. */
function current(list) {
  return document.activeElement?.closest("[data-row]") ?? list.querySelector("[data-row][data-shown]");
}

function move(list, panel, step) {
  const all = rows(list);
  const at = all.indexOf(current(list));
  const row = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  const link = row?.querySelector(".row-link");
  if (!link) return;
  link.focus();
  row.scrollIntoView({ block: "nearest" });
  if (panel && !panel.hidden && link.dataset.panel && HAS_PANEL.matches) show(list, panel, link);
}

async function show(list, panel, link, enters = false) {
  for (const row of rows(list)) row.toggleAttribute("data-shown", row.contains(link));
  setFragment(`#${link.closest("[data-row]").id}`);
  panel.querySelector("[data-panel-link]").href = link.href;
  panel.hidden = false;
  // The player is loaded with the first panel: lists alone do not need it.
  await import(panel.dataset.playerModule);
  const body = panel.querySelector("[data-panel-body]");
  await htmx.ajax("GET", link.dataset.panel, { target: body });
  body.scrollTop = 0;
  if (enters && document.activeElement === link) body.focus({ preventScroll: true });
}

/** Other filters loaded other rows: the panel stays if its row is among them. */
function keep(list, panel) {
  if (panel.hidden || list.querySelector("[data-row][data-shown]")) return;
  // Links also carry the filters, which have changed.
  const shown = panel.querySelector("[data-panel-link]").pathname;
  const link = [...list.querySelectorAll("a[data-panel]")].find((each) => each.pathname === shown);
  if (!link) return close(list, panel);
  link.closest("[data-row]").setAttribute("data-shown", "");
  setFragment(`#${link.closest("[data-row]").id}`);
}

/** The address of a view says which panel is open; no entry of the history for each row. */
function setFragment(fragment) {
  history.replaceState(history.state, "", location.pathname + location.search + fragment);
}

function close(list, panel) {
  const link = list.querySelector("[data-row][data-shown] .row-link");
  panel.hidden = true;
  panel.querySelector("[data-panel-body]").replaceChildren();
  for (const row of rows(list)) row.removeAttribute("data-shown");
  setFragment("");
  link?.focus();
}

/** How many rows are selected, and the actions that all of them allow. */
function count(list) {
  const bar = list.querySelector("[data-bulk]");
  if (!bar) return;
  const chosen = [...boxes(list)].filter((box) => box.checked);
  bar.querySelector("[data-bulk-count]").textContent = String(chosen.length);
  for (const button of bar.querySelectorAll("button[data-of]")) {
    button.hidden = !chosen.length || !chosen.every((box) => button.dataset.of.split(" ").includes(box.dataset.state));
  }
  bar.querySelector("[data-bulk-none]")?.toggleAttribute("hidden", Boolean(bar.querySelector("button[data-of]:not([hidden])")));
}

function wireStrips(root) {
  for (const strip of fresh(root, "[data-strip]", "Strip")) {
    let timer;
    strip.addEventListener("pointerenter", () => {
      if (!IS_CALM.matches) timer = setTimeout(() => play(strip), PLAYS_AFTER_MS);
    });
    strip.addEventListener("pointerleave", () => {
      clearTimeout(timer);
      strip.querySelector("video")?.remove();
    });
  }
}

function play(strip) {
  const { strip: source, start, end } = strip.dataset;
  const video = document.createElement("video");
  Object.assign(video, { muted: true, playsInline: true, loop: !end, src: source });
  video.setAttribute("aria-hidden", "true");
  if (start) video.addEventListener("loadedmetadata", () => (video.currentTime = Number(start)));
  if (end) video.addEventListener("timeupdate", () => {
    if (video.currentTime >= Number(end)) video.currentTime = Number(start || 0);
  });
  strip.append(video);
  video.play().catch(() => video.remove());
}
