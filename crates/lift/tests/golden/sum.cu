struct __align__(16) f32x4 {
  float v[4];
  __device__ __forceinline__ float& operator[](int i) { return v[i]; }
  __device__ __forceinline__ float operator[](int i) const { return v[i]; }
};

extern "C" __global__ void __launch_bounds__(256) sum(const float* __restrict__ xs, float* __restrict__ partial, long long N) {
  __shared__ __align__(16) float partial_2[8];
  // mapWrg(0)
  const long long wg0 = blockIdx.x;
  // mapLcl(0)
  const long long l0 = threadIdx.x;
  // reduceSeq
  float acc = 0.0f;
  for (long long i = 0; i < (N + 131071) / 131072; ++i) {
    acc = acc + (131072*i + 256*wg0 + l0 < N ? xs[131072*i + 256*wg0 + l0] : 0.0f);
  }
  float other = __shfl_xor_sync(0xffffffffu, acc, 16);
  acc = acc + other;
  float other_2 = __shfl_xor_sync(0xffffffffu, acc, 8);
  acc = acc + other_2;
  float other_3 = __shfl_xor_sync(0xffffffffu, acc, 4);
  acc = acc + other_3;
  float other_4 = __shfl_xor_sync(0xffffffffu, acc, 2);
  acc = acc + other_4;
  float other_5 = __shfl_xor_sync(0xffffffffu, acc, 1);
  acc = acc + other_5;
  if (l0 % 32 == 0) {
    partial_2[l0 / 32] = acc;
  }
  // reduce
  float acc_2 = 0.0f;
  __syncthreads();
  f32x4 partial4 = *reinterpret_cast<f32x4*>(partial_2);
  acc_2 = acc_2 + partial4[0];
  acc_2 = acc_2 + partial4[1];
  acc_2 = acc_2 + partial4[2];
  acc_2 = acc_2 + partial4[3];
  f32x4 partial4_2 = *reinterpret_cast<f32x4*>(partial_2 + 4);
  acc_2 = acc_2 + partial4_2[0];
  acc_2 = acc_2 + partial4_2[1];
  acc_2 = acc_2 + partial4_2[2];
  acc_2 = acc_2 + partial4_2[3];
  if (l0 == 0) {
    partial[wg0] = acc_2;
  }
}

extern "C" __global__ void __launch_bounds__(32) sum_2(float* __restrict__ result, const float* __restrict__ partial) {
  __shared__ __align__(16) float tmp[1];
  // mapWrg(0)
  // mapLcl(0)
  const int l0 = threadIdx.x;
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
  float other = __shfl_xor_sync(0xffffffffu, acc, 16);
  acc = acc + other;
  float other_2 = __shfl_xor_sync(0xffffffffu, acc, 8);
  acc = acc + other_2;
  float other_3 = __shfl_xor_sync(0xffffffffu, acc, 4);
  acc = acc + other_3;
  float other_4 = __shfl_xor_sync(0xffffffffu, acc, 2);
  acc = acc + other_4;
  float other_5 = __shfl_xor_sync(0xffffffffu, acc, 1);
  acc = acc + other_5;
  if (l0 % 32 == 0) {
    tmp[0] = acc;
  }
  // reduce
  float acc_2 = 0.0f;
  __syncthreads();
  acc_2 = acc_2 + tmp[0];
  if (l0 == 0) {
    result[0] = acc_2;
  }
}
