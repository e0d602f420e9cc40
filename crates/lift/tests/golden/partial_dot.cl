kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void partial_dot(global const float* restrict x, global const float* restrict y, global float* restrict result, long N) {
  local float tmp[128] __attribute__((aligned(16)));
  // mapWrg(0)
  for (long wg0 = get_group_id(0); wg0 < N / 128; wg0 += get_num_groups(0)) {
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
    const long len_2 = 64;
    // mapLcl(0)
    for (long l0_2_2 = get_local_id(0); l0_2_2 < len_2 / 2; l0_2_2 += get_local_size(0)) {
      // reduceSeq
      float acc_2_2 = 0.0f;
      for (long i_3_2 = 0; i_3_2 < 2; ++i_3_2) {
        acc_2_2 = acc_2_2 + tmp[2*l0_2_2 + i_3_2];
      }
      tmp[l0_2_2 + 64] = acc_2_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long len_3 = 32;
    for (long l0_2_3 = get_local_id(0); l0_2_3 < len_3 / 2; l0_2_3 += get_local_size(0)) {
      float acc_2_3 = 0.0f;
      for (long i_3_3 = 0; i_3_3 < 2; ++i_3_3) {
        acc_2_3 = acc_2_3 + tmp[2*l0_2_3 + i_3_3 + 64];
      }
      tmp[l0_2_3] = acc_2_3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long len_4 = 16;
    for (long l0_2_4 = get_local_id(0); l0_2_4 < len_4 / 2; l0_2_4 += get_local_size(0)) {
      float acc_2_4 = 0.0f;
      for (long i_3_4 = 0; i_3_4 < 2; ++i_3_4) {
        acc_2_4 = acc_2_4 + tmp[2*l0_2_4 + i_3_4];
      }
      tmp[l0_2_4 + 64] = acc_2_4;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long len_5 = 8;
    for (long l0_2_5 = get_local_id(0); l0_2_5 < len_5 / 2; l0_2_5 += get_local_size(0)) {
      float acc_2_5 = 0.0f;
      for (long i_3_5 = 0; i_3_5 < 2; ++i_3_5) {
        acc_2_5 = acc_2_5 + tmp[2*l0_2_5 + i_3_5 + 64];
      }
      tmp[l0_2_5] = acc_2_5;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long len_6 = 4;
    for (long l0_2_6 = get_local_id(0); l0_2_6 < len_6 / 2; l0_2_6 += get_local_size(0)) {
      float acc_2_6 = 0.0f;
      for (long i_3_6 = 0; i_3_6 < 2; ++i_3_6) {
        acc_2_6 = acc_2_6 + tmp[2*l0_2_6 + i_3_6];
      }
      tmp[l0_2_6 + 64] = acc_2_6;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long len_7 = 2;
    for (long l0_2_7 = get_local_id(0); l0_2_7 < len_7 / 2; l0_2_7 += get_local_size(0)) {
      float acc_2_7 = 0.0f;
      for (long i_3_7 = 0; i_3_7 < 2; ++i_3_7) {
        acc_2_7 = acc_2_7 + tmp[2*l0_2_7 + i_3_7 + 64];
      }
      tmp[l0_2_7] = acc_2_7;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLcl(0)
    if (l0 == 0) {
      result[wg0] = tmp[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
