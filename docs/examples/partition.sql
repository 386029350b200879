-- Partitions of the two tables that only grow: the audit trail by ranges of its number, which is the order of time, and
-- the scores by hashes of the model's key. PostgreSQL 14 or newer; run once, with web and workers stopped:
--
--     psql "$DATABASE_URL" --single-transaction -f docs/examples/partition.sql
--
-- What refers to constraints and indexes by name (later migrations) finds the same names on the partitioned tables.

-- The trail as it is becomes the first partition, without a copy. Rows beyond the last partition go to projects_auditevent_rest.
DO $$
DECLARE
    step constant bigint := 10000000;
    old record;
    top bigint;
    part int;
BEGIN
    LOCK TABLE projects_auditevent IN ACCESS EXCLUSIVE MODE;
    SELECT (coalesce(max(id), 0) / step + 1) * step INTO top FROM projects_auditevent;
    ALTER TABLE projects_auditevent RENAME TO projects_auditevent_1;
    ALTER TABLE projects_auditevent_1 ALTER COLUMN id DROP IDENTITY IF EXISTS;
    CREATE TABLE projects_auditevent (LIKE projects_auditevent_1) PARTITION BY RANGE (id);

    FOR old IN SELECT conname, contype, pg_get_constraintdef(oid) AS def FROM pg_constraint
               WHERE conrelid = 'projects_auditevent_1'::regclass AND contype IN ('p', 'f') LOOP
        EXECUTE format('ALTER TABLE projects_auditevent_1 RENAME CONSTRAINT %I TO %I', old.conname, left(old.conname, 60) || '_1');
        EXECUTE format('ALTER TABLE projects_auditevent ADD CONSTRAINT %I %s', old.conname, old.def);
    END LOOP;
    FOR old IN SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS def FROM pg_index i
               WHERE i.indrelid = 'projects_auditevent_1'::regclass AND NOT i.indisprimary LOOP
        EXECUTE format('ALTER INDEX %s RENAME TO %I', old.name, left(old.name, 60) || '_1');
        EXECUTE regexp_replace(old.def, ' ON (ONLY )?(\S+\.)?projects_auditevent_1 ', ' ON projects_auditevent ');
    END LOOP;

    EXECUTE format('ALTER TABLE projects_auditevent ATTACH PARTITION projects_auditevent_1 FOR VALUES FROM (MINVALUE) TO (%s)', top);
    FOR part IN 2..5 LOOP
        EXECUTE format('CREATE TABLE projects_auditevent_%s PARTITION OF projects_auditevent FOR VALUES FROM (%s) TO (%s)',
                       part, top + (part - 2) * step, top + (part - 1) * step);
    END LOOP;
    CREATE TABLE projects_auditevent_rest PARTITION OF projects_auditevent DEFAULT;

    CREATE SEQUENCE projects_auditevent_numbers OWNED BY projects_auditevent.id;
    PERFORM setval('projects_auditevent_numbers', greatest((SELECT max(id) FROM projects_auditevent), 1),
                   EXISTS (SELECT 1 FROM projects_auditevent));
    ALTER TABLE projects_auditevent ALTER COLUMN id SET DEFAULT nextval('projects_auditevent_numbers');
END $$;

-- Scores are copied: each goes to the partition of its model. All scores of a model are in one, where a page looks them up.
DO $$
DECLARE
    parts constant int := 8;
    old record;
    part int;
BEGIN
    LOCK TABLE evaluation_score IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE evaluation_score RENAME TO evaluation_score_whole;
    CREATE TABLE evaluation_score (LIKE evaluation_score_whole) PARTITION BY HASH (model_key);
    FOR part IN 1..parts LOOP
        EXECUTE format('CREATE TABLE evaluation_score_%s PARTITION OF evaluation_score FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                       part, parts, part - 1);
    END LOOP;
    INSERT INTO evaluation_score SELECT * FROM evaluation_score_whole;

    CREATE SEQUENCE evaluation_score_numbers OWNED BY evaluation_score.id;
    PERFORM setval('evaluation_score_numbers', greatest((SELECT max(id) FROM evaluation_score), 1),
                   EXISTS (SELECT 1 FROM evaluation_score));
    ALTER TABLE evaluation_score ALTER COLUMN id SET DEFAULT nextval('evaluation_score_numbers');
    -- The key of the partitions is part of every unique key. Numbers come from one sequence, so they stay unique.
    FOR old IN SELECT conname, contype, pg_get_constraintdef(oid) AS def FROM pg_constraint
               WHERE conrelid = 'evaluation_score_whole'::regclass AND contype IN ('p', 'u') LOOP
        EXECUTE format('ALTER TABLE evaluation_score_whole DROP CONSTRAINT %I', old.conname);
        EXECUTE format('ALTER TABLE evaluation_score ADD CONSTRAINT %I %s', old.conname,
                       CASE old.contype WHEN 'p' THEN 'PRIMARY KEY (id, model_key)' ELSE old.def END);
    END LOOP;
    FOR old IN SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS def FROM pg_index i
               WHERE i.indrelid = 'evaluation_score_whole'::regclass LOOP
        EXECUTE format('DROP INDEX %s', old.name);
        EXECUTE regexp_replace(old.def, ' ON (ONLY )?(\S+\.)?evaluation_score_whole ', ' ON evaluation_score ');
    END LOOP;
    DROP TABLE evaluation_score_whole;
END $$;
