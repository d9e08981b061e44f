package dev.kastor.engine.resource;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Resource;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.Optional;

/**
 * A tensor of 32-bit floats that outlives runs; equal only to itself.
 *
 * <p>Each operation on it is atomic. What was read stays as it was when somebody writes: the writer
 * copies it first unless nobody else holds it. Nodes of one graph that must see each other's writes
 * say what they come after.
 */
public final class Variable implements Resource<VariableState> {
  /** The number that stands for no row. */
  public static final int NO_ROW = -1;

  private final String label;
  private final Type type;
  private final float[] initial;

  /**
   * A variable that begins with these values in each session.
   *
   * @param initial as many as the shape has elements; copied
   */
  public Variable(String label, Shape shape, float[] initial) {
    if (initial.length != shape.elements()) {
      throw new IllegalArgumentException(
          "Variable %s of shape %s cannot begin with %d values."
              .formatted(label, shape, initial.length));
    }
    this.label = label;
    this.type = Type.f32(shape);
    this.initial = initial.clone();
  }

  /** Its type, for all of its life. */
  public Type type() {
    return type;
  }

  /** Its value after some nodes have taken place. */
  public Node read(Node... after) {
    return Node.of(new Read(this), List.of(), List.of(after));
  }

  /** Sets it to a value; gives the value. */
  public Node assign(Node value, Node... after) {
    return Node.of(new Assign(this), List.of(value), List.of(after));
  }

  /** Adds to it; gives the sum. */
  public Node addAndRead(Node delta, Node... after) {
    return Node.of(new Add(this), List.of(delta), List.of(after));
  }

  /**
   * Adds rows {@code [.., width]} to those of this {@code [rows, width]} with the numbers {@code
   * [..]}, touching no others; rows for {@link #NO_ROW} are left out. Has no result.
   */
  public Node addRows(Node rows, Node numbers, Node... after) {
    return Node.of(new AddRows(this), List.of(rows, numbers), List.of(after));
  }

  @Override
  public Class<VariableState> kind() {
    return VariableState.class;
  }

  @Override
  public String toString() {
    return label + type;
  }

  private VariableState state(Surroundings surroundings) {
    return surroundings.state(this, () -> begin(surroundings.memory()));
  }

  private VariableState begin(Memory memory) {
    Value value = memory.allocate(type, this);
    value.tensor().write(initial, 0);
    return new VariableState(value);
  }

  private record Read(Variable variable) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(variable);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(variable.type);
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      return List.of(variable.state(surroundings).read());
    }

    @Override
    public String name() {
      return "Read " + variable.label;
    }
  }

  private record Assign(Variable variable) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(variable);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(variable.required(this, inputs));
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      Value next = inputs.getFirst().keep(surroundings.memory(), this);
      return List.of(variable.state(surroundings).assign(next));
    }

    @Override
    public String name() {
      return "Assign " + variable.label;
    }
  }

  private record Add(Variable variable) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(variable);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(variable.required(this, inputs));
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      return List.of(
          variable.state(surroundings).add(inputs.getFirst(), surroundings.memory(), this));
    }

    @Override
    public String name() {
      return "Add to " + variable.label;
    }
  }

  private record AddRows(Variable variable) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(variable);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      boolean fits = inputs.size() == 2 && variable.type.shape().rank() == 2;
      if (fits) {
        Type rows = inputs.get(0);
        Type numbers = inputs.get(1);
        fits =
            rows.dtype() == DType.F32
                && numbers.dtype() == DType.I32
                && rows.shape().rank() > 0
                && rows.shape().extent(-1) == variable.type.shape().extent(1)
                && rows.shape().elements()
                    == numbers.shape().elements() * variable.type.shape().extent(1);
      }
      if (!fits) {
        throw new ShapeException(this, "rows and I32 numbers for " + variable.type, inputs);
      }
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      variable
          .state(surroundings)
          .addRows(inputs.get(0), inputs.get(1), surroundings.memory(), this);
      return List.of();
    }

    @Override
    public String name() {
      return "Add rows to " + variable.label;
    }
  }

  private Type required(Action op, List<Type> inputs) {
    if (inputs.size() != 1 || !inputs.getFirst().equals(type)) {
      throw new ShapeException(op, "a value of " + type, inputs);
    }
    return type;
  }
}
