package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.graph.pass.TableProducts;
import dev.kastor.engine.tensor.Layout;
import java.lang.foreign.SegmentAllocator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compiles graphs for an NVIDIA GPU of compute capability 7.5 or more.
 *
 * <p>The same graph and inputs give the same bits in every run on one kind of GPU: nothing is
 * summed in an order that is left to chance.
 */
public final class CudaBackend implements Backend {
  private static final Logger LOG = LoggerFactory.getLogger(CudaBackend.class);

  /** The variable that says how much of a GPU's memory the process may take. */
  private static final String CAP = "KASTOR_GPU_MEMORY_MIB";

  private static final int MEBIBYTE_BITS = 20;

  /** Of gradients, which are copied while others are computed. */
  private static final long PIECE_BYTES = 4L << MEBIBYTE_BITS;

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
   * Opens a GPU, on which products are as exact as single precision.
   *
   * @param number of the device, from 0, among those that the process may see
   */
  public static Availability load(int number) {
    return load(number, Precision.FP32);
  }

  /**
   * Opens a GPU.
   *
   * @param number of the device, from 0, among those that the process may see
   * @param precision of products; only NVIDIA's library has others than single precision, which
   *     without a library that works are computed by kernels of our own
   */
  public static Availability load(int number, Precision precision) {
    if (precision != Precision.FP32) {
      return loadWithLibrary(number, precision);
    }
    NativeLibrary library = CublasLt.find();
    Availability loaded = load(number, library, Cudnn.find(), precision);
    if (library == null || loaded instanceof Availability.Available) {
      return loaded;
    }
    Availability without = load(number, null, Cudnn.find(), precision);
    if (without instanceof Availability.Available) {
      LOG.warn("{} is not used: {}", library.name(), ((Availability.Absent) loaded).reason());
    }
    return without;
  }

  /**
   * Opens a GPU whose products are NVIDIA's library's, and whose convolutions are kernels of our
   * own even if there is a library.
   */
  public static Availability loadWithProducts(int number, Precision precision) {
    return loadWithLibrary(number, null, precision);
  }

  /** Opens a GPU whose products are NVIDIA's library's, and its convolutions if it has cuDNN. */
  public static Availability loadWithLibrary(int number, Precision precision) {
    return loadWithLibrary(number, Cudnn.find(), precision);
  }

  private static Availability loadWithLibrary(
      int number, @Nullable NativeLibrary convolutions, Precision precision) {
    NativeLibrary library = CublasLt.find();
    if (library == null) {
      return new Availability.Absent(
          "Products in %s need cuBLASLt, and libcublasLt.so is not found. %s names folders to look in."
              .formatted(precision, NativeLibrary.FOLDERS));
    }
    return load(number, library, convolutions, precision);
  }

  /**
   * Opens a GPU whose convolutions are NVIDIA's library's, and whose products are computed by
   * kernels of our own even if there is a library.
   */
  public static Availability loadWithConvolutions(int number) {
    NativeLibrary library = Cudnn.find();
    return library == null
        ? new Availability.Absent("libcudnn.so is not found.")
        : load(number, null, library, Precision.FP32);
  }

  /** Opens a GPU for which kernels of our own compute everything even if there is a library. */
  public static Availability loadWithoutLibrary(int number) {
    return load(number, null, null, Precision.FP32);
  }

  private static Availability load(
      int number,
      @Nullable NativeLibrary products,
      @Nullable NativeLibrary convolutions,
      Precision precision) {
    return switch (GpuCheck.look()) {
      case GpuCheck.Found.None none -> new Availability.Absent(none.reason());
      case GpuCheck.Found.Devices found when number < 0 || number >= found.devices().size() ->
          new Availability.Absent(
              "There is no GPU %d, only %d.".formatted(number, found.devices().size()));
      case GpuCheck.Found.Devices found when !found.devices().get(number).served() ->
          new Availability.Absent(found.devices().get(number) + " is too old: 7.5 is needed.");
      case GpuCheck.Found.Devices found
          when precision != Precision.FP32 && !found.devices().get(number).roundsOperands() ->
          new Availability.Absent(
              "%s is too old for %s: 8.0 is needed."
                  .formatted(found.devices().get(number), precision));
      case GpuCheck.Found.Devices found ->
          open(number, found.devices().get(number), products, convolutions, precision);
    };
  }

  /** The library of products of this machine, for people; empty if it has none. */
  public static Optional<String> library() {
    return Optional.ofNullable(CublasLt.find()).map(NativeLibrary::name);
  }

  /** The library of convolutions of this machine and its version; empty if it has none. */
  public static Optional<String> convolutionLibrary() {
    return Optional.ofNullable(Cudnn.find()).map(Cudnn::describe);
  }

  private static Availability open(
      int number,
      GpuCheck.Device device,
      @Nullable NativeLibrary products,
      @Nullable NativeLibrary convolutions,
      Precision precision) {
    try {
      return new Availability.Available(
          new CudaBackend(
              JcudaGpu.open(number, device.name(), products, convolutions, precision, capBytes())));
    } catch (IllegalStateException | OutOfGpuMemoryException e) {
      return new Availability.Absent(device + " cannot be used now: " + e.getMessage());
    }
  }

  /** The most that the process may take of a GPU's memory. */
  private static long capBytes() {
    String mebibytes = System.getenv(CAP);
    return mebibytes == null || mebibytes.isEmpty() ? Long.MAX_VALUE : capBytes(mebibytes);
  }

  static long capBytes(String mebibytes) {
    try {
      long count = Long.parseLong(mebibytes);
      if (count >= 1 && count <= Long.MAX_VALUE >> MEBIBYTE_BITS) {
        return count << MEBIBYTE_BITS;
      }
    } catch (NumberFormatException e) {
      // Answered below, like a number that is too small.
    }
    throw new IllegalStateException(
        "%s must be a positive number of MiB but is '%s'.".formatted(CAP, mebibytes));
  }

  @Override
  public String name() {
    return "cuda";
  }

  /** Which GPU and what computes its products and convolutions, for people. */
  public String device() {
    return gpu.name();
  }

  /**
   * All but that of tables: adding values into rows costs too much for it, as each of the sums
   * looks at all numbers of rows, of which a wider table has more.
   */
  @Override
  public boolean pays(GraphPass pass) {
    return !(pass instanceof TableProducts);
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory) {
    return compile(graph, memory, Residence.NONE);
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory, Residence residence) {
    Residents residents = Residents.of(graph.lower(_ -> false), residence);
    return new CudaExecutable(
        gpu,
        new Compilation(residents.graph(), gpu.multiplies(), gpu::convolves, residents.nodes()),
        residents,
        memory,
        PIECE_BYTES);
  }

  @Override
  public Optional<DeviceVector> vector(Layout layout) {
    return CudaVector.of(gpu, layout);
  }
}
