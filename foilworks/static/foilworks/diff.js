// Word-level difference of two texts, as text/diff.py makes it: the same words, the same minimal alignment, the same ties.
// A browser test holds both to each other.

// Scripts that put no space between words (UNSPACED in text/tokens.py): each character is compared.
const SCRIPTS = "Han Hiragana Katakana Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Javanese Balinese";
const UNSPACED = SCRIPTS.replace(/\w+ ?/g, (name) => `\\p{Script=${name.trim()}}`) + "\u30fc\uff70";
const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}_]\\p{M}*)+`;
const MARKS = "[\\p{M}\\p{EMod}\\u{e0020}-\\u{e007f}]*";
const WORD = new RegExp(`${LETTERS}(?:['’]${LETTERS})*|[${UNSPACED}]\\p{M}*|\\p{RI}{2}|\\S${MARKS}(?:\\u200d\\S${MARKS})*`, "gu");
const SILENT = /^[\p{P}\p{C}]/u;
// Above this the page would stutter at each key press; the middle then counts as replaced as a whole.
const MAX_CELLS = 250_000;

function tokens(text) {
  return [...text.matchAll(WORD)].map((match) => ({ start: match.index, end: match.index + match[0].length, text: match[0] }));
}

/** Index pairs [i, j] of equal elements, rising in both; fewest changes, then most kept words, then leftmost. */
function align(left, right) {
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const middle = alignMiddle(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  const pairs = Array.from({ length: head }, (_, i) => [i, i]);
  for (const [i, j] of middle) pairs.push([i + head, j + head]);
  for (let k = tail; k > 0; k -= 1) pairs.push([left.length - k, right.length - k]);
  return pairs;
}

function alignMiddle(left, right) {
  if (!left.length || !right.length || left.length * right.length > MAX_CELLS) return [];
  // Cost in the high part, kept words (negated) in the low part: one number compares both.
  const unit = left.length + right.length + 1;
  const table = [Array.from({ length: right.length + 1 }, (_, j) => j * unit)];
  left.forEach((word, i) => {
    const above = table[i];
    const row = [(i + 1) * unit];
    right.forEach((other, j) => {
      row.push(Math.min(above[j] + (word === other ? -1 : unit), above[j + 1] + unit, row[j] + unit));
    });
    table.push(row);
  });
  return trace(table, left, right, unit);
}

function trace(table, left, right, unit) {
  const pairs = [];
  let [i, j] = [left.length, right.length];
  while (i && j) {
    const here = table[i][j];
    if (here === table[i - 1][j] + unit) i -= 1;
    else if (here === table[i][j - 1] + unit) j -= 1;
    else {
      i -= 1;
      j -= 1;
      if (left[i] === right[j]) pairs.push([i, j]);
    }
  }
  return pairs.reverse();
}

/** [kind, text] pieces in reading order, kind in same, removed, added; same + removed spell a, same + added spell b. */
export function diffSegments(a, b) {
  const [left, right] = [tokens(a), tokens(b)];
  const pieces = [];
  let [atA, atB, kept] = [0, 0, 0];
  const pairs = align(left.map((token) => token.text), right.map((token) => token.text));
  for (const [i, j] of [...pairs, [left.length, right.length]]) {
    const endA = i < left.length ? left[i].start : a.length;
    const endB = j < right.length ? right[j].start : b.length;
    const edit = trimmed(a.slice(atA, endA), b.slice(atB, endB));
    if (edit) {
      pieces.push(["same", a.slice(kept, atA + edit.head)], ["removed", edit.removed], ["added", edit.added]);
      kept = endA - edit.tail;
    }
    if (i < left.length) [atA, atB] = [left[i].end, right[j].end];
  }
  pieces.push(["same", a.slice(kept)]);
  return pieces.filter(([, text]) => text);
}

/** One changed region without the blanks that both sides share at its ends; null where nothing changed. */
function trimmed(old, now) {
  if (old === now) return null;
  const shared = Math.min(old.length, now.length);
  let head = 0;
  while (head < shared && old[head] === now[head] && /\s/.test(old[head])) head += 1;
  let tail = 0;
  while (tail < shared - head && old.at(-1 - tail) === now.at(-1 - tail) && /\s/.test(old.at(-1 - tail))) tail += 1;
  return { head, tail, removed: old.slice(head, old.length - tail), added: now.slice(head, now.length - tail) };
}

/** Words of a text as changedWords compares them: without punctuation, in lower case. */
export function comparedWords(text) {
  return tokens(text).map((token) => token.text.toLowerCase()).filter((word) => !SILENT.test(word));
}

/** Count the words replaced, removed or added, ignoring case, punctuation and white space. */
export function changedWords(a, b) {
  const [left, right] = [comparedWords(a), comparedWords(b)];
  let [changed, atI, atJ] = [0, 0, 0];
  for (const [i, j] of [...align(left, right), [left.length, right.length]]) {
    changed += Math.max(i - atI, j - atJ);
    [atI, atJ] = [i + 1, j + 1];
  }
  return changed;
}

/** Fills `view` with the difference; `spoken` holds the words that a screen reader hears before a change. */
export function renderDiff(view, a, b, spoken) {
  view.replaceChildren();
  for (const [kind, text] of diffSegments(a, b)) {
    if (kind === "same") {
      view.append(text);
      continue;
    }
    const change = document.createElement(kind === "removed" ? "del" : "ins");
    const hint = document.createElement("span");
    hint.className = "visually-hidden";
    // Words of the page, which say nothing of the direction of the text.
    hint.dir = "auto";
    hint.textContent = `${spoken[kind]} `;
    change.append(hint, text);
    view.append(change);
  }
}
