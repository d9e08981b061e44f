package dev.kastor.engine.exec;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs parts of graphs on one device and keeps the state of resources between runs.
 *
 * <p>A run computes what its fetches need beyond its feeds. Each combination of feeds and fetches
 * is planned and compiled once. Thread-safe: any number of runs may be under way.
 */
public final class Session implements AutoCloseable {
  private record Key(Set<Node> feeds, List<Node> fetches) {}

  private final Backend backend;
  private final Memory memory;
  private final int threads;
  private final ExecutorService pool;
  private final Map<Key, Plan> plans = new HashMap<>();
  private final Map<Resource<?>, Object> states = new ConcurrentHashMap<>();

  /**
   * A session without state.
   *
   * @param capBytes the most memory that values and compiled code take together
   * @param threads that compute at once in a run, at least 1, with the thread that asks for it
   */
  public Session(Backend backend, long capBytes, int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads must be at least 1, got " + threads + ".");
    }
    this.backend = backend;
    this.memory = new Memory(capBytes);
    this.threads = threads;
    this.pool =
        Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name("step-", 0).factory());
  }

  /** Computes nodes from leaves that all have been given before, or that need none. */
  public Results run(List<Node> fetches) throws InterruptedException {
    return run(Map.of(), fetches);
  }

  /**
   * Computes nodes.
   *
   * @param feeds values of leaves, or of any other nodes; read until this returns
   * @param fetches nodes; those without a result take place and have no value
   * @throws MemoryCapException if a node needs more memory than is left; the session lives on
   * @throws IllegalArgumentException if the value of a leaf is missing or has another type
   * @throws InterruptedException if this thread is interrupted; what was begun has ended
   */
  public Results run(Map<Node, Tensor> feeds, List<Node> fetches) throws InterruptedException {
    Plan plan = plan(new Key(Set.copyOf(feeds.keySet()), List.copyOf(fetches)));
    List<Value> values = new ArrayList<>();
    for (Node node : plan.feeds()) {
      values.add(Value.borrowed(checked(node, feeds.get(node))));
    }
    return new Results(new Run(plan, memory, surroundings(), pool, threads - 1, values).run());
  }

  private static Tensor checked(Node node, @Nullable Tensor tensor) {
    if (tensor == null
        || !tensor.shape().equals(node.shape())
        || tensor.dtype() != node.type().dtype()) {
      throw new IllegalArgumentException(
          "%s was fed %s.".formatted(node, tensor == null ? "nothing" : tensor.shape()));
    }
    return tensor;
  }

  private Plan plan(Key key) {
    synchronized (plans) {
      return plans.computeIfAbsent(
          key, _ -> Lowering.plan(backend, memory, List.copyOf(key.feeds()), key.fetches()));
    }
  }

  private Surroundings surroundings() {
    return new Surroundings() {
      @Override
      public Memory memory() {
        return memory;
      }

      @Override
      public <S> S state(Resource<S> resource, Supplier<S> first) {
        return resource.kind().cast(states.computeIfAbsent(resource, _ -> first.get()));
      }
    };
  }

  /** The memory of the device. */
  public Memory memory() {
    return memory;
  }

  /** Frees all memory and state; no run may be under way. */
  @Override
  public void close() {
    pool.close();
    plans.values().forEach(Plan::close);
    memory.close();
  }
}
