#include <stdint.h>

void partial_sum(const float* restrict x, float* restrict sums, int64_t N) {
  #pragma omp parallel for
  for (int64_t w = 0; w < N / 128; ++w) {
    float tile[64] __attribute__((aligned(64)));
    for (int64_t l = 0; l < 64; ++l) {
      float acc = 0.0f;
      #pragma GCC unroll 2
      for (int64_t k = 0; k < 2; ++k) {
        acc = acc + x[128*w + 2*l + k];
      }
      tile[l] = acc;
    }
    for (int64_t m = 0; m < 64; ++m) {
      if (m < 32) {
        tile[m] = tile[m] + tile[m + 32];
      }
    }
    sums[w] = tile[0];
  }
}
