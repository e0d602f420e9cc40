// The copy that memory-bound programs are compared with: a plain loop with ordinary stores, and
// memcpy, each shared by all threads. For every line `loop` or `memcpy` on standard input it makes
// one copy and prints the milliseconds it took.
//
//   cc -O3 -march=native -fopenmp -fno-tree-loop-distribute-patterns copy.c -o copy
//   ./copy ELEMENTS
//
// Without that flag the compiler turns the loop into a call of memcpy, which does not store in the
// ordinary way.

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_loop(const float* restrict from, float* restrict to, int64_t n) {
  #pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

static void copy_memcpy(const float* from, float* to, int64_t n) {
  #pragma omp parallel
  {
    int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    int64_t start = n * me / threads, end = n * (me + 1) / threads;
    memcpy(to + start, from + start, (size_t)(end - start) * sizeof(float));
  }
}

static float* buffer(int64_t n, float value) {
  float* block = calloc((size_t)n + 16, sizeof(float));
  if (!block) {
    fprintf(stderr, "copy: no memory for %lld floats\n", (long long)n);
    exit(1);
  }
  float* start = (float*)(((uintptr_t)block + 63) / 64 * 64);
  #pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) start[i] = value;
  return start;
}

int main(int argc, char** argv) {
  int64_t n = argc > 1 ? atoll(argv[1]) : 0;
  if (n < 1) {
    fprintf(stderr, "usage: copy ELEMENTS\n");
    return 2;
  }
  float* from = buffer(n, 1.5f);
  float* to = buffer(n, 0.0f);
  printf("%d\n", omp_get_max_threads());
  fflush(stdout);
  float last = 0.0f;
  char word[16];
  while (scanf("%15s", word) == 1) {
    void (*copy)(const float*, float*, int64_t) =
        strcmp(word, "memcpy") ? copy_loop : copy_memcpy;
    double start = omp_get_wtime();
    copy(from, to, n);
    printf("%.6f\n", (omp_get_wtime() - start) * 1e3);
    fflush(stdout);
    last = 1.5f;
  }
  return to[n / 2] == last ? 0 : 1;
}
