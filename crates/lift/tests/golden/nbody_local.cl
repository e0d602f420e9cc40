kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void nbody_local(global const float* restrict pos, global const float* restrict vel, global float* restrict result_0, global float* restrict result_1, float dt, float eps2, long N) {
  local float tmp[1024] __attribute__((aligned(16)));
  local float near[2048] __attribute__((aligned(16)));
  // mapWrg(0)
  const long wg0 = get_group_id(0);
  // reduceSeq
  // mapLcl(0)
  const long l0 = get_local_id(0);
  float4 acc = (float4)(0.0f);
  float4 x = *(global const float4*)(pos + 4*(l0 % 64) + 256*wg0);
  *(local float4*)(near + 4*l0) = *(global const float4*)(pos + 4*l0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (long i = 0; i < N / 256; ++i) {
    float4 next;
    if (i + 1 < N / 256) {
      next = *(global const float4*)(pos + 1024*i + 4*l0 + 1024);
    }
    // mapLcl(0)
    // reduceSeq
    float4 sum = acc;
    for (long i_2 = 0; i_2 < 64; ++i_2) {
      float4 q = *(local float4*)(near + 1024*(i % 2) + 256*(l0 / 64) + 4*i_2);
      float4 d = q - x;
      float inv = rsqrt(eps2 + d.s0 * d.s0 + d.s1 * d.s1 + d.s2 * d.s2);
      float weight = q.s3 * inv * inv * inv;
      sum = (float4)(sum.s0 + d.s0 * weight, sum.s1 + d.s1 * weight, sum.s2 + d.s2 * weight, 0.0f);
    }
    acc = sum;
    if (i + 1 < N / 256) {
      *(local float4*)(near + 1024*((i + 1) % 2) + 4*l0) = next;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // mapLcl(0)
  *(local float4*)(tmp + 4*l0) = acc;
  barrier(CLK_LOCAL_MEM_FENCE);
  // mapLcl(0)
  if (l0 < 64) {
    float4 x_2 = *(global const float4*)(pos + 256*wg0 + 4*l0);
    float4 x_3 = *(global const float4*)(vel + 256*wg0 + 4*l0);
    // reduceSeq
    float4 acc_2 = (float4)(0.0f);
    for (long i = 0; i < 4; ++i) {
      acc_2 = acc_2 + *(local float4*)(tmp + 256*i + 4*l0);
    }
    float4 part = x_2 + x_3 * dt + acc_2 * (0.5f * dt * dt);
    float4 part_2 = x_3 + acc_2 * dt;
    *(global float4*)(result_0 + 256*wg0 + 4*l0) = part;
    *(global float4*)(result_1 + 256*wg0 + 4*l0) = part_2;
  }
}
