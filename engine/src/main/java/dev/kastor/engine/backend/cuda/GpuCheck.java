package dev.kastor.engine.backend.cuda;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/** What the NVIDIA driver of this machine says. */
public final class GpuCheck {
  private static final int NAME_BYTES = 256;

  private GpuCheck() {}

  /** What was found. */
  public sealed interface Found {
    /**
     * GPUs, perhaps of no use.
     *
     * @param driver the newest CUDA that the driver serves, such as 12.6
     */
    record Devices(String driver, List<Device> devices) implements Found {
      public Devices {
        devices = List.copyOf(devices);
      }
    }

    /** No GPU, and why. */
    record None(String reason) implements Found {}
  }

  /**
   * One GPU.
   *
   * @param major and {@code minor} are its compute capability
   * @param bytes of memory
   */
  public record Device(String name, int major, int minor, long bytes) {
    /** Whether kernels can be compiled for it. */
    public boolean served() {
      return major > 7 || (major == 7 && minor >= 5);
    }

    /** Whether its tensor cores take operands in TF32 and bfloat16. */
    public boolean roundsOperands() {
      return major >= 8;
    }

    @Override
    public String toString() {
      return "%s (compute capability %d.%d, %.1f GiB)"
          .formatted(name, major, minor, bytes / (double) (1L << 30));
    }
  }

  /** Asks the driver; never fails. */
  public static Found look() {
    try {
      JCudaDriver.setExceptionsEnabled(false);
      int result = JCudaDriver.cuInit(0);
      if (result == CUresult.CUDA_ERROR_NO_DEVICE) {
        return new Found.None("There is an NVIDIA driver, but no GPU that this process may use.");
      }
      check("cuInit", result);
      int[] version = new int[1];
      check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
      int[] count = new int[1];
      check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
      List<Device> devices = new ArrayList<>();
      for (int i = 0; i < count[0]; i++) {
        devices.add(device(i));
      }
      String driver = "%d.%d".formatted(version[0] / 1000, version[0] % 1000 / 10);
      return devices.isEmpty()
          ? new Found.None("There is an NVIDIA driver, but no GPU that this process may use.")
          : new Found.Devices(driver, devices);
    } catch (LinkageError e) {
      String said = String.valueOf(e.getMessage());
      return new Found.None(
          said.contains("libcuda")
              ? "There is no NVIDIA driver here: libcuda.so.1 does not load."
              : "JCuda does not load on this machine: " + said);
    } catch (IllegalStateException e) {
      return new Found.None("The NVIDIA driver does not work: " + e.getMessage());
    }
  }

  private static Device device(int number) {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, number));
    byte[] name = new byte[NAME_BYTES];
    check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(name, name.length, device));
    long[] bytes = new long[1];
    check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(bytes, device));
    int length = 0;
    while (length < name.length && name[length] != 0) {
      length++;
    }
    return new Device(
        new String(name, 0, length, StandardCharsets.UTF_8),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        bytes[0]);
  }

  private static int attribute(CUdevice device, int which) {
    int[] value = new int[1];
    check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, which, device));
    return value[0];
  }

  /**
   * Refuses any result but success.
   *
   * @param call of the driver, for people
   * @throws IllegalStateException with the name of the error
   */
  static void check(String call, int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw new IllegalStateException(call + " says " + CUresult.stringFor(result) + ".");
    }
  }
}
