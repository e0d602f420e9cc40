kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void mm_local(global const float* restrict At, global const float* restrict B, global float* restrict result) {
  local float a[2048] __attribute__((aligned(16)));
  local float b[2048] __attribute__((aligned(16)));
  // mapWrg(1)
  const int wg1 = get_group_id(1);
  // mapWrg(0)
  const int wg0 = get_group_id(0);
  // reduceSeq
  // mapLcl(1)
  const int l1 = get_local_id(1);
  // mapLcl(0)
  const int l0 = get_local_id(0);
  float acc_0 = 0.0f;
  float acc_1 = 0.0f;
  float acc_2 = 0.0f;
  float acc_3 = 0.0f;
  float acc_4 = 0.0f;
  float acc_5 = 0.0f;
  float acc_6 = 0.0f;
  float acc_7 = 0.0f;
  float acc_8 = 0.0f;
  float acc_9 = 0.0f;
  float acc_10 = 0.0f;
  float acc_11 = 0.0f;
  float acc_12 = 0.0f;
  float acc_13 = 0.0f;
  float acc_14 = 0.0f;
  float acc_15 = 0.0f;
  float acc_16 = 0.0f;
  float acc_17 = 0.0f;
  float acc_18 = 0.0f;
  float acc_19 = 0.0f;
  float acc_20 = 0.0f;
  float acc_21 = 0.0f;
  float acc_22 = 0.0f;
  float acc_23 = 0.0f;
  float acc_24 = 0.0f;
  float acc_25 = 0.0f;
  float acc_26 = 0.0f;
  float acc_27 = 0.0f;
  float acc_28 = 0.0f;
  float acc_29 = 0.0f;
  float acc_30 = 0.0f;
  float acc_31 = 0.0f;
  float acc_32 = 0.0f;
  float acc_33 = 0.0f;
  float acc_34 = 0.0f;
  float acc_35 = 0.0f;
  float acc_36 = 0.0f;
  float acc_37 = 0.0f;
  float acc_38 = 0.0f;
  float acc_39 = 0.0f;
  float acc_40 = 0.0f;
  float acc_41 = 0.0f;
  float acc_42 = 0.0f;
  float acc_43 = 0.0f;
  float acc_44 = 0.0f;
  float acc_45 = 0.0f;
  float acc_46 = 0.0f;
  float acc_47 = 0.0f;
  float acc_48 = 0.0f;
  float acc_49 = 0.0f;
  float acc_50 = 0.0f;
  float acc_51 = 0.0f;
  float acc_52 = 0.0f;
  float acc_53 = 0.0f;
  float acc_54 = 0.0f;
  float acc_55 = 0.0f;
  float acc_56 = 0.0f;
  float acc_57 = 0.0f;
  float acc_58 = 0.0f;
  float acc_59 = 0.0f;
  float acc_60 = 0.0f;
  float acc_61 = 0.0f;
  float acc_62 = 0.0f;
  float acc_63 = 0.0f;
  *(local float4*)(a + 64*l1 + 4*l0) = *(global const float4*)(At + 512*l1 - 448*(l1 % 2) + 128*wg1 + 4*l0);
  *(local float4*)(b + 64*l1 + 4*l0) = *(global const float4*)(B + 512*l1 - 448*(l1 % 2) + 128*wg0 + 4*l0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 128; ++i) {
    float4 next;
    float4 next_2;
    if (i + 1 < 128) {
      next = *(global const float4*)(At + 8192*i - 448*(l1 % 2) + 512*l1 + 128*wg1 + 4*l0 + 8192);
      next_2 = *(global const float4*)(B + 8192*i - 448*(l1 % 2) + 512*l1 + 128*wg0 + 4*l0 + 8192);
    }
    // mapLcl(1)
    // mapLcl(0)
    // reduceSeq
    for (int i_2 = 0; i_2 < 8; ++i_2) {
      // mapSeqUnroll
      float4 a4 = *(local float4*)(a + 1024*(i % 2) + 128*i_2 + 4*l1);
      float4 a4_2 = *(local float4*)(a + 1024*(i % 2) + 128*i_2 + 4*l1 + 64);
      // mapSeqUnroll
      float4 b4 = *(local float4*)(b + 1024*(i % 2) + 128*i_2 + 4*l0);
      float4 b4_2 = *(local float4*)(b + 1024*(i % 2) + 128*i_2 + 4*l0 + 64);
      // mapSeqUnroll
      // mapSeqUnroll
      acc_0 = acc_0 + a4.s0 * b4.s0;
      acc_1 = acc_1 + a4.s0 * b4.s1;
      acc_2 = acc_2 + a4.s0 * b4.s2;
      acc_3 = acc_3 + a4.s0 * b4.s3;
      acc_4 = acc_4 + a4.s0 * b4_2.s0;
      acc_5 = acc_5 + a4.s0 * b4_2.s1;
      acc_6 = acc_6 + a4.s0 * b4_2.s2;
      acc_7 = acc_7 + a4.s0 * b4_2.s3;
      acc_8 = acc_8 + a4.s1 * b4.s0;
      acc_9 = acc_9 + a4.s1 * b4.s1;
      acc_10 = acc_10 + a4.s1 * b4.s2;
      acc_11 = acc_11 + a4.s1 * b4.s3;
      acc_12 = acc_12 + a4.s1 * b4_2.s0;
      acc_13 = acc_13 + a4.s1 * b4_2.s1;
      acc_14 = acc_14 + a4.s1 * b4_2.s2;
      acc_15 = acc_15 + a4.s1 * b4_2.s3;
      acc_16 = acc_16 + a4.s2 * b4.s0;
      acc_17 = acc_17 + a4.s2 * b4.s1;
      acc_18 = acc_18 + a4.s2 * b4.s2;
      acc_19 = acc_19 + a4.s2 * b4.s3;
      acc_20 = acc_20 + a4.s2 * b4_2.s0;
      acc_21 = acc_21 + a4.s2 * b4_2.s1;
      acc_22 = acc_22 + a4.s2 * b4_2.s2;
      acc_23 = acc_23 + a4.s2 * b4_2.s3;
      acc_24 = acc_24 + a4.s3 * b4.s0;
      acc_25 = acc_25 + a4.s3 * b4.s1;
      acc_26 = acc_26 + a4.s3 * b4.s2;
      acc_27 = acc_27 + a4.s3 * b4.s3;
      acc_28 = acc_28 + a4.s3 * b4_2.s0;
      acc_29 = acc_29 + a4.s3 * b4_2.s1;
      acc_30 = acc_30 + a4.s3 * b4_2.s2;
      acc_31 = acc_31 + a4.s3 * b4_2.s3;
      acc_32 = acc_32 + a4_2.s0 * b4.s0;
      acc_33 = acc_33 + a4_2.s0 * b4.s1;
      acc_34 = acc_34 + a4_2.s0 * b4.s2;
      acc_35 = acc_35 + a4_2.s0 * b4.s3;
      acc_36 = acc_36 + a4_2.s0 * b4_2.s0;
      acc_37 = acc_37 + a4_2.s0 * b4_2.s1;
      acc_38 = acc_38 + a4_2.s0 * b4_2.s2;
      acc_39 = acc_39 + a4_2.s0 * b4_2.s3;
      acc_40 = acc_40 + a4_2.s1 * b4.s0;
      acc_41 = acc_41 + a4_2.s1 * b4.s1;
      acc_42 = acc_42 + a4_2.s1 * b4.s2;
      acc_43 = acc_43 + a4_2.s1 * b4.s3;
      acc_44 = acc_44 + a4_2.s1 * b4_2.s0;
      acc_45 = acc_45 + a4_2.s1 * b4_2.s1;
      acc_46 = acc_46 + a4_2.s1 * b4_2.s2;
      acc_47 = acc_47 + a4_2.s1 * b4_2.s3;
      acc_48 = acc_48 + a4_2.s2 * b4.s0;
      acc_49 = acc_49 + a4_2.s2 * b4.s1;
      acc_50 = acc_50 + a4_2.s2 * b4.s2;
      acc_51 = acc_51 + a4_2.s2 * b4.s3;
      acc_52 = acc_52 + a4_2.s2 * b4_2.s0;
      acc_53 = acc_53 + a4_2.s2 * b4_2.s1;
      acc_54 = acc_54 + a4_2.s2 * b4_2.s2;
      acc_55 = acc_55 + a4_2.s2 * b4_2.s3;
      acc_56 = acc_56 + a4_2.s3 * b4.s0;
      acc_57 = acc_57 + a4_2.s3 * b4.s1;
      acc_58 = acc_58 + a4_2.s3 * b4.s2;
      acc_59 = acc_59 + a4_2.s3 * b4.s3;
      acc_60 = acc_60 + a4_2.s3 * b4_2.s0;
      acc_61 = acc_61 + a4_2.s3 * b4_2.s1;
      acc_62 = acc_62 + a4_2.s3 * b4_2.s2;
      acc_63 = acc_63 + a4_2.s3 * b4_2.s3;
    }
    if (i + 1 < 128) {
      *(local float4*)(a + 1024*((i + 1) % 2) + 64*l1 + 4*l0) = next;
      *(local float4*)(b + 1024*((i + 1) % 2) + 64*l1 + 4*l0) = next_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // mapLcl(1)
  // mapLcl(0)
  // mapSeqUnroll
  // mapSeqUnroll
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0) = (float4)(acc_0, acc_1, acc_2, acc_3);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 64) = (float4)(acc_4, acc_5, acc_6, acc_7);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 1024) = (float4)(acc_8, acc_9, acc_10, acc_11);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 1088) = (float4)(acc_12, acc_13, acc_14, acc_15);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 2048) = (float4)(acc_16, acc_17, acc_18, acc_19);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 2112) = (float4)(acc_20, acc_21, acc_22, acc_23);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 3072) = (float4)(acc_24, acc_25, acc_26, acc_27);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 3136) = (float4)(acc_28, acc_29, acc_30, acc_31);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 65536) = (float4)(acc_32, acc_33, acc_34, acc_35);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 65600) = (float4)(acc_36, acc_37, acc_38, acc_39);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 66560) = (float4)(acc_40, acc_41, acc_42, acc_43);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 66624) = (float4)(acc_44, acc_45, acc_46, acc_47);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 67584) = (float4)(acc_48, acc_49, acc_50, acc_51);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 67648) = (float4)(acc_52, acc_53, acc_54, acc_55);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 68608) = (float4)(acc_56, acc_57, acc_58, acc_59);
  *(global float4*)(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 68672) = (float4)(acc_60, acc_61, acc_62, acc_63);
}
