/* Sizes are computed with 128 bits, so that nothing wraps on the way to a comparison. */
__extension__ typedef __int128 lift_wide;

static inline lift_wide lift_wide_log2(lift_wide x) {
  lift_wide k = 0;
  for (; x > 1; x >>= 1) ++k;
  return k;
}

static inline lift_wide lift_wide_pow(lift_wide x, lift_wide k) {
  lift_wide r = 1;
  for (; k > 0; --k) r *= x;
  return r;
}
