package dev.kastor.engine.resource;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Resource;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A queue of tuples of tensors, first in first out, between concurrent runs; equal only to itself.
 *
 * <p>Who adds to a full queue or takes from an empty one waits.
 */
public final class TensorQueue implements Resource<QueueState> {
  private final String label;
  private final List<Type> types;
  private final int capacity;

  /**
   * A queue that begins empty in each session.
   *
   * @param types of each tuple's tensors
   * @param capacity in tuples, at least 1
   */
  public TensorQueue(String label, List<Type> types, int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "The capacity of queue %s must be at least 1, got %d.".formatted(label, capacity));
    }
    this.label = label;
    this.types = List.copyOf(types);
    this.capacity = capacity;
  }

  /** Adds a tuple; has no result. */
  public Node enqueue(List<Node> tuple, Node... after) {
    return Node.of(new Enqueue(this), tuple, List.of(after));
  }

  /** Takes the oldest tuple: a result for each of its tensors. */
  public Node dequeue(Node... after) {
    return Node.of(new Dequeue(this), List.of(), List.of(after));
  }

  /**
   * Says that nothing is added any more: those who wait for more fail with {@link
   * QueueClosedException}, now or when the queue is empty. Has no result.
   */
  public Node close(Node... after) {
    return Node.of(new Close(this), List.of(), List.of(after));
  }

  @Override
  public Class<QueueState> kind() {
    return QueueState.class;
  }

  @Override
  public String toString() {
    return label;
  }

  private QueueState state(Surroundings surroundings) {
    return surroundings.state(this, () -> new QueueState(label, capacity));
  }

  private record Enqueue(TensorQueue queue) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(queue);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(queue.types)) {
        throw new ShapeException(this, "a tuple of " + queue.types, inputs);
      }
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings)
        throws InterruptedException {
      List<Value> kept = new ArrayList<>();
      try {
        for (Value input : inputs) {
          kept.add(input.keep(surroundings.memory(), this));
        }
        queue.state(surroundings).add(kept);
        kept.clear();
      } finally {
        kept.forEach(Value::release);
      }
      return List.of();
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Enqueue to " + queue.label;
    }
  }

  private record Dequeue(TensorQueue queue) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(queue);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      return queue.types;
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings)
        throws InterruptedException {
      return queue.state(surroundings).take();
    }

    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Dequeue from " + queue.label;
    }
  }

  private record Close(TensorQueue queue) implements Action {
    @Override
    public Optional<Resource<?>> resource() {
      return Optional.of(queue);
    }

    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      queue.state(surroundings).close();
      return List.of();
    }

    @Override
    public String name() {
      return "Close " + queue.label;
    }
  }
}
