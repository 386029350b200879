"""Every write of annotation: one function, one transaction; writes about one thing share a file.

`from annotation.actions.claims.claim import claim` and so on. `now` is the moment of the write (default: the clock).
`token` is a claim's; `key` is the client-made idempotency key (1-64 characters): the same key gives the same record
again. `watch` is {"seconds", "loops", "covered"}, `seconds` the time spent. All raise AccessDenied without the role and
AnnotationError (Conflict, WorkRefused, LeaseEnded are such) with what to do.

    make_tasks(project, *, limit=None) -> int                        groups and items that got their tasks
    claim(person, project, stage, *, now=None) -> Claim | None       Stage.EDIT, REVIEW or VALIDATION; None = nothing
    heartbeat(person, token, *, now=None) -> datetime                the lease's new end; LeaseEnded when it is over
    save_draft(person, token, text, *, now=None) -> datetime         JSON {"base", "values"}; LeaseEnded once sent
    release(person, token, *, reason="", now=None) -> None           skip: offered to this person again at the end
    submit_edit(person, token, key, texts, parents=(), *, watch=None, seconds=None, now=None) -> Edit
        as many texts as the card wants; parents: for each text the id of the suggestion it came from, or None
    submit_review(person, token, key, review, *, watch=None, seconds=None, now=None) -> Review
        review: ReviewDecision; reasons: codes of rules.reviewing.REASONS (needed for send_back and drop)
    submit_vote(person, token, key, answer, *, watch=None, seconds=None, now=None) -> Vote
        answer: 1-5 or "first", "second", "neither", "both", "cannot_tell", as shown
    submit_choice(person, token, key, answer, *, watch=None, seconds=None, now=None) -> Vote
        human baseline: the number, 1 to n, of the chosen text
    submit_objects(person, token, key, answers, *, seconds=None, now=None) -> ObjectAnswer
        object check: {"0": "yes" or "no", …}, one for each object
    undo_edit(person, edit_id, *, now=None) -> Claim                 within project.undo_seconds: leased again
    undo_review(person, review_id, *, now=None) -> Claim
    undo_vote(person, vote_id, *, now=None) -> Claim
    undo_choice(person, vote_id, *, now=None) -> Claim
    undo_objects(person, answer_id, *, now=None) -> Claim
    open_baseline(person, project, *, release=None, subtest=None, size=None, overlap=1, seed=0) -> int
    import_objects(person, project, lines, *, name, source="import") -> int      None: the operator
    ask_for_nouns(person, project) -> Job
    open_object_check(person, project, source, *, size=100, overlap=1, seed=0, now=None) -> ObjectCheck
    classify_object(person, project, frame_id, place, error_class, *, now=None) -> ObjectError
    adjudicate(person, item_id, outcome, reason, *, now=None) -> Item
        researcher or reviewer not involved in the video: disputed -> "valid" or "invalid"
    correct_caption(person, caption_id, text, *, keep=(), reason="", now=None) -> Caption    researcher: a revision
    confirm_caption(person, caption_id, reason, *, now=None) -> Caption  researcher: in doubt -> confirmed
    drop_caption(person, caption_id, reason, *, now=None) -> Caption     researcher: its video's items are retracted
    set_vote_rule(person, subtest, rule) -> Subtest      researcher: VoteRule, until anyone has seen a pair
    set_work_rules(person, project, rules) -> Project    researcher: WorkRules; the scope until anyone has seen a pair
    set_review_sampling(person, project, *, rate, second_share, own_rates=None, now=None) -> ReviewPolicy    researcher
    requeue(person, item_id, reason="", *, now=None) -> Item             researcher: invalid -> requeued, foils reopen
    retract(person, item_id, reason, *, now=None) -> Item                researcher: valid -> retracted
    undo_decision(person, event_id, *, now=None) -> Item | Caption
        the person's own adjudicate, requeue, retract, restore or confirm_caption, for 10 minutes, while nothing depends
        on it; the id is of its audit row
    add_comment(person, project, item_id, text) -> ItemComment   researcher, or reviewer who is not a validator
    set_resolved(person, project, item_id, comment_id, *, resolved) -> bool      the same people
    publish_guideline(person, project, stage, text, *, subtest=None) -> Guideline
    change_roles(actor, project, person_id, roles, *, now=None) -> int   researcher: leases of lost stages are freed
    remove_member(actor, project, person_id, *, now=None) -> int         researcher: all the person's leases are freed

`Claim` (annotation.queries.cards): token, stage, slot_id, task_id, lease_id, project_id, expires_at, resumed,
skipped_before, caption_first. What its page needs: annotation.queries.cards.claim_card(person, claim). A vote or edit
that came too late is stored: record.late is True, and record.slot is None if it does not count.
"""
