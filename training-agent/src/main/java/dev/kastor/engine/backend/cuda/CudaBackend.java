package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import java.lang.foreign.SegmentAllocator;

/**
 * Compiles graphs for an NVIDIA GPU of compute capability 7.5 or more.
 *
 * <p>The same graph and inputs give the same bits in every run on one kind of GPU: nothing is
 * summed in an order that is left to chance.
 */
public final class CudaBackend implements Backend {
  private final Gpu gpu;

  CudaBackend(Gpu gpu) {
    this.gpu = gpu;
  }

  /** Whether this machine can use the backend. */
  public sealed interface Availability {
    /** It can. */
    record Available(CudaBackend backend) implements Availability {}

    /** It cannot, and why. */
    record Absent(String reason) implements Availability {}
  }

  /**
   * Opens a GPU.
   *
   * @param number of the device, from 0, among those that the process may see
   */
  public static Availability load(int number) {
    return switch (GpuCheck.look()) {
      case GpuCheck.Found.None none -> new Availability.Absent(none.reason());
      case GpuCheck.Found.Devices found when number < 0 || number >= found.devices().size() ->
          new Availability.Absent(
              "There is no GPU %d, only %d.".formatted(number, found.devices().size()));
      case GpuCheck.Found.Devices found when !found.devices().get(number).served() ->
          new Availability.Absent(found.devices().get(number) + " is too old: 7.5 is needed.");
      case GpuCheck.Found.Devices found -> open(number, found.devices().get(number));
    };
  }

  private static Availability open(int number, GpuCheck.Device device) {
    try {
      return new Availability.Available(new CudaBackend(JcudaGpu.open(number, device.name())));
    } catch (IllegalStateException e) {
      return new Availability.Absent(device + " cannot be used now: " + e.getMessage());
    }
  }

  @Override
  public String name() {
    return "cuda";
  }

  /** Which GPU, for people. */
  public String device() {
    return gpu.name();
  }

  /** Each of the sums looks at all numbers of rows, of which a wider table has more. */
  @Override
  public boolean tablesFirst() {
    return false;
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory) {
    Graph primitives = graph.lower(_ -> false);
    return new CudaExecutable(gpu, new Compilation(primitives), primitives.outputs(), memory);
  }
}
