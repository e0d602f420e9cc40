// CUDA's driver and its compiler, as far as Lift calls them, without a GPU: the text of a kernel is compiled for the processor
// (`device.h`), and a launch runs its blocks one after the other. `LIFT_EMULATED` is the folder to work in.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace {

const int SUCCESS = 0, INVALID = 1, FAILED = 719, COMPILATION = 6;
const size_t MEMORY = size_t(4) << 30;

struct Program {
  std::string text, name, log, library;
};


std::string whole(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string &old, const std::string &made) {
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += made.size()) text.replace(at, old.size(), made);
  return text;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return SUCCESS; }
int cuDriverGetVersion(int *version) { return *version = 13000, SUCCESS; }
int cuDeviceGetCount(int *count) { return *count = 1, SUCCESS; }
int cuDeviceGet(int *device, int) { return *device = 0, SUCCESS; }
int cuDeviceGetName(char *name, int length, int) { return snprintf(name, length, "emulated"), SUCCESS; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = MEMORY, SUCCESS; }
int cuMemGetInfo_v2(size_t *left, size_t *all) { return *left = *all = MEMORY, SUCCESS; }
int cuDeviceGetAttribute(int *value, int what, int) {
  switch (what) {
    case 1: case 2: case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = 0x7fffffff; break;
    case 6: case 7: *value = 65535; break;
    case 10: *value = 32; break;
    case 16: *value = 4; break;
    // Compute capability 5.2: no halves.
    case 75: *value = 5; break;
    case 76: *value = 2; break;
    case 97: *value = 96 * 1024; break;
    default: return INVALID;
  }
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int) { return *context = context, SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxSetCurrent(void *) { return SUCCESS; }
int cuCtxSynchronize() { return SUCCESS; }
int cuStreamSynchronize(void *) { return SUCCESS; }
int cuEventCreate(void **event, unsigned) { return *event = event, SUCCESS; }
int cuEventDestroy_v2(void *) { return SUCCESS; }
int cuEventRecord(void *, void *) { return SUCCESS; }
int cuEventSynchronize(void *) { return SUCCESS; }
int cuEventElapsedTime(float *ms, void *, void *) { return *ms = 2, SUCCESS; }
int cuEventElapsedTime_v2(float *ms, void *, void *) { return *ms = 2, SUCCESS; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  // New memory holds a pattern, which no result may come from.
  *address = reinterpret_cast<uint64_t>(aligned_alloc(256, (bytes + 511) / 256 * 256));
  memset(reinterpret_cast<void *>(*address), 0xa5, bytes);
  return SUCCESS;
}
int cuMemFree_v2(uint64_t address) { return free(reinterpret_cast<void *>(address)), SUCCESS; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return memcpy(reinterpret_cast<void *>(to), from, bytes), SUCCESS;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return memcpy(to, reinterpret_cast<void *>(from), bytes), SUCCESS;
}
int cuMemsetD8_v2(uint64_t to, unsigned char byte, size_t bytes) {
  return memset(reinterpret_cast<void *>(to), byte, bytes), SUCCESS;
}

int cuModuleLoadData(void **module, const void *image) {
  *module = dlopen(static_cast<const char *>(image), RTLD_NOW | RTLD_LOCAL);
  if (!*module) fprintf(stderr, "emulated: %s\n", dlerror());
  return *module ? SUCCESS : INVALID;
}
int cuModuleUnload(void *module) { return dlclose(module), SUCCESS; }
int cuModuleGetFunction(void **function, void *module, const char *) {
  *function = dlsym(module, "lift_launch");
  return *function ? SUCCESS : INVALID;
}
int cuFuncGetAttribute(int *value, int what, void *) { return *value = what == 0 ? 1024 : 0, SUCCESS; }
int cuFuncSetAttribute(void *, int, int) { return SUCCESS; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned,
                   void *, void **values, void **) {
  const unsigned grid[] = {gx, gy, gz}, group[] = {x, y, z};
  auto launch = reinterpret_cast<int (*)(const unsigned *, const unsigned *, void **)>(function);
  return launch(grid, group, values) ? FAILED : SUCCESS;
}

int nvrtcGetNumSupportedArchs(int *count) { return *count = 1, SUCCESS; }
int nvrtcGetSupportedArchs(int *all) { return *all = 52, SUCCESS; }
const char *nvrtcGetErrorString(int) { return "the text does not compile"; }
int nvrtcCreateProgram(Program **program, const char *text, const char *name, int, const char *const *, const char *const *) {
  std::string stem(name);
  *program = new Program{text, stem.substr(0, stem.rfind('.')), "", ""};
  return SUCCESS;
}
int nvrtcDestroyProgram(Program **program) { return delete *program, SUCCESS; }
int nvrtcCompileProgram(Program *program, int, const char *const *) {
  const std::string folder = getenv("LIFT_EMULATED");
  std::string made = folder + "/XXXXXX";
  if (!mkdtemp(made.data())) return COMPILATION;
  // Memory that launches ask for is one array for all.
  const std::string text = replaced(program->text, "extern __shared__", "extern");
  std::ofstream(made + "/kernel.cpp")
      << "#include \"" << folder << "/device.h\"\n" << text
      << "\nextern \"C\" int lift_launch(const unsigned *grid, const unsigned *group, void **values) {\n"
      << "  return emulated::launch([](void **v) { emulated::call(&" << program->name << ", v); }, grid, group, values);\n}\n";
  program->library = made + "/kernel.so";
  const std::string command = "c++ -std=c++17 -O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -shared -fPIC -o " + program->library + " " +
                              made + "/kernel.cpp 2> " + made + "/log";
  const bool compiles = system(command.c_str()) == 0;
  program->log = whole(made + "/log");
  return compiles ? SUCCESS : COMPILATION;
}
int nvrtcGetProgramLogSize(Program *program, size_t *size) { return *size = program->log.size() + 1, SUCCESS; }
int nvrtcGetProgramLog(Program *program, char *log) { return strcpy(log, program->log.c_str()), SUCCESS; }
int nvrtcGetCUBINSize(Program *program, size_t *size) { return *size = program->library.size() + 1, SUCCESS; }
int nvrtcGetCUBIN(Program *program, char *code) { return strcpy(code, program->library.c_str()), SUCCESS; }
}
