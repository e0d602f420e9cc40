"""As much of OpenCL as calling a library on a device takes."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
from protocol import is_gpu

from libraries import Missing

DEVICE_TYPE_CPU, DEVICE_TYPE_GPU = 1 << 1, 1 << 2
DEVICE_NAME = 0x102B
READ_WRITE = 1
BLOCKING = 1


def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Missing(f"{names[0]} is not installed")


class Queue:
    """A queue on the OpenCL device that is, or is most like, the one programs run on."""

    def __init__(self, question):
        self.cl = library("libOpenCL.so.1", "libOpenCL.so")
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
            getattr(self.cl, name).restype = c_void_p
        device = c_void_p(self.device(question))
        status = c_int()
        self.context = self.cl.clCreateContext(None, 1, byref(device), None, None, byref(status))
        self.check(status.value)
        self.handle = c_void_p(
            self.cl.clCreateCommandQueue(
                c_void_p(self.context), device, c_uint64(0), byref(status)
            )
        )
        self.check(status.value)

    def device(self, question):
        kind = DEVICE_TYPE_GPU if is_gpu(question) else DEVICE_TYPE_CPU
        found = [device for platform in self.platforms() for device in self.devices(platform, kind)]
        if not found:
            raise Missing("OpenCL has no such device")
        same = [device for device in found if self.name(device) == question["device"]["name"]]
        return (same or found)[0]

    def platforms(self):
        count = c_uint()
        if self.cl.clGetPlatformIDs(0, None, byref(count)) != 0:
            raise Missing("OpenCL has no platform")
        ids = (c_void_p * count.value)()
        self.check(self.cl.clGetPlatformIDs(count, ids, None))
        return list(ids)

    def devices(self, platform, kind):
        count = c_uint()
        if self.cl.clGetDeviceIDs(c_void_p(platform), c_uint64(kind), 0, None, byref(count)) != 0:
            return []
        ids = (c_void_p * count.value)()
        self.check(self.cl.clGetDeviceIDs(c_void_p(platform), c_uint64(kind), count, ids, None))
        return list(ids)

    def name(self, device):
        text = ctypes.create_string_buffer(1024)
        self.check(
            self.cl.clGetDeviceInfo(c_void_p(device), DEVICE_NAME, c_size_t(1024), text, None)
        )
        return c_char_p(text.raw).value.decode()

    def buffer(self, values):
        """A buffer on the device that holds an array."""
        values, status = np.ascontiguousarray(values), c_int()
        made = self.cl.clCreateBuffer(
            c_void_p(self.context), c_uint64(READ_WRITE), c_size_t(values.nbytes), None, byref(status)
        )
        self.check(status.value)
        self.move(self.cl.clEnqueueWriteBuffer, made, values)
        return c_void_p(made)

    def read(self, buffer, shape):
        values = np.empty(shape, np.float32)
        self.move(self.cl.clEnqueueReadBuffer, buffer.value, values)
        return values

    def move(self, function, buffer, values):
        self.check(
            function(
                self.handle, c_void_p(buffer), BLOCKING, c_size_t(0), c_size_t(values.nbytes),
                values.ctypes.data_as(c_void_p), 0, None, None,
            )
        )

    def finish(self):
        self.check(self.cl.clFinish(self.handle))

    def check(self, status):
        if status != 0:
            raise Missing(f"OpenCL failed with status {status}")
