package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** What a step does. */
sealed interface Work {
  /** Computes pure nodes that a backend compiled together. */
  record Compute(Region region) implements Work {
    @Override
    public String toString() {
      return region.toString();
    }
  }

  /** An effect. */
  record Act(Action action, Node node) implements Work {
    @Override
    public String toString() {
      return node.op().name();
    }
  }

  /** Adds to few places of a value, where it lies if nobody else holds it. */
  record Change(Increment increment) implements Work {
    @Override
    public String toString() {
      return increment.name();
    }
  }

  /** Gives on a value that was handed in. */
  record Feed(int index) implements Work {}

  /** Keeps a value for who asked for it. */
  record Fetch(int index) implements Work {}

  /** Gives on its input, if it has one. */
  record Pass() implements Work {}

  /**
   * Gives its first input as result 1 if its second is not 0, else as result 0; the other is dead.
   */
  record Switch() implements Work {}

  /** Gives on the first live input that arrives. */
  record Merge() implements Work {}

  /** Brings a value into a loop: to iteration 0, or to all of them. */
  record Enter(FrameDef loop, boolean invariant, boolean first) implements Work {}

  /** Takes a value out of a loop. */
  record Exit() implements Work {}

  /** Brings a value to the next iteration. */
  record Next() implements Work {}

  /** The number of the next iteration, or 0. */
  record Count(boolean zero) implements Work {}

  /** Begins a history and gives its number. */
  record Begin() implements Work {}

  /** Adds a value, its second input, to a history, its first, and gives that on. */
  record Keep(Node inner, boolean branch) implements Work {}

  /** Takes a value out of a history. */
  record Recall(Node inner) implements Work {}

  /** Whether it is done at once by whoever finds it ready. */
  default boolean isCheap() {
    return !(this instanceof Compute || this instanceof Act || this instanceof Change);
  }

  /** The scalar in a value. */
  static float scalar(@Nullable Value value) {
    if (value == null) {
      throw new IllegalStateException("A scalar is missing.");
    }
    Tensor tensor = value.tensor();
    return switch (tensor.dtype()) {
      case F32 -> tensor.get(0);
      case I32 -> tensor.segment().get(java.lang.foreign.ValueLayout.JAVA_INT, 0);
    };
  }

  /** A new value with a scalar. */
  static Value scalar(Memory memory, Type type, int number) {
    Value value = memory.allocate(type, "A counter");
    switch (type.dtype()) {
      case F32 -> value.tensor().segment().set(java.lang.foreign.ValueLayout.JAVA_FLOAT, 0, number);
      case I32 -> value.tensor().segment().set(java.lang.foreign.ValueLayout.JAVA_INT, 0, number);
    }
    return value;
  }
}
