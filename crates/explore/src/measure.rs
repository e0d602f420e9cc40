//! Measuring candidates in worker processes.
