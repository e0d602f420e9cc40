/* Calls an exported `mm` at a size that is listed and at others, from eight threads at once. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mm.h"

static int product(size_t M, size_t K, size_t N) {
  float *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b), *c = malloc(M * N * sizeof *c);
  for (size_t i = 0; i < M * K; ++i) a[i] = (float)(i % 7) - 3.0f;
  for (size_t i = 0; i < K * N; ++i) b[i] = (float)(i % 5) - 2.0f;
  memset(c, 0xff, M * N * sizeof *c);
  int code = mm(M, K, N, a, b, c);
  int wrong = 0;
  for (size_t i = 0; i < M; ++i)
    for (size_t j = 0; j < N; ++j) {
      float sum = 0.0f;
      for (size_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      /* Sums of small whole numbers are exact; a nan is wrong too. */
      wrong += !(c[i * N + j] == sum);
    }
  free(a);
  free(b);
  free(c);
  if (code) fprintf(stderr, "%zu %zu %zu: %s\n", M, K, N, mm_error_text(code));
  if (wrong) fprintf(stderr, "%zu %zu %zu: %d wrong\n", M, K, N, wrong);
  return code || wrong;
}

static void *many(void *failed) {
  for (int round = 0; round < 5; ++round) {
    *(int *)failed |= product(32, 24, 40);
    *(int *)failed |= product(5, 7, 3);
    *(int *)failed |= product(33, 65, 17);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  int failed[8] = {0}, any = 0;
  for (int t = 0; t < 8; ++t) pthread_create(&threads[t], NULL, many, &failed[t]);
  for (int t = 0; t < 8; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 8; ++t) any |= failed[t];
  float x = 0.0f;
  if (mm(1, 1, 1, NULL, &x, &x) != MM_ERROR_NULL) any = 1;
  if (mm(0, 1, 1, &x, &x, &x) != MM_ERROR_SIZE) any = 1;
  if (mm((size_t)1 << 60, 1, 1, &x, &x, &x) != MM_ERROR_SIZE) any = 1;
  if (strcmp(mm_error_text(MM_ERROR_SIZE), "a size is zero or too large")) any = 1;
  if (strcmp(mm_error_text(-1), "there is no such error")) any = 1;
  puts(any ? "failed" : "passed");
  return any;
}
