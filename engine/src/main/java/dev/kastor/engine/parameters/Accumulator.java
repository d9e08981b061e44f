package dev.kastor.engine.parameters;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Resource;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where gradients of workers become one, step by step; equal only to itself.
 *
 * <p>Each worker adds what it computed from the variables as they were at a step. As soon as enough
 * have come they are taken, and the step is over: whoever comes late for it is dropped, so that a
 * few workers more than needed hide the slowest (Chen et al., "Revisiting Distributed Synchronous
 * SGD", 2016, section 3).
 */
public final class Accumulator implements Resource<AccumulatorState> {
  /** The type of a step's number. */
  public static final Type STEP = new Type(Shape.of(), DType.I32);

  private final String label;
  private final List<Type> types;

  /**
   * An accumulator that begins with step 0 in each session.
   *
   * @param types of the gradients that belong together, 32-bit floats
   */
  public Accumulator(String label, List<Type> types) {
    this.label = label;
    this.types = List.copyOf(types);
  }

  /**
   * Waits until a step has begun that comes after another; gives its number.
   *
   * @param last the number of the other step, -1 for none
   */
  public Node begun(Node last, Node... after) {
    return Node.of(new Begun(this), List.of(last), List.of(after));
  }

  /** Adds gradients for a step; gives 1, or 0 if they came too late. */
  public Node add(Node step, List<Node> gradients, Node... after) {
    List<Node> inputs = new ArrayList<>(List.of(step));
    inputs.addAll(gradients);
    return Node.of(new Add(this), inputs, List.of(after));
  }

  /**
   * Waits until so many have been added; gives the mean of each gradient. The step takes no more.
   *
   * @param needed at least 1
   */
  public Node take(int needed, Node... after) {
    if (needed < 1) {
      throw new IllegalArgumentException("needed must be at least 1, got " + needed + ".");
    }
    return Node.of(new Take(this, needed), List.of(), List.of(after));
  }

  /** Begins the next step, once what was taken has been used. Has no result. */
  public Node next(Node... after) {
    return Node.of(new Next(this), List.of(), List.of(after));
  }

  @Override
  public Class<AccumulatorState> kind() {
    return AccumulatorState.class;
  }

  @Override
  public String toString() {
    return label;
  }

  private AccumulatorState state(Surroundings surroundings) {
    return surroundings.state(this, AccumulatorState::new);
  }

  private static int step(Value value) {
    return value.tensor().segment().get(ValueLayout.JAVA_INT, 0);
  }

  /** What all actions have in common. */
  private interface Use extends Action {
    Accumulator accumulator();

    @Override
    default Optional<Resource<?>> resource() {
      return Optional.of(accumulator());
    }
  }

  private record Begun(Accumulator accumulator) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(STEP))) {
        throw new ShapeException(this, "the number of a step", inputs);
      }
      return List.of(STEP);
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings)
        throws InterruptedException {
      int step = accumulator.state(surroundings).begunAfter(step(inputs.getFirst()));
      Value result = surroundings.memory().allocate(STEP, this);
      result.tensor().segment().set(ValueLayout.JAVA_INT, 0, step);
      return List.of(result);
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Step of " + accumulator;
    }
  }

  private record Add(Accumulator accumulator) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      boolean fits =
          !inputs.isEmpty()
              && inputs.getFirst().equals(STEP)
              && inputs.subList(1, inputs.size()).equals(accumulator.types);
      if (!fits) {
        throw new ShapeException(this, "a step and gradients of " + accumulator.types, inputs);
      }
      return List.of(Type.f32());
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      boolean counted =
          accumulator
              .state(surroundings)
              .add(
                  step(inputs.getFirst()),
                  inputs.subList(1, inputs.size()),
                  surroundings.memory(),
                  this);
      Value result = surroundings.memory().allocate(Type.f32(), this);
      result.tensor().segment().set(ValueLayout.JAVA_FLOAT, 0, counted ? 1 : 0);
      return List.of(result);
    }

    @Override
    public String name() {
      return "Add to " + accumulator;
    }
  }

  private record Take(Accumulator accumulator, int needed) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      return accumulator.types;
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings)
        throws InterruptedException {
      return accumulator.state(surroundings).take(needed);
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Take from " + accumulator;
    }
  }

  private record Next(Accumulator accumulator) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      accumulator.state(surroundings).next();
      return List.of();
    }

    @Override
    public String name() {
      return "Next step of " + accumulator;
    }
  }
}
