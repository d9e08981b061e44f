package dev.kastor.engine.backend.cuda;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NVIDIA's libraries as far as a GPU uses them, and the memory on it that they share. */
final class Libraries {
  private static final Logger LOG = LoggerFactory.getLogger(Libraries.class);

  /** What a library may use for one task, and at most this share of the GPU's memory. */
  private static final long WORKSPACE_BYTES = 32L << 20;

  private static final long WORKSPACE_SHARE = 64;

  private final Precision precision;
  private final @Nullable CublasLt products;
  private final @Nullable Cudnn convolutions;
  private final long workspaceBytes;
  private final long workspace;

  private Libraries(
      Precision precision,
      @Nullable CublasLt products,
      @Nullable Cudnn convolutions,
      long workspaceBytes,
      long workspace) {
    this.precision = precision;
    this.products = products;
    this.convolutions = convolutions;
    this.workspaceBytes = workspaceBytes;
    this.workspace = workspace;
  }

  /**
   * Opens libraries for the current context. One of convolutions that refuses is done without.
   *
   * @param products that of products, if it is to be used
   * @param convolutions that of convolutions, if it is to be used
   * @param gpu on which they get memory
   * @param totalBytes of the GPU's memory
   * @throws IllegalStateException if the library of products refuses
   * @throws OutOfGpuMemoryException if there is not what they need
   */
  static Libraries open(
      @Nullable NativeLibrary products,
      @Nullable NativeLibrary convolutions,
      Precision precision,
      Gpu gpu,
      long totalBytes) {
    CublasLt multiplying = products == null ? null : CublasLt.open(products);
    Cudnn convolving = convolutions == null ? null : openOrWarn(convolutions);
    if (multiplying == null && convolving == null) {
      return new Libraries(precision, null, null, 0, 0);
    }
    long bytes = Math.min(WORKSPACE_BYTES, totalBytes / WORKSPACE_SHARE);
    try {
      return new Libraries(precision, multiplying, convolving, bytes, gpu.allocate(bytes));
    } catch (RuntimeException e) {
      if (convolving != null) {
        convolving.close();
      }
      throw e;
    }
  }

  private static @Nullable Cudnn openOrWarn(NativeLibrary library) {
    try {
      return Cudnn.open(library);
    } catch (IllegalStateException e) {
      LOG.warn("{} is not used: {}", library.name(), e.getMessage());
      return null;
    }
  }

  /** For people: what computes products and convolutions. */
  String names() {
    String multiplying =
        products == null
            ? "products by kernels of its own"
            : "products in %s by %s".formatted(precision, products.name());
    return convolutions == null
        ? multiplying
        : "%s, convolutions by %s".formatted(multiplying, convolutions.name());
  }

  /** Whether there is one of products. */
  boolean multiplies() {
    return products != null;
  }

  /** Whether there is one of convolutions that has an algorithm for this. */
  boolean convolves(Correlation correlation) {
    if (convolutions == null) {
      return false;
    }
    try (LibraryPlan _ = convolutions.plan(correlation, precision, workspaceBytes)) {
      return true;
    } catch (IllegalStateException e) {
      LOG.debug("A convolution stays with a kernel of our own: {}", e.getMessage());
      return false;
    }
  }

  /**
   * Prepares a product.
   *
   * @param alignment of all addresses, in bytes
   */
  LibraryPlan plan(Gemm gemm, int alignment) {
    return Objects.requireNonNull(products, "There is no library for products.")
        .plan(gemm, precision, workspaceBytes, alignment);
  }

  /** Prepares a convolution that {@link #convolves} was true for. */
  LibraryPlan plan(Correlation correlation) {
    return Objects.requireNonNull(convolutions, "There is no library for convolutions.")
        .plan(correlation, precision, workspaceBytes);
  }

  /** Address of what they share. */
  long workspace() {
    return workspace;
  }
}
