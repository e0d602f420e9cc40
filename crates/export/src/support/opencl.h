/* The kernels, compiled for a device. */
typedef struct NAME_program NAME_program;

/* Compiles the kernels. The context has the device, and outlives the handle. */
int NAME_create(cl_context context, cl_device_id device, NAME_program **program);

/* Ends a handle that no thread uses any more; null is none. */
void NAME_destroy(NAME_program *program);

