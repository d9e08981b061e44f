package dev.kastor.engine.backend.cuda;

import jcuda.driver.CUdeviceptr;

/** A device pointer made of a number: JCuda has none, but its pointers have offsets. */
final class DeviceAddress extends CUdeviceptr {
  DeviceAddress(long value) {
    super(new CUdeviceptr(), value);
  }

  DeviceAddress(CUdeviceptr pointer) {
    super(pointer);
  }

  long value() {
    return getNativePointer() + getByteOffset();
  }
}
