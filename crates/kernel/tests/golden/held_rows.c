#include <stdint.h>

typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_memory __attribute__((vector_size(16), aligned(4), may_alias));

void held_rows(const float* restrict x, float* restrict y, int64_t N) {
  #pragma omp parallel for
  for (int64_t g = 0; g < N / 16; ++g) {
    float rows[16];
    for (int64_t p = 0; p < 4; ++p) {
      f32x4 row = (f32x4)*(const f32x4_memory*)(x + 16*g + 4*p);
      *(f32x4_memory*)(rows + 4*p) = row * 0.5f;
    }
    for (int64_t q = 0; q < 4; ++q) {
      *(f32x4_memory*)(y + 16*g + 4*q) = (f32x4)*(const f32x4_memory*)(rows + 4*q) + (f32x4)*(const f32x4_memory*)(y + 16*g + 4*q);
    }
  }
}
