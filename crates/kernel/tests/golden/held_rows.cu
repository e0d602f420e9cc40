struct __align__(16) f32x4 {
  float v[4];
  __device__ __forceinline__ float& operator[](int i) { return v[i]; }
  __device__ __forceinline__ float operator[](int i) const { return v[i]; }
};

static __device__ __forceinline__ f32x4 operator*(f32x4 a, f32x4 b) {
  f32x4 r;
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = a[i] * b[i];
  return r;
}

static __device__ __forceinline__ f32x4 lift_splat_f32x4(float a) {
  f32x4 r;
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = a;
  return r;
}

static __device__ __forceinline__ void lift_store_f32x4(float* p, f32x4 v) {
  #pragma unroll
  for (int i = 0; i < 4; ++i) p[i] = v[i];
}

static __device__ __forceinline__ f32x4 operator+(f32x4 a, f32x4 b) {
  f32x4 r;
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = a[i] + b[i];
  return r;
}

static __device__ __forceinline__ f32x4 lift_load_f32x4(const float* p) {
  f32x4 r;
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = p[i];
  return r;
}

extern "C" __global__ void __launch_bounds__(2) held_rows(const float* __restrict__ x, float* y, int N) {
  float rows[8];
  for (int g = blockIdx.x; g < N / 16; g += (int)gridDim.x) {
    #pragma unroll
    for (int turn_p = 0; turn_p < 2; ++turn_p) {
      const int p = threadIdx.x;
      f32x4 row = *reinterpret_cast<const f32x4*>(x + 16*g + 8*turn_p + 4*p);
      lift_store_f32x4(rows + 4*turn_p, row * lift_splat_f32x4(0.5f));
    }
    __syncthreads();
    #pragma unroll
    for (int turn_q = 0; turn_q < 2; ++turn_q) {
      const int q = threadIdx.x;
      lift_store_f32x4(y + 16*g + 8*turn_q + 4*q, lift_load_f32x4(rows + 4*turn_q) + *reinterpret_cast<f32x4*>(y + 16*g + 8*turn_q + 4*q));
    }
  }
}
