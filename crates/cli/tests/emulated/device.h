// What CUDA text is compiled with to run on a processor, one block after the other. Each thread of a block has a stack of its own and
// runs until it has to wait: at a barrier for its block, at a shuffle for its warp. A warp of which some threads are elsewhere, a
// barrier that some threads never reach, is a fault.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static

struct Three {
  unsigned x, y, z;
};
Three threadIdx, blockIdx, blockDim, gridDim;
alignas(128) unsigned char lift_shared[256 * 1024];

namespace emulated {

const unsigned WARP = 32;
const size_t STACK = 256 * 1024;

enum State { RUNS, AT_BARRIER, AT_WARP_BARRIER, AT_SHUFFLE, DONE };

struct Thread {
  ucontext_t context;
  State state;
  Three number;
  // Shuffles so far: what one gives is kept until all have taken it.
  unsigned shuffles;
  uint64_t given[2];
  std::unique_ptr<char[]> stack;
};

std::vector<Thread> threads;
ucontext_t scheduler;
size_t current;
void (*body)(void **);
void **arguments;

__attribute__((noinline)) void wait(State state) {
  size_t own = current;
  threads[own].state = state;
  swapcontext(&threads[own].context, &scheduler);
}

void run() {
  body(arguments);
  threads[current].state = DONE;
}

// Lets the threads go on that all wait for each other; says whether there are any.
bool release(size_t from, size_t to, State state) {
  for (size_t k = from; k < to; ++k)
    if (threads[k].state != state) return false;
  for (size_t k = from; k < to; ++k) threads[k].state = RUNS;
  return true;
}

// Whether the block comes to its end.
bool block() {
  for (unsigned round = 0;; ++round) {
    size_t done = 0;
    for (size_t k = 0; k < threads.size(); ++k) {
      // The order is nobody's business.
      current = round % 2 ? threads.size() - 1 - k : k;
      if (threads[current].state == RUNS) {
        threadIdx = threads[current].number;
        swapcontext(&scheduler, &threads[current].context);
      }
    }
    for (const Thread &thread : threads) done += thread.state == DONE;
    if (done == threads.size()) return true;
    bool goes_on = release(0, threads.size(), AT_BARRIER);
    for (size_t warp = 0; warp < threads.size(); warp += WARP) {
      size_t end = std::min<size_t>(warp + WARP, threads.size());
      goes_on |= release(warp, end, AT_WARP_BARRIER);
      if (end == warp + WARP) goes_on |= release(warp, end, AT_SHUFFLE);
    }
    if (!goes_on) return false;
  }
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void **values, std::index_sequence<I...>) {
  kernel(*static_cast<A *>(values[I])...);
}

template <class... A>
void call(void (*kernel)(A...), void **values) {
  call(kernel, values, std::index_sequence_for<A...>{});
}

int launch(void (*kernel)(void **), const unsigned *grid, const unsigned *group, void **values) {
  body = kernel;
  arguments = values;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {group[0], group[1], group[2]};
  threads = std::vector<Thread>(size_t(group[0]) * group[1] * group[2]);
  for (Thread &thread : threads) thread.stack.reset(new char[STACK]);
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
        for (size_t k = 0; k < threads.size(); ++k) {
          Thread &thread = threads[k];
          thread.number = {unsigned(k % group[0]), unsigned(k / group[0] % group[1]), unsigned(k / group[0] / group[1])};
          thread.state = RUNS;
          thread.shuffles = 0;
          getcontext(&thread.context);
          thread.context.uc_stack.ss_sp = thread.stack.get();
          thread.context.uc_stack.ss_size = STACK;
          thread.context.uc_link = &scheduler;
          makecontext(&thread.context, run, 0);
        }
        if (!block()) {
          fprintf(stderr, "emulated: threads of block (%u, %u, %u) wait for others that do not come\n", x, y, z);
          return 1;
        }
      }
  return 0;
}

template <class To, class From>
To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace emulated

inline void __syncthreads() { emulated::wait(emulated::AT_BARRIER); }
inline void __syncwarp() { emulated::wait(emulated::AT_WARP_BARRIER); }

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bit) {
  if (mask != 0xffffffffu) abort();
  emulated::Thread &own = emulated::threads[emulated::current];
  size_t other = emulated::current ^ size_t(bit);
  unsigned turn = own.shuffles++ % 2;
  memcpy(&own.given[turn], &value, sizeof value);
  emulated::wait(emulated::AT_SHUFFLE);
  memcpy(&value, &emulated::threads[other].given[turn], sizeof value);
  return value;
}

// Threads of a block are coroutines, and blocks come one after the other: nobody comes between.
namespace emulated {
template <class T, class F>
T changed(T *place, F f) {
  T before = *place;
  *place = f(before);
  return before;
}
}

inline int atomicAdd(int *place, int by) { return emulated::changed(place, [=](int v) { return int(unsigned(v) + unsigned(by)); }); }
inline unsigned atomicAdd(unsigned *place, unsigned by) { return emulated::changed(place, [=](unsigned v) { return v + by; }); }
inline unsigned long long atomicAdd(unsigned long long *place, unsigned long long by) { return emulated::changed(place, [=](unsigned long long v) { return v + by; }); }
inline float atomicAdd(float *place, float by) { return emulated::changed(place, [=](float v) { return v + by; }); }
inline double atomicAdd(double *place, double by) { return emulated::changed(place, [=](double v) { return v + by; }); }
#define EMULATED_INTEGERS(name, result)                                                                             \
  inline int name(int *place, int by) { return emulated::changed(place, [=](int v) { return result; }); }            \
  inline unsigned name(unsigned *place, unsigned by) { return emulated::changed(place, [=](unsigned v) { return result; }); } \
  inline unsigned long long name(unsigned long long *place, unsigned long long by) { return emulated::changed(place, [=](unsigned long long v) { return result; }); }
#define EMULATED_SIGNED(name, result) \
  inline long long name(long long *place, long long by) { return emulated::changed(place, [=](long long v) { return result; }); }
EMULATED_INTEGERS(atomicMin, by < v ? by : v)
EMULATED_INTEGERS(atomicMax, by > v ? by : v)
EMULATED_INTEGERS(atomicAnd, v & by)
EMULATED_INTEGERS(atomicOr, v | by)
EMULATED_INTEGERS(atomicXor, v ^ by)
EMULATED_SIGNED(atomicMin, by < v ? by : v)
EMULATED_SIGNED(atomicMax, by > v ? by : v)
inline unsigned atomicCAS(unsigned *place, unsigned known, unsigned next) { return emulated::changed(place, [=](unsigned v) { return v == known ? next : v; }); }
inline unsigned long long atomicCAS(unsigned long long *place, unsigned long long known, unsigned long long next) { return emulated::changed(place, [=](unsigned long long v) { return v == known ? next : v; }); }

inline float __int_as_float(int bits) { return emulated::same_bits<float>(bits); }
inline float __uint_as_float(unsigned bits) { return emulated::same_bits<float>(bits); }
inline int __float_as_int(float value) { return emulated::same_bits<int>(value); }
inline unsigned __float_as_uint(float value) { return emulated::same_bits<unsigned>(value); }
inline double __longlong_as_double(long long bits) { return emulated::same_bits<double>(bits); }
inline long long __double_as_longlong(double value) { return emulated::same_bits<long long>(value); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __clz(int bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __clzll(long long bits) { return bits ? __builtin_clzll(bits) : 64; }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline float rsqrtf(float value) { return 1 / sqrtf(value); }
inline double rsqrt(double value) { return 1 / sqrt(value); }
inline long long clock64() { return 1LL << 62; }

// What a float becomes that a type has no room for: its end.
template <class To, class From>
To nearest_of(From value, To least, To most) {
  if (value != value) return 0;
  if (value <= From(least)) return least;
  return value >= From(most) ? most : To(value);
}
inline int __float2int_rz(float v) { return nearest_of<int>(v, INT32_MIN, INT32_MAX); }
inline unsigned __float2uint_rz(float v) { return nearest_of<unsigned>(v, 0, UINT32_MAX); }
inline long long __float2ll_rz(float v) { return nearest_of<long long>(v, INT64_MIN, INT64_MAX); }
inline unsigned long long __float2ull_rz(float v) { return nearest_of<unsigned long long>(v, 0, UINT64_MAX); }
inline int __double2int_rz(double v) { return nearest_of<int>(v, INT32_MIN, INT32_MAX); }
inline unsigned __double2uint_rz(double v) { return nearest_of<unsigned>(v, 0, UINT32_MAX); }
inline long long __double2ll_rz(double v) { return nearest_of<long long>(v, INT64_MIN, INT64_MAX); }
inline unsigned long long __double2ull_rz(double v) { return nearest_of<unsigned long long>(v, 0, UINT64_MAX); }
