kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void saxpy_1024(global const float* restrict x, global float* restrict y, float alpha, int N) {
  // alpha * x + y
  const int i = get_global_id(0);
  y[i] = alpha * x[i] + y[i];
}
