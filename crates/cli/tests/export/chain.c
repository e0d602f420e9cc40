/* Calls a program of several kernels with memory of its own, a scalar, tuples, a condition on its size and a check. */
#include <stdio.h>

#include "chain.h"

static int says(int code, const char *part) {
  const char *text = chain_error_text(code), *at = text;
  for (; *at; ++at) {
    size_t n = 0;
    while (part[n] && at[n] == part[n]) ++n;
    if (!part[n]) return 1;
  }
  fprintf(stderr, "%d: %s\n", code, text);
  return 0;
}

int main(void) {
  float xs[64], first[64];
  int32_t at[64], second[64], failed = 0;
  for (int i = 0; i < 64; ++i) xs[i] = (float)i, at[i] = 63 - i;
  /* The sum of 0 to N - 1, and what is added to it. */
  const size_t sizes[] = {64, 16, 4};
  for (int k = 0; k < 3; ++k) {
    const size_t N = sizes[k];
    for (size_t i = 0; i < N; ++i) at[i] = (int32_t)(N - 1 - i);
    failed |= chain(N, 2.0f, xs, at, first, second) != CHAIN_OK;
    for (size_t i = 0; i < N; ++i) {
      failed |= first[i] != 2.0f * (float)(N - 1 - i) + (float)(N * (N - 1) / 2);
      failed |= second[i] != (int32_t)i;
    }
  }
  /* The clause `N % 4 == 0`. */
  failed |= !says(chain(6, 2.0f, xs, at, first, second), "where N % 4 == 0");
  at[2] = 16;
  failed |= !says(chain(16, 2.0f, xs, at, first, second), "an index is outside an array of length");
  puts(failed ? "failed" : "passed");
  return failed;
}
