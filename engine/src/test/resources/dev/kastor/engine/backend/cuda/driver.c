/* A libcuda.so.1 whose functions are whatever FakeDriver.java says. */
#include <stddef.h>

static void *calls[32];

void kastor_driver_set(int number, void *function) { calls[number] = function; }

#define CALL(number, name, types, arguments) \
  int name types { return ((int (*) types)calls[number]) arguments; }

CALL(0, cuInit, (unsigned a), (a))
CALL(1, cuDriverGetVersion, (int *a), (a))
CALL(2, cuDeviceGetCount, (int *a), (a))
CALL(3, cuDeviceGet, (int *a, int b), (a, b))
CALL(4, cuDeviceGetName, (char *a, int b, int c), (a, b, c))
CALL(5, cuDeviceTotalMem_v2, (size_t *a, int b), (a, b))
CALL(6, cuDeviceGetAttribute, (int *a, int b, int c), (a, b, c))
CALL(7, cuDevicePrimaryCtxRetain, (void **a, int b), (a, b))
CALL(8, cuCtxSetCurrent, (void *a), (a))
CALL(9, cuStreamCreate, (void **a, unsigned b), (a, b))
CALL(10, cuStreamDestroy_v2, (void *a), (a))
CALL(11, cuStreamSynchronize, (void *a), (a))
CALL(12, cuMemAlloc_v2, (size_t *a, size_t b), (a, b))
CALL(13, cuMemFree_v2, (size_t a), (a))
CALL(14, cuMemGetInfo_v2, (size_t *a, size_t *b), (a, b))
CALL(15, cuModuleLoadDataEx, (void **a, const char *b, unsigned c, int *d, void **e), (a, b, c, d, e))
CALL(16, cuModuleUnload, (void *a), (a))
CALL(17, cuModuleGetFunction, (void **a, void *b, const char *c), (a, b, c))
CALL(18, cuStreamBeginCapture_v2, (void *a, int b), (a, b))
CALL(19, cuStreamEndCapture, (void *a, void **b), (a, b))
CALL(20, cuGraphInstantiateWithFlags, (void **a, void *b, unsigned long long c), (a, b, c))
CALL(21, cuGraphDestroy, (void *a), (a))
CALL(22, cuGraphLaunch, (void *a, void *b), (a, b))
CALL(23, cuGraphExecDestroy, (void *a), (a))
CALL(24, cuMemcpyHtoDAsync_v2, (size_t a, void *b, size_t c, void *d), (a, b, c, d))
CALL(25, cuMemcpyDtoHAsync_v2, (void *a, size_t b, size_t c, void *d), (a, b, c, d))
CALL(26, cuLaunchKernel,
     (void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **parameters, void **extra),
     (f, x, y, z, bx, by, bz, shared, stream, parameters, extra))
CALL(27, cuEventCreate, (void **a, unsigned b), (a, b))
CALL(28, cuEventDestroy_v2, (void *a), (a))
CALL(29, cuEventRecord, (void *a, void *b), (a, b))
CALL(30, cuStreamWaitEvent, (void *a, void *b, unsigned c), (a, b, c))
CALL(31, cuStreamQuery, (void *a), (a))
