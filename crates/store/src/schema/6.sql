-- How long it took to come to a measurement, in milliseconds; NULL where nobody looked at the clock.

ALTER TABLE measurements ADD COLUMN choose_ms REAL;   -- the search: to choose the candidate and make its kernels
ALTER TABLE measurements ADD COLUMN compile_ms REAL;  -- the worker: until it could run
ALTER TABLE measurements ADD COLUMN run_ms REAL;      -- the worker: with the device, in its turn
ALTER TABLE measurements ADD COLUMN compare_ms REAL;  -- the worker: until its verdict
