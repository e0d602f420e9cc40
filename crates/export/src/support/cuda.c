struct NAME_program {
  CUmodule modules[LIFT_KERNELS + 1];
  CUfunction functions[LIFT_KERNELS + 1];
};

/* Memory for temporaries, at least one byte, in the order of the stream. 0 where there is none. */
static inline CUdeviceptr lift_memory(CUstream stream, lift_wide bytes) {
  CUdeviceptr memory = 0;
  if (bytes < 0 || bytes > PTRDIFF_MAX) return 0;
  return cuMemAllocAsync(&memory, bytes ? (size_t)bytes : 1, stream) ? 0 : memory;
}

static inline CUresult lift_launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned lx,
                                   unsigned ly, unsigned lz, unsigned shared, CUstream stream, void **args) {
  /* More than this has to be asked for. */
  if (shared > 48 * 1024) {
    CUresult asked = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
    if (asked) return asked;
  }
  return cuLaunchKernel(function, gx, gy, gz, lx, ly, lz, shared, stream, args, NULL);
}

/* The machine code of a kernel for an architecture, to be freed by the caller; null where it cannot be made. */
static char *lift_compile(const char *source, const char *name, int major, int minor) {
  nvrtcProgram program = NULL;
  if (nvrtcCreateProgram(&program, source, name, 0, NULL, NULL)) return NULL;
  char architecture[48];
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
  const char *options[] = {architecture, "--fmad=true"};
  size_t bytes = 0;
  char *image = NULL;
  if (!nvrtcCompileProgram(program, 2, options) && !nvrtcGetCUBINSize(program, &bytes) && bytes) {
    image = malloc(bytes);
    if (image && nvrtcGetCUBIN(program, image)) {
      free(image);
      image = NULL;
    }
  }
  nvrtcDestroyProgram(&program);
  return image;
}

int NAME_create(NAME_program **program) {
  if (!program) return PREFIX_ERROR_NULL;
  CUdevice device;
  int major = 0, minor = 0;
  if (cuCtxGetDevice(&device) ||
      cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) ||
      cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    return PREFIX_ERROR_DEVICE;
  NAME_program *made = calloc(1, sizeof *made);
  if (!made) return PREFIX_ERROR_MEMORY;
  for (int k = 0; k < LIFT_KERNELS; ++k) {
    char *image = lift_compile(lift_sources[k], lift_names[k], major, minor);
    int failed = !image || cuModuleLoadData(&made->modules[k], image) ||
                 cuModuleGetFunction(&made->functions[k], made->modules[k], lift_names[k]);
    free(image);
    if (failed) {
      NAME_destroy(made);
      return PREFIX_ERROR_BUILD;
    }
  }
  *program = made;
  return PREFIX_OK;
}

void NAME_destroy(NAME_program *program) {
  if (!program) return;
  for (int k = 0; k < LIFT_KERNELS; ++k)
    if (program->modules[k]) cuModuleUnload(program->modules[k]);
  free(program);
}

