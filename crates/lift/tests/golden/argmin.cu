extern "C" __global__ void __launch_bounds__(256) argmin(const float* __restrict__ xs, float* __restrict__ partial_0, int* __restrict__ partial_1) {
  __shared__ __align__(16) float partial[8];
  __shared__ __align__(16) int partial_2[8];
  // mapWrg(0)
  const int wg0 = blockIdx.x;
  // mapLcl(0)
  const int l0 = threadIdx.x;
  float a;
  int a_2;
  // reduceSeqUnroll
  a = __int_as_float(0x7f800000);
  a_2 = 2147483647;
  float chosen_;
  int chosen_2_;
  float part = xs[256*wg0 + l0];
  chosen_ = part;
  chosen_2_ = 256*wg0 + l0;
  float chosen_3_;
  int chosen_4_;
  if (chosen_ < a || (chosen_ == a && chosen_2_ < a_2)) {
    chosen_3_ = chosen_;
    chosen_4_ = chosen_2_;
  } else {
    chosen_3_ = a;
    chosen_4_ = a_2;
  }
  a = chosen_3_;
  a_2 = chosen_4_;
  float chosen_5_;
  int chosen_6_;
  float part_2 = xs[256*wg0 + l0 + 6144];
  chosen_5_ = part_2;
  chosen_6_ = 256*wg0 + l0 + 6144;
  float chosen_7_;
  int chosen_8_;
  if (chosen_5_ < a || (chosen_5_ == a && chosen_6_ < a_2)) {
    chosen_7_ = chosen_5_;
    chosen_8_ = chosen_6_;
  } else {
    chosen_7_ = a;
    chosen_8_ = a_2;
  }
  a = chosen_7_;
  a_2 = chosen_8_;
  float chosen_9_;
  int chosen_10_;
  float part_3 = xs[256*wg0 + l0 + 12288];
  chosen_9_ = part_3;
  chosen_10_ = 256*wg0 + l0 + 12288;
  float chosen_11_;
  int chosen_12_;
  if (chosen_9_ < a || (chosen_9_ == a && chosen_10_ < a_2)) {
    chosen_11_ = chosen_9_;
    chosen_12_ = chosen_10_;
  } else {
    chosen_11_ = a;
    chosen_12_ = a_2;
  }
  a = chosen_11_;
  a_2 = chosen_12_;
  float chosen_13_;
  int chosen_14_;
  float part_4 = xs[256*wg0 + l0 + 18432];
  chosen_13_ = part_4;
  chosen_14_ = 256*wg0 + l0 + 18432;
  float chosen_15_;
  int chosen_16_;
  if (chosen_13_ < a || (chosen_13_ == a && chosen_14_ < a_2)) {
    chosen_15_ = chosen_13_;
    chosen_16_ = chosen_14_;
  } else {
    chosen_15_ = a;
    chosen_16_ = a_2;
  }
  a = chosen_15_;
  a_2 = chosen_16_;
  float chosen_17_;
  int chosen_18_;
  float part_5 = xs[256*wg0 + l0 + 24576];
  chosen_17_ = part_5;
  chosen_18_ = 256*wg0 + l0 + 24576;
  float chosen_19_;
  int chosen_20_;
  if (chosen_17_ < a || (chosen_17_ == a && chosen_18_ < a_2)) {
    chosen_19_ = chosen_17_;
    chosen_20_ = chosen_18_;
  } else {
    chosen_19_ = a;
    chosen_20_ = a_2;
  }
  a = chosen_19_;
  a_2 = chosen_20_;
  float chosen_21_;
  int chosen_22_;
  float part_6 = xs[256*wg0 + l0 + 30720];
  chosen_21_ = part_6;
  chosen_22_ = 256*wg0 + l0 + 30720;
  float chosen_23_;
  int chosen_24_;
  if (chosen_21_ < a || (chosen_21_ == a && chosen_22_ < a_2)) {
    chosen_23_ = chosen_21_;
    chosen_24_ = chosen_22_;
  } else {
    chosen_23_ = a;
    chosen_24_ = a_2;
  }
  a = chosen_23_;
  a_2 = chosen_24_;
  float chosen_25_;
  int chosen_26_;
  float part_7 = xs[256*wg0 + l0 + 36864];
  chosen_25_ = part_7;
  chosen_26_ = 256*wg0 + l0 + 36864;
  float chosen_27_;
  int chosen_28_;
  if (chosen_25_ < a || (chosen_25_ == a && chosen_26_ < a_2)) {
    chosen_27_ = chosen_25_;
    chosen_28_ = chosen_26_;
  } else {
    chosen_27_ = a;
    chosen_28_ = a_2;
  }
  a = chosen_27_;
  a_2 = chosen_28_;
  float chosen_29_;
  int chosen_30_;
  float part_8 = xs[256*wg0 + l0 + 43008];
  chosen_29_ = part_8;
  chosen_30_ = 256*wg0 + l0 + 43008;
  float chosen_31_;
  int chosen_32_;
  if (chosen_29_ < a || (chosen_29_ == a && chosen_30_ < a_2)) {
    chosen_31_ = chosen_29_;
    chosen_32_ = chosen_30_;
  } else {
    chosen_31_ = a;
    chosen_32_ = a_2;
  }
  a = chosen_31_;
  a_2 = chosen_32_;
  float chosen_33_;
  int chosen_34_;
  float part_9 = xs[256*wg0 + l0 + 49152];
  chosen_33_ = part_9;
  chosen_34_ = 256*wg0 + l0 + 49152;
  float chosen_35_;
  int chosen_36_;
  if (chosen_33_ < a || (chosen_33_ == a && chosen_34_ < a_2)) {
    chosen_35_ = chosen_33_;
    chosen_36_ = chosen_34_;
  } else {
    chosen_35_ = a;
    chosen_36_ = a_2;
  }
  a = chosen_35_;
  a_2 = chosen_36_;
  float chosen_37_;
  int chosen_38_;
  float part_10 = xs[256*wg0 + l0 + 55296];
  chosen_37_ = part_10;
  chosen_38_ = 256*wg0 + l0 + 55296;
  float chosen_39_;
  int chosen_40_;
  if (chosen_37_ < a || (chosen_37_ == a && chosen_38_ < a_2)) {
    chosen_39_ = chosen_37_;
    chosen_40_ = chosen_38_;
  } else {
    chosen_39_ = a;
    chosen_40_ = a_2;
  }
  a = chosen_39_;
  a_2 = chosen_40_;
  float chosen_41_;
  int chosen_42_;
  float part_11 = xs[256*wg0 + l0 + 61440];
  chosen_41_ = part_11;
  chosen_42_ = 256*wg0 + l0 + 61440;
  float chosen_43_;
  int chosen_44_;
  if (chosen_41_ < a || (chosen_41_ == a && chosen_42_ < a_2)) {
    chosen_43_ = chosen_41_;
    chosen_44_ = chosen_42_;
  } else {
    chosen_43_ = a;
    chosen_44_ = a_2;
  }
  a = chosen_43_;
  a_2 = chosen_44_;
  float chosen_45_;
  int chosen_46_;
  float part_12 = xs[256*wg0 + l0 + 67584];
  chosen_45_ = part_12;
  chosen_46_ = 256*wg0 + l0 + 67584;
  float chosen_47_;
  int chosen_48_;
  if (chosen_45_ < a || (chosen_45_ == a && chosen_46_ < a_2)) {
    chosen_47_ = chosen_45_;
    chosen_48_ = chosen_46_;
  } else {
    chosen_47_ = a;
    chosen_48_ = a_2;
  }
  a = chosen_47_;
  a_2 = chosen_48_;
  float chosen_49_;
  int chosen_50_;
  float part_13 = xs[256*wg0 + l0 + 73728];
  chosen_49_ = part_13;
  chosen_50_ = 256*wg0 + l0 + 73728;
  float chosen_51_;
  int chosen_52_;
  if (chosen_49_ < a || (chosen_49_ == a && chosen_50_ < a_2)) {
    chosen_51_ = chosen_49_;
    chosen_52_ = chosen_50_;
  } else {
    chosen_51_ = a;
    chosen_52_ = a_2;
  }
  a = chosen_51_;
  a_2 = chosen_52_;
  float chosen_53_;
  int chosen_54_;
  float part_14 = xs[256*wg0 + l0 + 79872];
  chosen_53_ = part_14;
  chosen_54_ = 256*wg0 + l0 + 79872;
  float chosen_55_;
  int chosen_56_;
  if (chosen_53_ < a || (chosen_53_ == a && chosen_54_ < a_2)) {
    chosen_55_ = chosen_53_;
    chosen_56_ = chosen_54_;
  } else {
    chosen_55_ = a;
    chosen_56_ = a_2;
  }
  a = chosen_55_;
  a_2 = chosen_56_;
  float chosen_57_;
  int chosen_58_;
  float part_15 = xs[256*wg0 + l0 + 86016];
  chosen_57_ = part_15;
  chosen_58_ = 256*wg0 + l0 + 86016;
  float chosen_59_;
  int chosen_60_;
  if (chosen_57_ < a || (chosen_57_ == a && chosen_58_ < a_2)) {
    chosen_59_ = chosen_57_;
    chosen_60_ = chosen_58_;
  } else {
    chosen_59_ = a;
    chosen_60_ = a_2;
  }
  a = chosen_59_;
  a_2 = chosen_60_;
  float chosen_61_;
  int chosen_62_;
  float part_16 = xs[256*wg0 + l0 + 92160];
  chosen_61_ = part_16;
  chosen_62_ = 256*wg0 + l0 + 92160;
  float chosen_63_;
  int chosen_64_;
  if (chosen_61_ < a || (chosen_61_ == a && chosen_62_ < a_2)) {
    chosen_63_ = chosen_61_;
    chosen_64_ = chosen_62_;
  } else {
    chosen_63_ = a;
    chosen_64_ = a_2;
  }
  a = chosen_63_;
  a_2 = chosen_64_;
  float chosen_65_;
  int chosen_66_;
  if (256*wg0 + l0 + 98304 < 100000) {
    float part_17 = xs[256*wg0 + l0 + 98304];
    chosen_65_ = part_17;
    chosen_66_ = 256*wg0 + l0 + 98304;
  } else {
    chosen_65_ = __int_as_float(0x7f800000);
    chosen_66_ = 2147483647;
  }
  float chosen_67_;
  int chosen_68_;
  if (chosen_65_ < a || (chosen_65_ == a && chosen_66_ < a_2)) {
    chosen_67_ = chosen_65_;
    chosen_68_ = chosen_66_;
  } else {
    chosen_67_ = a;
    chosen_68_ = a_2;
  }
  a = chosen_67_;
  a_2 = chosen_68_;
  float other = __shfl_xor_sync(0xffffffffu, a, 16);
  int other_2 = __shfl_xor_sync(0xffffffffu, a_2, 16);
  float chosen_69_;
  int chosen_70_;
  if (other < a || (other == a && other_2 < a_2)) {
    chosen_69_ = other;
    chosen_70_ = other_2;
  } else {
    chosen_69_ = a;
    chosen_70_ = a_2;
  }
  a = chosen_69_;
  a_2 = chosen_70_;
  float other_3 = __shfl_xor_sync(0xffffffffu, a, 8);
  int other_4 = __shfl_xor_sync(0xffffffffu, a_2, 8);
  float chosen_71_;
  int chosen_72_;
  if (other_3 < a || (other_3 == a && other_4 < a_2)) {
    chosen_71_ = other_3;
    chosen_72_ = other_4;
  } else {
    chosen_71_ = a;
    chosen_72_ = a_2;
  }
  a = chosen_71_;
  a_2 = chosen_72_;
  float other_5 = __shfl_xor_sync(0xffffffffu, a, 4);
  int other_6 = __shfl_xor_sync(0xffffffffu, a_2, 4);
  float chosen_73_;
  int chosen_74_;
  if (other_5 < a || (other_5 == a && other_6 < a_2)) {
    chosen_73_ = other_5;
    chosen_74_ = other_6;
  } else {
    chosen_73_ = a;
    chosen_74_ = a_2;
  }
  a = chosen_73_;
  a_2 = chosen_74_;
  float other_7 = __shfl_xor_sync(0xffffffffu, a, 2);
  int other_8 = __shfl_xor_sync(0xffffffffu, a_2, 2);
  float chosen_75_;
  int chosen_76_;
  if (other_7 < a || (other_7 == a && other_8 < a_2)) {
    chosen_75_ = other_7;
    chosen_76_ = other_8;
  } else {
    chosen_75_ = a;
    chosen_76_ = a_2;
  }
  a = chosen_75_;
  a_2 = chosen_76_;
  float other_9 = __shfl_xor_sync(0xffffffffu, a, 1);
  int other_10 = __shfl_xor_sync(0xffffffffu, a_2, 1);
  float chosen_77_;
  int chosen_78_;
  if (other_9 < a || (other_9 == a && other_10 < a_2)) {
    chosen_77_ = other_9;
    chosen_78_ = other_10;
  } else {
    chosen_77_ = a;
    chosen_78_ = a_2;
  }
  a = chosen_77_;
  a_2 = chosen_78_;
  if (l0 % 32 == 0) {
    partial[l0 / 32] = a;
  }
  if (l0 % 32 == 0) {
    partial_2[l0 / 32] = a_2;
  }
  // reduce
  float a_3;
  int a_4;
  a_3 = __int_as_float(0x7f800000);
  a_4 = 2147483647;
  __syncthreads();
  float b = partial[0];
  int b_2 = partial_2[0];
  float chosen_79_;
  int chosen_80_;
  if (b < a_3 || (b == a_3 && b_2 < a_4)) {
    chosen_79_ = b;
    chosen_80_ = b_2;
  } else {
    chosen_79_ = a_3;
    chosen_80_ = a_4;
  }
  a_3 = chosen_79_;
  a_4 = chosen_80_;
  float b_3 = partial[1];
  int b_4 = partial_2[1];
  float chosen_81_;
  int chosen_82_;
  if (b_3 < a_3 || (b_3 == a_3 && b_4 < a_4)) {
    chosen_81_ = b_3;
    chosen_82_ = b_4;
  } else {
    chosen_81_ = a_3;
    chosen_82_ = a_4;
  }
  a_3 = chosen_81_;
  a_4 = chosen_82_;
  float b_5 = partial[2];
  int b_6 = partial_2[2];
  float chosen_83_;
  int chosen_84_;
  if (b_5 < a_3 || (b_5 == a_3 && b_6 < a_4)) {
    chosen_83_ = b_5;
    chosen_84_ = b_6;
  } else {
    chosen_83_ = a_3;
    chosen_84_ = a_4;
  }
  a_3 = chosen_83_;
  a_4 = chosen_84_;
  float b_7 = partial[3];
  int b_8 = partial_2[3];
  float chosen_85_;
  int chosen_86_;
  if (b_7 < a_3 || (b_7 == a_3 && b_8 < a_4)) {
    chosen_85_ = b_7;
    chosen_86_ = b_8;
  } else {
    chosen_85_ = a_3;
    chosen_86_ = a_4;
  }
  a_3 = chosen_85_;
  a_4 = chosen_86_;
  float b_9 = partial[4];
  int b_10 = partial_2[4];
  float chosen_87_;
  int chosen_88_;
  if (b_9 < a_3 || (b_9 == a_3 && b_10 < a_4)) {
    chosen_87_ = b_9;
    chosen_88_ = b_10;
  } else {
    chosen_87_ = a_3;
    chosen_88_ = a_4;
  }
  a_3 = chosen_87_;
  a_4 = chosen_88_;
  float b_11 = partial[5];
  int b_12 = partial_2[5];
  float chosen_89_;
  int chosen_90_;
  if (b_11 < a_3 || (b_11 == a_3 && b_12 < a_4)) {
    chosen_89_ = b_11;
    chosen_90_ = b_12;
  } else {
    chosen_89_ = a_3;
    chosen_90_ = a_4;
  }
  a_3 = chosen_89_;
  a_4 = chosen_90_;
  float b_13 = partial[6];
  int b_14 = partial_2[6];
  float chosen_91_;
  int chosen_92_;
  if (b_13 < a_3 || (b_13 == a_3 && b_14 < a_4)) {
    chosen_91_ = b_13;
    chosen_92_ = b_14;
  } else {
    chosen_91_ = a_3;
    chosen_92_ = a_4;
  }
  a_3 = chosen_91_;
  a_4 = chosen_92_;
  float b_15 = partial[7];
  int b_16 = partial_2[7];
  float chosen_93_;
  int chosen_94_;
  if (b_15 < a_3 || (b_15 == a_3 && b_16 < a_4)) {
    chosen_93_ = b_15;
    chosen_94_ = b_16;
  } else {
    chosen_93_ = a_3;
    chosen_94_ = a_4;
  }
  a_3 = chosen_93_;
  a_4 = chosen_94_;
  if (l0 == 0) {
    partial_0[wg0] = a_3;
  }
  if (l0 == 0) {
    partial_1[wg0] = a_4;
  }
}

extern "C" __global__ void __launch_bounds__(256) argmin_2(int* __restrict__ result, const float* __restrict__ partial_0, const int* __restrict__ partial_1) {
  // mapWrg(0)
  float acc;
  int acc_2;
  // reduceSeq
  acc = __int_as_float(0x7f800000);
  acc_2 = 2147483647;
  for (int i = 0; i < 24; ++i) {
    float b = partial_0[i];
    int b_2 = partial_1[i];
    float chosen_;
    int chosen_2_;
    if (b < acc || (b == acc && b_2 < acc_2)) {
      chosen_ = b;
      chosen_2_ = b_2;
    } else {
      chosen_ = acc;
      chosen_2_ = acc_2;
    }
    acc = chosen_;
    acc_2 = chosen_2_;
  }
  const int lid = threadIdx.x;
  if (lid == 0) {
    result[0] = acc_2;
  }
}
