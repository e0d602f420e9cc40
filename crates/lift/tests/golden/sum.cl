kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum(global const float* restrict xs, global float* restrict partial, long N) {
  local float partial_2[16] __attribute__((aligned(16)));
  local float partial_3[256] __attribute__((aligned(16)));
  // mapWrg(0)
  const long wg0 = get_group_id(0);
  // mapLcl(0)
  const long l0 = get_local_id(0);
  // reduceSeq
  float acc = 0.0f;
  for (long i = 0; i < (N + 131071) / 131072; ++i) {
    acc = acc + (131072*i + 256*wg0 + l0 < N ? xs[131072*i + 256*wg0 + l0] : 0.0f);
  }
  partial_3[l0] = acc;
  barrier(CLK_LOCAL_MEM_FENCE);
  // mapLcl(0)
  if (l0 < 16) {
    // reduceSeqUnroll
    float acc_2 = 0.0f;
    acc_2 = acc_2 + partial_3[l0];
    acc_2 = acc_2 + partial_3[l0 + 16];
    acc_2 = acc_2 + partial_3[l0 + 32];
    acc_2 = acc_2 + partial_3[l0 + 48];
    acc_2 = acc_2 + partial_3[l0 + 64];
    acc_2 = acc_2 + partial_3[l0 + 80];
    acc_2 = acc_2 + partial_3[l0 + 96];
    acc_2 = acc_2 + partial_3[l0 + 112];
    acc_2 = acc_2 + partial_3[l0 + 128];
    acc_2 = acc_2 + partial_3[l0 + 144];
    acc_2 = acc_2 + partial_3[l0 + 160];
    acc_2 = acc_2 + partial_3[l0 + 176];
    acc_2 = acc_2 + partial_3[l0 + 192];
    acc_2 = acc_2 + partial_3[l0 + 208];
    acc_2 = acc_2 + partial_3[l0 + 224];
    acc_2 = acc_2 + partial_3[l0 + 240];
    partial_2[l0] = acc_2;
  }
  // reduceSeqUnroll
  float acc_2 = 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 partial4 = *(local float4*)partial_2;
  acc_2 = acc_2 + partial4.s0;
  acc_2 = acc_2 + partial4.s1;
  acc_2 = acc_2 + partial4.s2;
  acc_2 = acc_2 + partial4.s3;
  float4 partial4_2 = *(local float4*)(partial_2 + 4);
  acc_2 = acc_2 + partial4_2.s0;
  acc_2 = acc_2 + partial4_2.s1;
  acc_2 = acc_2 + partial4_2.s2;
  acc_2 = acc_2 + partial4_2.s3;
  float4 partial4_3 = *(local float4*)(partial_2 + 8);
  acc_2 = acc_2 + partial4_3.s0;
  acc_2 = acc_2 + partial4_3.s1;
  acc_2 = acc_2 + partial4_3.s2;
  acc_2 = acc_2 + partial4_3.s3;
  float4 partial4_4 = *(local float4*)(partial_2 + 12);
  acc_2 = acc_2 + partial4_4.s0;
  acc_2 = acc_2 + partial4_4.s1;
  acc_2 = acc_2 + partial4_4.s2;
  acc_2 = acc_2 + partial4_4.s3;
  if (l0 == 0) {
    partial[wg0] = acc_2;
  }
}

kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void sum_2(global float* restrict result, global const float* restrict partial) {
  local float tmp[8] __attribute__((aligned(16)));
  local float tmp_2[32] __attribute__((aligned(16)));
  // mapWrg(0)
  // mapLcl(0)
  const int l0 = get_local_id(0);
  // reduceSeqUnroll
  float acc = 0.0f;
  acc = acc + partial[l0];
  acc = acc + partial[l0 + 32];
  acc = acc + partial[l0 + 64];
  acc = acc + partial[l0 + 96];
  acc = acc + partial[l0 + 128];
  acc = acc + partial[l0 + 160];
  acc = acc + partial[l0 + 192];
  acc = acc + partial[l0 + 224];
  acc = acc + partial[l0 + 256];
  acc = acc + partial[l0 + 288];
  acc = acc + partial[l0 + 320];
  acc = acc + partial[l0 + 352];
  acc = acc + partial[l0 + 384];
  acc = acc + partial[l0 + 416];
  acc = acc + partial[l0 + 448];
  acc = acc + partial[l0 + 480];
  tmp_2[l0] = acc;
  barrier(CLK_LOCAL_MEM_FENCE);
  // mapLcl(0)
  if (l0 < 8) {
    // reduceSeqUnroll
    float acc_2 = 0.0f;
    acc_2 = acc_2 + tmp_2[l0];
    acc_2 = acc_2 + tmp_2[l0 + 8];
    acc_2 = acc_2 + tmp_2[l0 + 16];
    acc_2 = acc_2 + tmp_2[l0 + 24];
    tmp[l0] = acc_2;
  }
  // reduceSeqUnroll
  float acc_2 = 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 tmp4 = *(local float4*)tmp;
  acc_2 = acc_2 + tmp4.s0;
  acc_2 = acc_2 + tmp4.s1;
  acc_2 = acc_2 + tmp4.s2;
  acc_2 = acc_2 + tmp4.s3;
  float4 tmp4_2 = *(local float4*)(tmp + 4);
  acc_2 = acc_2 + tmp4_2.s0;
  acc_2 = acc_2 + tmp4_2.s1;
  acc_2 = acc_2 + tmp4_2.s2;
  acc_2 = acc_2 + tmp4_2.s3;
  if (l0 == 0) {
    result[0] = acc_2;
  }
}
