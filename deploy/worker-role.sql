-- A role of the database for hosts that only run the gpu queue, such as nodes of Ray or Slurm: it reads videos, captions,
-- items, settings of runs and votes (the baseline on the leaderboard), and writes results. It reads no account, key or
-- session.
-- As the owner of the tables, now and after each update:
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file deploy/worker-role.sql
-- Then give the role a password with \password foilworks_worker.
DO $$
BEGIN
    CREATE ROLE foilworks_worker LOGIN;
EXCEPTION WHEN duplicate_object THEN
    NULL;
END
$$;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM foilworks_worker;
GRANT USAGE ON SCHEMA public TO foilworks_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO foilworks_worker;

GRANT SELECT ON
    corpus_video, corpus_caption, corpus_subtest, corpus_item, corpus_foil, corpus_release, corpus_releaseitem,
    annotation_vote, evaluation_modeltrust, evaluation_shortcutbar, generation_prompttemplate, projects_project
TO foilworks_worker;

-- Runs: a job writes its progress and its results into the row of its run, and adds none.
GRANT SELECT, UPDATE ON
    evaluation_run, evaluation_blindscorer, evaluation_proximityrun, evaluation_descriptions, evaluation_biasrun,
    evaluation_benchmarkedmodel, evaluation_itemcheck, evaluation_teachertraining, evaluation_teacherreading,
    generation_generationrun, generation_tuning
TO foilworks_worker;

-- Results, and the rows of shards.
GRANT SELECT, INSERT, UPDATE ON
    jobs_job,
    evaluation_score, evaluation_modelcard, evaluation_runusage, evaluation_servedanswer, evaluation_report,
    evaluation_textsource, evaluation_frametext, evaluation_descriptionsusage, evaluation_itemshortcut,
    evaluation_teacherpoint,
    generation_candidategroup, generation_candidate, generation_scorer, generation_measure, generation_filterscore,
    generation_modelanswer, generation_runcost, generation_sighting
TO foilworks_worker;
-- A training that resumes replaces the points after its last checkpoint.
GRANT DELETE ON evaluation_teacherpoint TO foilworks_worker;

-- What a job did is recorded; nobody but the owner reads or changes the record.
GRANT INSERT, SELECT (id) ON projects_auditevent TO foilworks_worker;
