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

-- Results.
GRANT SELECT, INSERT, UPDATE ON
    evaluation_score, evaluation_modelcard, evaluation_runusage, evaluation_servedanswer, evaluation_report,
    evaluation_textsource, evaluation_frametext, evaluation_descriptionsusage, evaluation_itemshortcut,
    evaluation_teacherpoint,
    generation_candidategroup, generation_candidate, generation_scorer, generation_measure, generation_filterscore,
    generation_modelanswer, generation_runcost, generation_sighting
TO foilworks_worker;
-- A training that resumes replaces the points after its last checkpoint.
GRANT DELETE ON evaluation_teacherpoint TO foilworks_worker;

-- Jobs: it reads and continues those of the gpu queue, and adds their shards. It cannot make or change what workers of
-- the web host run, who have the key: no row of another queue, and not which function a row runs on what.
GRANT SELECT, INSERT ON jobs_job TO foilworks_worker;
GRANT UPDATE (
    state, done, total, message, error, worker, measured, payload, attempts, losses, heartbeat_at, lease_until,
    started_at, finished_at
) ON jobs_job TO foilworks_worker;
ALTER TABLE jobs_job ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS foilworks_worker_reads ON jobs_job;
DROP POLICY IF EXISTS foilworks_worker_adds ON jobs_job;
DROP POLICY IF EXISTS foilworks_worker_continues ON jobs_job;
CREATE POLICY foilworks_worker_reads ON jobs_job FOR SELECT TO foilworks_worker USING (queue = 'gpu');
CREATE POLICY foilworks_worker_adds ON jobs_job FOR INSERT TO foilworks_worker WITH CHECK (
    queue = 'gpu' AND parent_id IS NOT NULL AND dotted IN ('scoring.shard', 'utd.describe_shard', 'utd.measure_shard',
    'utd.answer_shard', 'teacher.ask')
);
CREATE POLICY foilworks_worker_continues ON jobs_job FOR UPDATE TO foilworks_worker USING (queue = 'gpu')
    WITH CHECK (queue = 'gpu');

-- Cached results: not the requests of freezes and exports, which the web host's workers read.
ALTER TABLE evaluation_report ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS foilworks_worker_caches ON evaluation_report;
CREATE POLICY foilworks_worker_caches ON evaluation_report TO foilworks_worker
    USING (kind NOT IN ('freezing', 'freeze_preview', 'export'))
    WITH CHECK (kind NOT IN ('freezing', 'freeze_preview', 'export'));

-- What a job did is recorded; nobody but the owner reads or changes the record.
GRANT INSERT, SELECT (id) ON projects_auditevent TO foilworks_worker;
