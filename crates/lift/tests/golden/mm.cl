kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void mm(global const float* restrict A, global const float* restrict B, global float* restrict result, long K, long M, long N) {
  // mapGlb(1)
  for (long g1 = get_global_id(1); g1 < M; g1 += get_global_size(1)) {
    // mapGlb(0)
    const long g0 = get_global_id(0);
    if (g0 < N) {
      // reduceSeq
      float acc = 0.0f;
      for (long i = 0; i < K; ++i) {
        float x = A[g1*K + i];
        float x_2 = B[i*N + g0];
        acc = acc + x * x_2;
      }
      result[g1*N + g0] = acc;
    }
  }
}
