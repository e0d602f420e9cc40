struct NAME_program {
  cl_context context;
  cl_program programs[LIFT_KERNELS + 1];
};

/* Memory for temporaries, at least one byte. Null where there is none. */
static inline cl_mem lift_memory(cl_context context, lift_wide bytes) {
  if (bytes < 0 || bytes > PTRDIFF_MAX) return NULL;
  return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, NULL);
}

int NAME_create(cl_context context, cl_device_id device, NAME_program **program) {
  if (!context || !device || !program) return PREFIX_ERROR_NULL;
  NAME_program *made = calloc(1, sizeof *made);
  if (!made) return PREFIX_ERROR_MEMORY;
  made->context = context;
  for (int k = 0; k < LIFT_KERNELS; ++k) {
    const char *source = lift_sources[k];
    made->programs[k] = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (!made->programs[k] || clBuildProgram(made->programs[k], 1, &device, "", NULL, NULL)) {
      NAME_destroy(made);
      return PREFIX_ERROR_BUILD;
    }
  }
  (void)lift_names;
  *program = made;
  return PREFIX_OK;
}

void NAME_destroy(NAME_program *program) {
  if (!program) return;
  for (int k = 0; k < LIFT_KERNELS; ++k)
    if (program->programs[k]) clReleaseProgram(program->programs[k]);
  free(program);
}

