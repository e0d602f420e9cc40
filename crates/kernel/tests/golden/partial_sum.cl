kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void partial_sum(global const float* restrict x, global float* restrict sums, int N) {
  local float tile[64] __attribute__((aligned(64)));
  const int w = get_group_id(0);
  if (w < N / 128) {
    const int l = get_local_id(0);
    float acc = 0.0f;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      acc = acc + x[128*w + 2*l + k];
    }
    tile[l] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32) {
      tile[l] = tile[l] + tile[l + 32];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
      sums[w] = tile[0];
    }
  }
}
