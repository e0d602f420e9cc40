kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum(global const float* restrict xs, global float* restrict tmp_2, long N) {
  // mapGlb(0)
  const long g0 = get_global_id(0);
  // reduceSeq
  float acc = 0.0f;
  for (long i = 0; i < (N + 65535) / 65536; ++i) {
    acc = acc + (65536*i + g0 < N ? xs[65536*i + g0] : 0.0f);
  }
  tmp_2[g0] = acc;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum_2(global float* restrict tmp, global const float* restrict tmp_2) {
  // mapGlb(0)
  const int g0 = get_global_id(0);
  // reduceSeq
  float acc = 0.0f;
  for (int i = 0; i < 256; ++i) {
    acc = acc + tmp_2[256*i + g0];
  }
  tmp[g0] = acc;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sum_3(global float* restrict result, global const float* restrict tmp) {
  // reduceSeq
  float acc = 0.0f;
  for (int i = 0; i < 256; ++i) {
    acc = acc + tmp[i];
  }
  result[0] = acc;
}
