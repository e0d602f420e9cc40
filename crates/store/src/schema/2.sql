CREATE TABLE features (
  id         INTEGER PRIMARY KEY,
  candidate  INTEGER NOT NULL REFERENCES candidates (id),
  version    INTEGER NOT NULL,  -- changes whenever the numbers mean something else
  numbers    TEXT NOT NULL,     -- what the candidate does, by name: a JSON object
  UNIQUE (candidate, version)
);

CREATE INDEX candidates_by_kernel ON candidates (problem, kernel_hash);
