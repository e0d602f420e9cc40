/* The kernels, compiled for a device. */
typedef struct NAME_program NAME_program;

/* Compiles the kernels for the device of the current context, which outlives the handle. */
int NAME_create(NAME_program **program);

/* Ends a handle that no thread uses any more, its context being current; null is none. */
void NAME_destroy(NAME_program *program);

