// Entry of the work pages: edit, review, validate, the human baseline, the object check.
import { wireDrafts } from "../foilworks/drafts.js";
import { wireLeases } from "../foilworks/lease.js";
import { wireOutbox } from "../foilworks/outbox.js";
import { wirePlayers } from "../foilworks/player.js";
import { wireEditors } from "./editor.js";
import { wireHints } from "./hints.js";
import { wireJudgements } from "./judge.js";
import { wireObjects } from "./objects.js";
import { wireReviews } from "./review.js";
import { wireSpent } from "./spent.js";
import { LOADED, wireSwap } from "./swap.js";
import { wireUndo } from "./undo.js";

function wire(root) {
  wirePlayers(root);
  wireEditors(root);
  wireHints(root);
  wireDrafts(root);
  wireLeases(root);
  wireReviews(root);
  wireJudgements(root);
  wireObjects(root);
  wireSpent(root);
  wireUndo(root);
  wireOutbox(root);
  wireSwap(root);
}

wire(document);
document.addEventListener(LOADED, (event) => wire(event.target));
