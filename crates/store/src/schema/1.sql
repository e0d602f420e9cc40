CREATE TABLE programs (
  id    INTEGER PRIMARY KEY,
  text  TEXT NOT NULL UNIQUE,  -- canonical text of the high-level definition
  name  TEXT NOT NULL          -- as first seen
);

CREATE TABLE devices (
  id           INTEGER PRIMARY KEY,
  fingerprint  TEXT NOT NULL UNIQUE,  -- what stays the same between sessions: kind, model, driver
  name         TEXT NOT NULL,
  kind         TEXT NOT NULL          -- cpu, opencl, cuda
);

CREATE TABLE problems (
  id       INTEGER PRIMARY KEY,
  program  INTEGER NOT NULL REFERENCES programs (id),
  sizes    TEXT NOT NULL,  -- 'K=1024,M=1024', sorted by name
  device   INTEGER NOT NULL REFERENCES devices (id),
  flags    TEXT NOT NULL,  -- 'fast-math', or empty
  UNIQUE (program, sizes, device, flags)
);

CREATE TABLE candidates (
  id           INTEGER PRIMARY KEY,
  problem      INTEGER NOT NULL REFERENCES problems (id),
  hash         TEXT NOT NULL,  -- of the low-level program, in hexadecimal
  text         TEXT NOT NULL,  -- the low-level program, complete
  derivation   TEXT NOT NULL,  -- how it was reached, or empty
  parameters   TEXT NOT NULL,  -- 'T=16,R=4'
  global       TEXT NOT NULL,  -- work-items by dimension
  local        TEXT NOT NULL,  -- work-items of a group by dimension
  kernel_hash  TEXT NOT NULL,
  UNIQUE (problem, hash)
);

CREATE TABLE measurements (
  id         INTEGER PRIMARY KEY,  -- a later measurement has a larger id
  candidate  INTEGER NOT NULL REFERENCES candidates (id),
  outcome    TEXT NOT NULL CHECK (outcome IN (
    'ok', 'wrong', 'crashed', 'timed-out', 'refused', 'failed-to-compile', 'out-of-resources',
    'skipped')),
  message    TEXT NOT NULL,        -- why it is not ok, or empty
  samples    TEXT NOT NULL,        -- every time taken, in milliseconds: a JSON array
  median     REAL,                 -- of the samples; NULL where there are none
  started    INTEGER NOT NULL,     -- Unix seconds
  seed       TEXT NOT NULL,        -- of the inputs; digits, as it may exceed SQLite's integers
  host       TEXT NOT NULL,
  CHECK (outcome <> 'ok' OR median IS NOT NULL)
);

CREATE INDEX measurements_by_candidate ON measurements (candidate, outcome);

CREATE TABLE runs (
  id        INTEGER PRIMARY KEY,
  problem   INTEGER NOT NULL REFERENCES problems (id),
  method    TEXT NOT NULL,     -- of search
  seed      TEXT NOT NULL,     -- of the search; digits, as it may exceed SQLite's integers
  budget    TEXT NOT NULL,
  version   TEXT NOT NULL,     -- of the tool
  started   INTEGER NOT NULL,  -- Unix seconds
  finished  INTEGER,           -- Unix seconds; NULL while it runs, and where it was killed
  counts    TEXT NOT NULL      -- how many by phase: a JSON object
);

CREATE INDEX runs_by_problem ON runs (problem);
