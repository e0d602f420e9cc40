-- A candidate may be lost with the workers that were at it.

CREATE TABLE new_measurements (
  id         INTEGER PRIMARY KEY,  -- a later measurement has a larger id
  candidate  INTEGER NOT NULL REFERENCES candidates (id),
  outcome    TEXT NOT NULL CHECK (outcome IN (
    'ok', 'wrong', 'crashed', 'timed-out', 'refused', 'failed-to-compile', 'out-of-resources',
    'skipped', 'lost')),
  message    TEXT NOT NULL,        -- why it is not ok, or empty
  samples    TEXT NOT NULL,        -- every time taken, in milliseconds: a JSON array
  median     REAL,                 -- of the samples; NULL where there are none
  started    INTEGER NOT NULL,     -- Unix seconds
  seed       TEXT NOT NULL,        -- of the inputs; digits, as it may exceed SQLite's integers
  host       TEXT NOT NULL,
  seal       TEXT NOT NULL DEFAULT '',
  CHECK (outcome <> 'ok' OR median IS NOT NULL)
);

INSERT INTO new_measurements
SELECT id, candidate, outcome, message, samples, median, started, seed, host, seal
FROM measurements ORDER BY id;

DROP TABLE measurements;
ALTER TABLE new_measurements RENAME TO measurements;
CREATE INDEX measurements_by_candidate ON measurements (candidate, outcome);
