package dev.kastor.engine.train;

import dev.kastor.engine.nn.ElementwiseUpdate;
import dev.kastor.engine.tensor.Layout;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Rule that turns a gradient into an update of the parameters; deterministic to the bit. */
public interface Optimizer {
  /** Its name, such as {@code sgd} or {@code adam}. */
  String name();

  /**
   * Vectors of its state by name, with their lengths; all start as zeros. Their order does not
   * matter: states hold them in the order of their names.
   *
   * @param layout of the parameters
   */
  SequencedMap<String, Integer> slots(Layout layout);

  /** Updates parameters and slots in place. */
  void apply(Update update);

  /**
   * The same update as a graph, element by element, for devices that keep the parameters; empty if
   * it has none, and then the host updates them. It rounds as {@link #apply} does.
   */
  default Optional<ElementwiseUpdate> elementwise() {
    return Optional.empty();
  }

  /**
   * True if it has no slots and leaves a parameter whose gradient is zero as it is. An update of
   * some rows of a table then costs nothing for the others.
   */
  default boolean skipsZeros() {
    return false;
  }

  /** New slots in the order of their names, which is the same in all processes. */
  default SequencedMap<String, float[]> newSlots(Layout layout) {
    SequencedMap<String, float[]> slots = new TreeMap<>();
    slots(layout).forEach((name, length) -> slots.put(name, new float[length]));
    return slots;
  }
}
