#include <stdint.h>

void saxpy_1024(const float* restrict x, float* restrict y, float alpha, int64_t N) {
  // alpha * x + y
  for (int64_t i = 0; i < 1024; ++i) {
    y[i] = alpha * x[i] + y[i];
  }
}
