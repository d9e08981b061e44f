package dev.kastor.engine.tensor;

import java.util.ArrayList;
import java.util.List;

/**
 * Layout of a flat vector: tensors side by side, without holes, in the order of the forward pass.
 *
 * @param entries the first begins at 0, each other where the one before it ends
 */
public record Layout(List<Entry> entries) {
  /** The most elements of a vector: a few less than 2^31, as arrays of the JVM have. */
  public static final int MOST_ELEMENTS = Integer.MAX_VALUE - 8;

  /**
   * Tensor of a layout.
   *
   * @param name of the variable that it is in the network, such as {@code hidden0.weight}
   * @param offset of its first element in the vector
   */
  public record Entry(String name, Shape shape, int offset) {
    /** The layer that it belongs to: its name without the last part, as {@code hidden0}. */
    public String layer() {
      int dot = name.lastIndexOf('.');
      return dot < 0 ? name : name.substring(0, dot);
    }

    /** Offset behind its last element. */
    public int end() {
      return offset + shape.elements();
    }
  }

  public Layout {
    entries = List.copyOf(entries);
    int end = 0;
    for (Entry entry : entries) {
      if (entry.offset() != end) {
        throw new IllegalArgumentException(
            "%s begins at %d and not at %d".formatted(entry.name(), entry.offset(), end));
      }
      end = entry.end();
    }
  }

  /**
   * The layout of tensors in their order.
   *
   * @param names one for each shape; two may be equal
   * @throws IllegalArgumentException if they have more than {@link #MOST_ELEMENTS} together
   */
  public static Layout of(List<String> names, List<Shape> shapes) {
    long elements = shapes.stream().mapToLong(Shape::elements).sum();
    if (elements > MOST_ELEMENTS) {
      throw new IllegalArgumentException(
          "The network has %d parameters or statistics in all, and a vector holds at most %d (2^31 - 9). Make its layers narrower or fewer."
              .formatted(elements, MOST_ELEMENTS));
    }
    List<Entry> entries = new ArrayList<>();
    int end = 0;
    for (int i = 0; i < names.size(); i++) {
      entries.add(new Entry(names.get(i), shapes.get(i), end));
      end = entries.getLast().end();
    }
    return new Layout(entries);
  }

  /** The layout of a vector of which no more is known than its length. */
  public static Layout of(String name, int elements) {
    return elements == 0 ? new Layout(List.of()) : of(List.of(name), List.of(Shape.of(elements)));
  }

  /** Length of the vector. */
  public int elements() {
    return entries.isEmpty() ? 0 : entries.getLast().end();
  }
}
