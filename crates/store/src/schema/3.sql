-- Candidates that differ in parameters only were derived in the same way: that text is kept once.

CREATE TABLE derivations (
  id    INTEGER PRIMARY KEY,
  hash  TEXT NOT NULL UNIQUE,  -- of the text, in hexadecimal: an index of the texts would be as large as they are
  text  TEXT NOT NULL          -- every rule with the program after it, or empty
);

INSERT INTO derivations (hash, text)
SELECT derivation_hash(derivation), derivation FROM candidates WHERE true ORDER BY id
ON CONFLICT (hash) DO NOTHING;

CREATE TABLE new_candidates (
  id           INTEGER PRIMARY KEY,
  problem      INTEGER NOT NULL REFERENCES problems (id),
  hash         TEXT NOT NULL,  -- of the low-level program, in hexadecimal
  text         TEXT NOT NULL,  -- the low-level program, complete
  derivation   INTEGER NOT NULL REFERENCES derivations (id),
  parameters   TEXT NOT NULL,  -- 'T=16,R=4'
  global       TEXT NOT NULL,  -- work-items by dimension
  local        TEXT NOT NULL,  -- work-items of a group by dimension
  kernel_hash  TEXT NOT NULL,
  UNIQUE (problem, hash)
);

INSERT INTO new_candidates
SELECT id, problem, hash, text,
       (SELECT id FROM derivations WHERE hash = derivation_hash(candidates.derivation)),
       parameters, global, local, kernel_hash
FROM candidates ORDER BY id;

DROP TABLE candidates;
ALTER TABLE new_candidates RENAME TO candidates;
CREATE INDEX candidates_by_kernel ON candidates (problem, kernel_hash);
