// The checks of annotation/rules/editing.py while a person types; the server asks them again. A browser test holds both together.
import { changedWords, comparedWords } from "../foilworks/diff.js";

export const MAX_CHARACTERS = 2000;
const ENDS = new Set([".", "!", "?", "…", "。"]);

/** Equal for texts that read the same: letter case, width forms, runs of white space and a final stop do not count. */
export function normalised(text) {
  return text.normalize("NFKC").toLowerCase().trim().split(/\s+/u).join(" ").replace(/^[ .!?…。]+|[ .!?…。]+$/gu, "");
}

/**
 * [code, number] findings on one text. `others`: the other foils of the caption; `dropped`: texts a reviewer has dropped;
 * `marks`: {"stay", "change"}, the caption's words for people and things, and those for what happens.
 */
export function checkText(caption, text, others, dropped, marks = { stay: [], change: [] }) {
  const length = [...text].length;
  if (!text.trim()) return [["empty", 0]];
  if (length > MAX_CHARACTERS) return [["too_long", length]];
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return [["control_character", 0]];
  const plain = normalised(text);
  if (plain === normalised(caption)) return [["same_as_caption", 0]];
  if (others.some((other) => plain === normalised(other))) return [["duplicate", 0]];
  if (dropped.some((other) => plain === normalised(other))) return [["dropped_before", 0]];
  return warnings(caption, text, marks);
}

function warnings(caption, text, marks) {
  const found = [];
  const changed = changedWords(caption, text);
  if (changed > Math.max(4, Math.floor(comparedWords(caption).length / 3))) found.push(["many_changed_words", changed]);
  if (sentences(text) > Math.max(1, sentences(caption))) found.push(["not_one_sentence", 0]);
  const words = new Set(comparedWords(text));
  const stands = (word) => comparedWords(word).every((part) => words.has(part));
  const lost = marks.stay.filter((word) => !stands(word)).length;
  if (lost) found.push(["entity_changed", lost]);
  if (marks.change.length && marks.change.every(stands)) found.push(["same_action", 0]);
  return found;
}

function split(text) {
  return text.trim() ? text.trim().split(/\s+/u) : [];
}

function sentences(text) {
  const words = split(text);
  return words.slice(0, -1).filter((word) => ENDS.has(word.at(-1))).length + (words.length ? 1 : 0);
}
