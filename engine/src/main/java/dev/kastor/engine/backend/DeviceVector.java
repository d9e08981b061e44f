package dev.kastor.engine.backend;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;

/**
 * Vector of floats in the memory of a device, which graphs compiled for that device read and write
 * where it lies; zeros at first.
 *
 * <p>Its tensors are apart from each other there, as each begins at {@link
 * dev.kastor.engine.tensor.Tensor#ALIGNMENT}. One thread at a time, and none while a graph runs.
 */
public interface DeviceVector extends AutoCloseable {
  /** Its tensors, side by side in the host's memory. */
  Layout layout();

  /** The place of one of the layout's tensors. */
  Place tensor(int entry);

  /**
   * The place of all of them, with zeros between and behind them, as {@code [rows, width]}: the
   * same shape and order for all vectors of one layout.
   */
  Place whole();

  /** Copies all values from the host. */
  void write(float[] values);

  /** Copies all values to the host. */
  void read(float[] values);

  /** Gives the memory back; graphs that use it are closed before. */
  @Override
  void close();

  /** Stretch of a device's memory in which a leaf or an output of a graph may lie. */
  interface Place {
    /** The shape of what lies there. */
    Shape shape();
  }
}
