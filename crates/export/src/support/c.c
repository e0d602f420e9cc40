/* Memory for temporaries: aligned for vectors, and at least one byte. Null where there is none. */
static inline void *lift_memory(lift_wide bytes) {
  if (bytes < 0 || bytes > PTRDIFF_MAX - 64) return NULL;
  return aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64);
}
