// One thread that keeps its stream busy for so many cycles of the clock.
extern "C" __global__ void hold(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
