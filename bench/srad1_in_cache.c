// What the arithmetic of programs/stencil/srad1.lift takes for 8192 x 8192 points on one core, with all data in the
// first-level cache, beside a copy of as many numbers in memory: no form of the program can be faster than the first.
//
//   cc -O3 -march=native bench/srad1_in_cache.c -o target/srad1_in_cache && target/srad1_in_cache

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROW = 1024, ROWS = 65536, RUNS = 7 };

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

__attribute__((noinline)) static void coefficients(const float* restrict above, const float* restrict row,
                                                   const float* restrict below, float* restrict result, float q0) {
  for (int i = 1; i <= ROW; ++i) {
    float c = row[i];
    float dn = above[i] - c, ds = below[i] - c, dw = row[i - 1] - c, de = row[i + 1] - c;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c);
    float l = (dn + ds + dw + de) / c;
    float d = 1.0f + 0.25f * l;
    float q = (0.5f * g2 - 0.0625f * l * l) / (d * d);
    float v = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    v = v < 0.0f ? 0.0f : v;
    result[i] = v > 1.0f ? 1.0f : v;
  }
}

__attribute__((noinline)) static void copy(const float* restrict from, float* restrict to, long count) {
  for (long i = 0; i < count; ++i) to[i] = from[i];
}

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double times[RUNS]) {
  qsort(times, RUNS, sizeof(double), by_size);
  return times[RUNS / 2];
}

int main(void) {
  static float rows[4][ROW + 2];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < ROW + 2; ++i) rows[k][i] = 1.0f + (float)rand() / (float)RAND_MAX;
  long count = (long)ROW * ROWS;
  float* from = malloc((size_t)count * sizeof(float));
  float* to = malloc((size_t)count * sizeof(float));
  if (!from || !to) return 1;
  for (long i = 0; i < count; ++i) from[i] = to[i] = 1.0f;
  double arithmetic[RUNS], copied[RUNS];
  for (int run = 0; run < RUNS; ++run) {
    double start = milliseconds();
    for (int k = 0; k < ROWS; ++k) coefficients(rows[0], rows[1], rows[2], rows[3], 0.05f);
    double between = milliseconds();
    copy(from, to, count);
    arithmetic[run] = between - start;
    copied[run] = milliseconds() - between;
  }
  printf("arithmetic %.1f ms, copy %.1f ms\n", median(arithmetic), median(copied));
  free(from);
  free(to);
  return 0;
}
