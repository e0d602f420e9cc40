/* Calls an exported `mm` through CUDA's driver, at a size that is listed and at another, and a chain of kernels with checks. */
#include <stdio.h>
#include <stdlib.h>

#include "chain.h"
#include "mm.h"

static CUdeviceptr on_device(const void *host, size_t bytes) {
  CUdeviceptr memory = 0;
  if (cuMemAlloc(&memory, bytes) || (host && cuMemcpyHtoD(memory, host, bytes))) exit(2);
  return memory;
}

static int product(mm_program *program, CUstream stream, size_t M, size_t K, size_t N) {
  float *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b), *c = malloc(M * N * sizeof *c);
  for (size_t i = 0; i < M * K; ++i) a[i] = (float)(i % 7) - 3.0f;
  for (size_t i = 0; i < K * N; ++i) b[i] = (float)(i % 5) - 2.0f;
  CUdeviceptr x = on_device(a, M * K * sizeof *a), y = on_device(b, K * N * sizeof *b), z = on_device(NULL, M * N * sizeof *c);
  int code = mm(program, stream, M, K, N, x, y, z);
  int wrong = code != MM_OK || cuStreamSynchronize(stream) || cuMemcpyDtoH(c, z, M * N * sizeof *c);
  for (size_t i = 0; !wrong && i < M * N; ++i) {
    float sum = 0.0f;
    for (size_t k = 0; k < K; ++k) sum += a[i / N * K + k] * b[k * N + i % N];
    wrong = c[i] != sum;
  }
  if (wrong) fprintf(stderr, "%zu %zu %zu: %s\n", M, K, N, mm_error_text(code));
  cuMemFree(x);
  cuMemFree(y);
  cuMemFree(z);
  free(a);
  free(b);
  free(c);
  return wrong;
}

static int chained(chain_program *program, CUstream stream) {
  float xs[64], first[64];
  int32_t at[64], second[64], wrong = 0;
  for (int i = 0; i < 64; ++i) xs[i] = (float)i, at[i] = 63 - i;
  CUdeviceptr x = on_device(xs, sizeof xs), k = on_device(at, sizeof at);
  CUdeviceptr f = on_device(NULL, sizeof first), s = on_device(NULL, sizeof second);
  wrong |= chain(program, stream, 64, 2.0f, x, k, f, s) != CHAIN_OK;
  wrong |= cuMemcpyDtoH(first, f, sizeof first) || cuMemcpyDtoH(second, s, sizeof second);
  for (int i = 0; i < 64; ++i) wrong |= first[i] != 2.0f * (float)(63 - i) + 2016.0f || second[i] != i;
  /* An index that is out of range, and a clause that does not hold. */
  wrong |= chain(program, stream, 16, 2.0f, x, k, f, s) < 16;
  wrong |= chain(program, stream, 6, 2.0f, x, k, f, s) < 16;
  return wrong;
}

int main(void) {
  CUdevice device;
  CUcontext context;
  CUstream stream;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
      cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
    return 2;
  mm_program *program = NULL;
  chain_program *chain = NULL;
  int code = mm_create(&program);
  if (code) return fprintf(stderr, "%s\n", mm_error_text(code)), 1;
  code = chain_create(&chain);
  if (code) return fprintf(stderr, "%s\n", chain_error_text(code)), 1;
  int any = product(program, stream, 512, 512, 512) | product(program, stream, 5, 7, 3) | chained(chain, stream);
  if (mm(program, stream, 1, 1, 1, 0, 0, 0) != MM_ERROR_NULL) any = 1;
  mm_destroy(program);
  chain_destroy(chain);
  puts(any ? "failed" : "passed");
  return any;
}
