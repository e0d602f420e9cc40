#include <stdint.h>

void jacobi2d_5(const float* restrict grid, float* restrict result, int64_t M, int64_t N) {
  // mapGlb(1)
  #pragma omp parallel for
  for (int64_t g1 = 0; g1 < N; ++g1) {
    // mapGlb(0)
    if (1 <= g1 && g1 < N - 1) {
      result[g1*M] = 0.2f * (grid[g1*M] + grid[g1*M - M] + grid[g1*M + M] + grid[g1*M] + grid[g1*M + (M - 1 < 1 ? M - 1 : 1)]);
      for (int64_t g0 = 0; g0 < M - 2; ++g0) {
        result[g1*M + g0 + 1] = 0.2f * (grid[g1*M + g0 + 1] + grid[g1*M - M + g0 + 1] + grid[g1*M + M + g0 + 1] + grid[g1*M + g0] + grid[g1*M + g0 + 2]);
      }
      for (int64_t g0 = 0; g0 < (M - (M - 1 > 1 ? M - 1 : 1)); ++g0) {
        result[g1*M + M + g0 - 1] = 0.2f * (grid[g1*M + M + g0 - 1] + grid[g1*M + g0 - 1] + grid[g1*M + 2*M + g0 - 1] + grid[g1*M + M + g0 - 2] + grid[g1*M + M - 1]);
      }
    } else {
      for (int64_t g0 = 0; g0 < M; ++g0) {
        result[g1*M + g0] = 0.2f * (grid[g1*M + g0] + grid[M*(g1 - 1 > 0 ? g1 - 1 : 0) + g0] + grid[M*(g1 + 1 < N - 1 ? g1 + 1 : N - 1) + g0] + grid[g1*M + (g0 - 1 > 0 ? g0 - 1 : 0)] + grid[g1*M + (g0 + 1 < M - 1 ? g0 + 1 : M - 1)]);
      }
    }
  }
}
