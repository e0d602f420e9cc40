kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void partial_dot(global const float* restrict x, global const float* restrict y, global float* restrict result, long N) {
  local float tmp[128] __attribute__((aligned(16)));
  // mapWrg(0)
  for (long wg0 = get_group_id(0); wg0 < N / 128; wg0 += (long)get_num_groups(0)) {
    // mapLcl(0)
    const long l0 = get_local_id(0);
    // reduceSeq
    float acc = 0.0f;
    for (long i = 0; i < 2; ++i) {
      float p = x[128*wg0 + 2*l0 + i];
      float p_2 = y[128*wg0 + 2*l0 + i];
      acc = acc + p * p_2;
    }
    tmp[l0] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    // iterate
    for (long i = 0; i < 6; ++i) {
      const long len = 64 / ((long)1 << i);
      // mapLcl(0)
      if (l0 < len / 2) {
        // reduceSeq
        float acc_2 = 0.0f;
        for (long i_2 = 0; i_2 < 2; ++i_2) {
          acc_2 = acc_2 + tmp[64*(i % 2) + 2*l0 + i_2];
        }
        tmp[64*((i + 1) % 2) + l0] = acc_2;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    // mapLcl(0)
    if (l0 == 0) {
      result[wg0] = tmp[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
