extern "C" __global__ void __launch_bounds__(64) partial_sum(const float* __restrict__ x, float* __restrict__ sums, int N) {
  __shared__ __align__(64) float tile[64];
  const int w = blockIdx.x;
  if (w < N / 128) {
    const int l = threadIdx.x;
    float acc = 0.0f;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      acc = acc + x[128*w + 2*l + k];
    }
    tile[l] = acc;
    __syncthreads();
    if (l < 32) {
      tile[l] = tile[l] + tile[l + 32];
    }
    __syncthreads();
    if (l == 0) {
      sums[w] = tile[0];
    }
  }
}
