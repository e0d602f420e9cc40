kernel __attribute__((reqd_work_group_size(2, 1, 1)))
void held_rows(global const float* restrict x, global float* y, int N) {
  float rows[8];
  for (int g = get_group_id(0); g < N / 16; g += (int)get_num_groups(0)) {
    #pragma unroll
    for (int turn_p = 0; turn_p < 2; ++turn_p) {
      const int p = get_local_id(0);
      float4 row = *(global const float4*)(x + 16*g + 8*turn_p + 4*p);
      vstore4(row * 0.5f, 0, rows + 4*turn_p);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    #pragma unroll
    for (int turn_q = 0; turn_q < 2; ++turn_q) {
      const int q = get_local_id(0);
      vstore4(vload4(0, rows + 4*turn_q) + *(global float4*)(y + 16*g + 8*turn_q + 4*q), 0, y + 16*g + 8*turn_q + 4*q);
    }
  }
}
