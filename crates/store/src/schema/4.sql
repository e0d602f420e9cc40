-- Rows are sealed, so that one that was altered is noticed. What is there already is sealed as it is; what refers to
-- rows that are not there has no seal.

ALTER TABLE candidates ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE measurements ADD COLUMN seal TEXT NOT NULL DEFAULT '';

UPDATE candidates SET seal = coalesce((
  SELECT seal_of(
    programs.text, problems.sizes, devices.fingerprint, problems.flags, derivations.hash,
    candidates.hash, candidates.text, candidates.parameters, candidates.global, candidates.local,
    candidates.kernel_hash)
  FROM problems
  JOIN programs ON programs.id = problems.program
  JOIN devices ON devices.id = problems.device
  JOIN derivations ON derivations.id = candidates.derivation
  WHERE problems.id = candidates.problem), '');

UPDATE measurements SET seal = coalesce((
  SELECT seal_of(
    candidates.seal, measurements.outcome, measurements.message, measurements.samples,
    measurements.median, measurements.started, measurements.seed, measurements.host)
  FROM candidates WHERE candidates.id = measurements.candidate), '');
