package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;

/**
 * Costs by counted work: arithmetic for products and convolutions, bytes for all else.
 *
 * @param flopsPerSecond of a device
 * @param bytesPerSecond that a device reads and writes
 * @param linkBytesPerSecond between devices
 * @param linkSeconds before the first byte arrives
 */
public record RoughCosts(
    double flopsPerSecond, double bytesPerSecond, double linkBytesPerSecond, double linkSeconds)
    implements Costs {
  /** A core of a server, and a network of 10 Gbit/s. */
  public static final RoughCosts TYPICAL = new RoughCosts(5e10, 1e10, 1.25e9, 5e-5);

  @Override
  public double seconds(Node node, Device device) {
    double bytes = 0;
    for (Node input : node.inputs()) {
      bytes += bytes(input);
    }
    return flops(node) / flopsPerSecond + (bytes + bytes(node)) / bytesPerSecond;
  }

  @Override
  public double seconds(long bytes, Device from, Device to) {
    return from.equals(to) ? 0 : linkSeconds + bytes / linkBytesPerSecond;
  }

  /** Bytes of all results. */
  static long bytes(Node node) {
    long bytes = 0;
    for (Type type : node.types()) {
      bytes += (long) type.shape().elements() * type.dtype().bytes();
    }
    return bytes;
  }

  private static double flops(Node node) {
    return switch (node.op()) {
      case Primitive.MatMul product -> {
        Shape left = node.input(0).shape();
        int inner = left.extent(product.transposeLeft() ? -2 : -1);
        yield 2.0 * inner * node.shape().elements();
      }
      case Primitive.Convolution _ -> {
        Shape kernel = node.input(1).shape();
        yield 2.0 * kernel.elements(0, 3) * node.shape().elements();
      }
      default -> 0;
    };
  }
}
