extern "C" __global__ void __launch_bounds__(256) mm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ result, long long K, long long M, long long N) {
  // mapGlb(1)
  for (long long g1 = (long long)blockIdx.y * blockDim.y + threadIdx.y; g1 < M; g1 += (long long)gridDim.y * blockDim.y) {
    // mapGlb(0)
    const long long g0 = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (g0 < N) {
      // reduceSeq
      float acc = 0.0f;
      for (long long i = 0; i < K; ++i) {
        float x = A[g1*K + i];
        float x_2 = B[i*N + g0];
        acc = acc + x * x_2;
      }
      result[g1*N + g0] = acc;
    }
  }
}
