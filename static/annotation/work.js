// Entry of the work pages: edit, review, validate.
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
import { wireUndo } from "./undo.js";

wirePlayers(document);
wireEditors(document);
wireHints(document);
wireDrafts(document);
wireLeases(document);
wireReviews(document);
wireJudgements(document);
wireObjects(document);
wireSpent(document);
wireUndo(document);
wireOutbox(document);
