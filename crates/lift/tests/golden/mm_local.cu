struct __align__(16) f32x4 {
  float v[4];
  __device__ __forceinline__ float& operator[](int i) { return v[i]; }
  __device__ __forceinline__ float operator[](int i) const { return v[i]; }
};

extern "C" __global__ void __launch_bounds__(256) mm_local(const float* __restrict__ At, const float* __restrict__ B, float* __restrict__ result) {
  __shared__ __align__(16) float a[2048];
  __shared__ __align__(16) float b[2048];
  // mapWrg(1)
  const int wg1 = blockIdx.y;
  // mapWrg(0)
  const int wg0 = blockIdx.x;
  // reduceSeq
  // mapLcl(1)
  const int l1 = threadIdx.y;
  // mapLcl(0)
  const int l0 = threadIdx.x;
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
  *reinterpret_cast<f32x4*>(a + 64*l1 + 4*l0) = *reinterpret_cast<const f32x4*>(At + 512*l1 - 448*(l1 % 2) + 128*wg1 + 4*l0);
  *reinterpret_cast<f32x4*>(b + 64*l1 + 4*l0) = *reinterpret_cast<const f32x4*>(B + 512*l1 - 448*(l1 % 2) + 128*wg0 + 4*l0);
  __syncthreads();
  for (int i = 0; i < 128; ++i) {
    f32x4 next;
    f32x4 next_2;
    if (i + 1 < 128) {
      next = *reinterpret_cast<const f32x4*>(At + 8192*i - 448*(l1 % 2) + 512*l1 + 128*wg1 + 4*l0 + 8192);
      next_2 = *reinterpret_cast<const f32x4*>(B + 8192*i - 448*(l1 % 2) + 512*l1 + 128*wg0 + 4*l0 + 8192);
    }
    // mapLcl(1)
    // mapLcl(0)
    // reduceSeq
    for (int i_2 = 0; i_2 < 8; ++i_2) {
      // mapSeqUnroll
      f32x4 a4 = *reinterpret_cast<f32x4*>(a + 1024*(i % 2) + 128*i_2 + 4*l1);
      f32x4 a4_2 = *reinterpret_cast<f32x4*>(a + 1024*(i % 2) + 128*i_2 + 4*l1 + 64);
      // mapSeqUnroll
      f32x4 b4 = *reinterpret_cast<f32x4*>(b + 1024*(i % 2) + 128*i_2 + 4*l0);
      f32x4 b4_2 = *reinterpret_cast<f32x4*>(b + 1024*(i % 2) + 128*i_2 + 4*l0 + 64);
      // mapSeqUnroll
      // mapSeqUnroll
      acc_0 = acc_0 + a4[0] * b4[0];
      acc_1 = acc_1 + a4[0] * b4[1];
      acc_2 = acc_2 + a4[0] * b4[2];
      acc_3 = acc_3 + a4[0] * b4[3];
      acc_4 = acc_4 + a4[0] * b4_2[0];
      acc_5 = acc_5 + a4[0] * b4_2[1];
      acc_6 = acc_6 + a4[0] * b4_2[2];
      acc_7 = acc_7 + a4[0] * b4_2[3];
      acc_8 = acc_8 + a4[1] * b4[0];
      acc_9 = acc_9 + a4[1] * b4[1];
      acc_10 = acc_10 + a4[1] * b4[2];
      acc_11 = acc_11 + a4[1] * b4[3];
      acc_12 = acc_12 + a4[1] * b4_2[0];
      acc_13 = acc_13 + a4[1] * b4_2[1];
      acc_14 = acc_14 + a4[1] * b4_2[2];
      acc_15 = acc_15 + a4[1] * b4_2[3];
      acc_16 = acc_16 + a4[2] * b4[0];
      acc_17 = acc_17 + a4[2] * b4[1];
      acc_18 = acc_18 + a4[2] * b4[2];
      acc_19 = acc_19 + a4[2] * b4[3];
      acc_20 = acc_20 + a4[2] * b4_2[0];
      acc_21 = acc_21 + a4[2] * b4_2[1];
      acc_22 = acc_22 + a4[2] * b4_2[2];
      acc_23 = acc_23 + a4[2] * b4_2[3];
      acc_24 = acc_24 + a4[3] * b4[0];
      acc_25 = acc_25 + a4[3] * b4[1];
      acc_26 = acc_26 + a4[3] * b4[2];
      acc_27 = acc_27 + a4[3] * b4[3];
      acc_28 = acc_28 + a4[3] * b4_2[0];
      acc_29 = acc_29 + a4[3] * b4_2[1];
      acc_30 = acc_30 + a4[3] * b4_2[2];
      acc_31 = acc_31 + a4[3] * b4_2[3];
      acc_32 = acc_32 + a4_2[0] * b4[0];
      acc_33 = acc_33 + a4_2[0] * b4[1];
      acc_34 = acc_34 + a4_2[0] * b4[2];
      acc_35 = acc_35 + a4_2[0] * b4[3];
      acc_36 = acc_36 + a4_2[0] * b4_2[0];
      acc_37 = acc_37 + a4_2[0] * b4_2[1];
      acc_38 = acc_38 + a4_2[0] * b4_2[2];
      acc_39 = acc_39 + a4_2[0] * b4_2[3];
      acc_40 = acc_40 + a4_2[1] * b4[0];
      acc_41 = acc_41 + a4_2[1] * b4[1];
      acc_42 = acc_42 + a4_2[1] * b4[2];
      acc_43 = acc_43 + a4_2[1] * b4[3];
      acc_44 = acc_44 + a4_2[1] * b4_2[0];
      acc_45 = acc_45 + a4_2[1] * b4_2[1];
      acc_46 = acc_46 + a4_2[1] * b4_2[2];
      acc_47 = acc_47 + a4_2[1] * b4_2[3];
      acc_48 = acc_48 + a4_2[2] * b4[0];
      acc_49 = acc_49 + a4_2[2] * b4[1];
      acc_50 = acc_50 + a4_2[2] * b4[2];
      acc_51 = acc_51 + a4_2[2] * b4[3];
      acc_52 = acc_52 + a4_2[2] * b4_2[0];
      acc_53 = acc_53 + a4_2[2] * b4_2[1];
      acc_54 = acc_54 + a4_2[2] * b4_2[2];
      acc_55 = acc_55 + a4_2[2] * b4_2[3];
      acc_56 = acc_56 + a4_2[3] * b4[0];
      acc_57 = acc_57 + a4_2[3] * b4[1];
      acc_58 = acc_58 + a4_2[3] * b4[2];
      acc_59 = acc_59 + a4_2[3] * b4[3];
      acc_60 = acc_60 + a4_2[3] * b4_2[0];
      acc_61 = acc_61 + a4_2[3] * b4_2[1];
      acc_62 = acc_62 + a4_2[3] * b4_2[2];
      acc_63 = acc_63 + a4_2[3] * b4_2[3];
    }
    if (i + 1 < 128) {
      *reinterpret_cast<f32x4*>(a + 1024*((i + 1) % 2) + 64*l1 + 4*l0) = next;
      *reinterpret_cast<f32x4*>(b + 1024*((i + 1) % 2) + 64*l1 + 4*l0) = next_2;
    }
    __syncthreads();
  }
  // mapLcl(1)
  // mapLcl(0)
  // mapSeqUnroll
  // mapSeqUnroll
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0) = f32x4{{acc_0, acc_1, acc_2, acc_3}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 64) = f32x4{{acc_4, acc_5, acc_6, acc_7}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 1024) = f32x4{{acc_8, acc_9, acc_10, acc_11}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 1088) = f32x4{{acc_12, acc_13, acc_14, acc_15}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 2048) = f32x4{{acc_16, acc_17, acc_18, acc_19}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 2112) = f32x4{{acc_20, acc_21, acc_22, acc_23}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 3072) = f32x4{{acc_24, acc_25, acc_26, acc_27}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 3136) = f32x4{{acc_28, acc_29, acc_30, acc_31}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 65536) = f32x4{{acc_32, acc_33, acc_34, acc_35}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 65600) = f32x4{{acc_36, acc_37, acc_38, acc_39}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 66560) = f32x4{{acc_40, acc_41, acc_42, acc_43}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 66624) = f32x4{{acc_44, acc_45, acc_46, acc_47}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 67584) = f32x4{{acc_48, acc_49, acc_50, acc_51}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 67648) = f32x4{{acc_52, acc_53, acc_54, acc_55}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 68608) = f32x4{{acc_56, acc_57, acc_58, acc_59}};
  *reinterpret_cast<f32x4*>(result + 131072*wg1 + 4096*l1 + 128*wg0 + 4*l0 + 68672) = f32x4{{acc_60, acc_61, acc_62, acc_63}};
}
