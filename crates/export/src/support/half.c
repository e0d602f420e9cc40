/* The number that these bits are. */
static inline _Float16 lift_half(uint16_t bits) {
  union { uint16_t bits; _Float16 number; } half = {bits};
  return half.number;
}
