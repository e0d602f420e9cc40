// Calls an exported `mm` from C++.
#include <cstdio>
#include <vector>

#include "mm.h"

int main() {
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1}, c(4);
  const std::vector<float> expected{4, 5, 10, 11};
  int code = mm(2, 3, 2, a.data(), b.data(), c.data());
  bool passed = code == MM_OK && c == expected;
  std::puts(passed ? "passed" : mm_error_text(code));
  return passed ? 0 : 1;
}
