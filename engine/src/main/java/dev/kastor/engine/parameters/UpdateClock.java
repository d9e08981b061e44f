package dev.kastor.engine.parameters;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Resource;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * Counts updates of shared variables and how stale each was: how many others came between the
 * reading of the variables and the update that was computed from them. Equal only to itself.
 */
public final class UpdateClock implements Resource<UpdateClockState> {
  private final String label;

  /** A clock that begins at 0 in each session. */
  public UpdateClock(String label) {
    this.label = label;
  }

  /** How many updates there have been, as the number of a {@linkplain Accumulator#STEP step}. */
  public Node now(Node... after) {
    return Node.of(new Now(this), List.of(), List.of(after));
  }

  /** Counts an update from variables that were read at a time; gives its staleness. */
  public Node tick(Node read, Node... after) {
    return Node.of(new Tick(this), List.of(read), List.of(after));
  }

  /**
   * How many updates had each staleness, from 0.
   *
   * @param most the staleness that stands for all greater ones as well
   */
  public Node histogram(int most, Node... after) {
    return Node.of(new Histogram(this, most), List.of(), List.of(after));
  }

  @Override
  public Class<UpdateClockState> kind() {
    return UpdateClockState.class;
  }

  @Override
  public String toString() {
    return label;
  }

  private UpdateClockState state(Surroundings surroundings) {
    return surroundings.state(this, UpdateClockState::new);
  }

  private static Value scalar(Surroundings surroundings, Action who, int number) {
    Value value = surroundings.memory().allocate(Accumulator.STEP, who);
    value.tensor().segment().set(ValueLayout.JAVA_INT, 0, number);
    return value;
  }

  /** What all actions have in common. */
  private interface Use extends Action {
    UpdateClock clock();

    @Override
    default Optional<Resource<?>> resource() {
      return Optional.of(clock());
    }
  }

  private record Now(UpdateClock clock) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(Accumulator.STEP);
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      return List.of(scalar(surroundings, this, clock.state(surroundings).now()));
    }

    @Override
    public String name() {
      return "Time of " + clock;
    }
  }

  private record Tick(UpdateClock clock) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(Accumulator.STEP))) {
        throw new ShapeException(this, "a time", inputs);
      }
      return List.of(Accumulator.STEP);
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      int read = inputs.getFirst().tensor().segment().get(ValueLayout.JAVA_INT, 0);
      return List.of(scalar(surroundings, this, clock.state(surroundings).tick(read)));
    }

    @Override
    public String name() {
      return "Update at " + clock;
    }
  }

  private record Histogram(UpdateClock clock, int most) implements Use {
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(Type.f32(most + 1));
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      Value value = surroundings.memory().allocate(Type.f32(most + 1), this);
      value.tensor().write(clock.state(surroundings).histogram(most), 0);
      return List.of(value);
    }

    @Override
    public String name() {
      return "Staleness of " + clock;
    }
  }
}
