/* Calls an exported `mm` through OpenCL, at a size that is listed and at another, from four threads with one handle. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mm.h"

static cl_context context;
static cl_device_id device;
static mm_program *program;

static int product(size_t M, size_t K, size_t N) {
  float *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b), *c = malloc(M * N * sizeof *c);
  for (size_t i = 0; i < M * K; ++i) a[i] = (float)(i % 7) - 3.0f;
  for (size_t i = 0; i < K * N; ++i) b[i] = (float)(i % 5) - 2.0f;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, M * K * sizeof *a, a, NULL);
  cl_mem y = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, K * N * sizeof *b, b, NULL);
  cl_mem z = clCreateBuffer(context, CL_MEM_READ_WRITE, M * N * sizeof *c, NULL, NULL);
  int code = mm(program, queue, M, K, N, x, y, z);
  int wrong = code != MM_OK || clEnqueueReadBuffer(queue, z, CL_TRUE, 0, M * N * sizeof *c, c, 0, NULL, NULL);
  for (size_t i = 0; !wrong && i < M * N; ++i) {
    float sum = 0.0f;
    for (size_t k = 0; k < K; ++k) sum += a[i / N * K + k] * b[k * N + i % N];
    wrong = c[i] != sum;
  }
  if (wrong) fprintf(stderr, "%zu %zu %zu: %s\n", M, K, N, mm_error_text(code));
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  clReleaseMemObject(z);
  clReleaseCommandQueue(queue);
  free(a);
  free(b);
  free(c);
  return wrong;
}

static void *several(void *failed) {
  *(int *)failed = product(32, 24, 40) | product(5, 7, 3);
  return NULL;
}

int main(void) {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 2;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  int code = mm_create(context, device, &program), failed[4] = {0};
  if (code) return fprintf(stderr, "%s\n", mm_error_text(code)), 1;
  pthread_t threads[4];
  for (int t = 0; t < 4; ++t) pthread_create(&threads[t], NULL, several, &failed[t]);
  for (int t = 0; t < 4; ++t) pthread_join(threads[t], NULL);
  int any = failed[0] | failed[1] | failed[2] | failed[3];
  if (mm(program, NULL, 1, 1, 1, NULL, NULL, NULL) != MM_ERROR_NULL) any = 1;
  if (mm_create(NULL, NULL, &program) != MM_ERROR_NULL) any = 1;
  mm_destroy(program);
  mm_destroy(NULL);
  clReleaseContext(context);
  puts(any ? "failed" : "passed");
  return any;
}
