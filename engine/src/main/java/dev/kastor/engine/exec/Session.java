package dev.kastor.engine.exec;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Tensor;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Executor of graphs, or of parts of them, on one device.
 *
 * <p>A run computes what its fetches need beyond its feeds. Each combination of feeds and fetches
 * is planned and compiled once. Thread-safe: any number of runs may be under way.
 */
public final class Session implements GraphExecutor {
  private record Key(Set<Node> feeds, List<Node> fetches) {
    Key {
      feeds = Set.copyOf(feeds);
      fetches = List.copyOf(fetches);
    }
  }

  private final Backend backend;
  private final Memory memory;
  private final int threads;
  private final @Nullable Path spillTo;
  private final ExecutorService pool;
  private final Map<Key, Plan> plans = new HashMap<>();
  private final AtomicLong runs = new AtomicLong();

  /**
   * A session over memory of its own.
   *
   * @param capBytes the most memory that values and compiled code take together
   * @param threads that compute at once in a run, at least 1, with the thread that asks for it
   */
  public Session(Backend backend, long capBytes, int threads) {
    this(backend, capBytes, threads, null);
  }

  /**
   * A session over memory of its own.
   *
   * @param spillTo a folder for what loops keep for their gradients, once that and all else takes
   *     half of the cap; null to keep it in memory
   */
  public Session(Backend backend, long capBytes, int threads, @Nullable Path spillTo) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads must be at least 1, got " + threads + ".");
    }
    this.backend = backend;
    this.memory = new Memory(capBytes);
    this.threads = threads;
    this.spillTo = spillTo;
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
    return run("run " + runs.incrementAndGet(), feeds, fetches, Fetched.NOBODY);
  }

  /**
   * Computes nodes in a run that has parts elsewhere.
   *
   * @param run what the parts are known by to each other; no other run has the same
   * @param listener told by this thread of values as they are there
   * @see #run(Map, List)
   */
  public Results run(String run, Map<Node, Tensor> feeds, List<Node> fetches, Fetched listener)
      throws InterruptedException {
    Map<Node, Value> values = new HashMap<>();
    feeds.forEach((node, tensor) -> values.put(node, Value.borrowed(checked(node, tensor))));
    return new Results(run(plan(new Key(feeds.keySet(), fetches)), run, values, listener));
  }

  /**
   * Makes a graph ready to run with inputs that have fixed places in the memory of this session. A
   * pure one is compiled as a whole, and its runs cost no step more than that; any other is run
   * step by step, and nothing of it stays in vectors of the device.
   */
  @Override
  public Executable compile(Graph graph, Residence residence) {
    if (graph.isPure()) {
      return memory.compile(backend, graph, residence, Region.name(graph));
    }
    if (!residence.equals(Residence.NONE)) {
      throw new IllegalArgumentException(
          "A graph with control flow or effects has its inputs and outputs on the host.");
    }
    Memory.Lasting inputs = memory.lasting("An input of " + Region.name(graph));
    Set<Node> feeds = Set.copyOf(graph.leaves());
    Runnable free =
        () -> {
          forget(feeds, graph.outputs());
          inputs.close();
        };
    try {
      return new PlannedExecutable(
          graph,
          (values, finished) ->
              run("run " + runs.incrementAndGet(), values, graph.outputs(), finished),
          leaf -> inputs.allocate(PlannedExecutable.bytes(leaf), Tensor.ALIGNMENT),
          free);
    } catch (RuntimeException | Error e) {
      free.run();
      throw e;
    }
  }

  @Override
  public Optional<DeviceVector> vector(Layout layout) {
    return backend.vector(layout);
  }

  @Override
  public boolean pays(GraphPass pass) {
    return backend.pays(pass);
  }

  /**
   * Computes nodes as values that are held until the caller releases them.
   *
   * @param feeds held by the caller until this returns
   * @param fetches nodes with one result
   */
  public List<Value> values(Map<Node, Value> feeds, List<Node> fetches)
      throws InterruptedException {
    return held(run(plan(new Key(feeds.keySet(), fetches)), feeds));
  }

  /** The same for a combination that does not come again: nothing is kept of its plan. */
  public List<Value> valuesOnce(Map<Node, Value> feeds, List<Node> fetches)
      throws InterruptedException {
    Plan plan = Lowering.plan(backend, memory, List.copyOf(feeds.keySet()), fetches);
    try {
      return held(run(plan, feeds));
    } finally {
      plan.close();
    }
  }

  /** Frees what is kept of a combination, until it comes again; no run of it may be under way. */
  public void forget(Set<Node> feeds, List<Node> fetches) {
    Plan plan;
    synchronized (plans) {
      plan = plans.remove(new Key(feeds, fetches));
    }
    if (plan != null) {
      plan.close();
    }
  }

  /** Makes a node without a result take place that does not come again. */
  public void runOnce(Map<Node, Value> feeds, Node node) throws InterruptedException {
    Plan plan = Lowering.plan(backend, memory, List.copyOf(feeds.keySet()), List.of(node));
    try {
      run(plan, feeds);
    } finally {
      plan.close();
    }
  }

  private static List<Value> held(@Nullable Value[] values) {
    return Arrays.stream(values).map(Objects::requireNonNull).toList();
  }

  private @Nullable Value[] run(Plan plan, Map<Node, Value> feeds) throws InterruptedException {
    return run(plan, "run " + runs.incrementAndGet(), feeds, Fetched.NOBODY);
  }

  private @Nullable Value[] run(Plan plan, String run, Map<Node, Value> feeds, Fetched listener)
      throws InterruptedException {
    List<Value> values =
        plan.feeds().stream().map(feeds::get).map(Objects::requireNonNull).toList();
    Histories histories = new Histories(memory, spillTo == null ? null : new Spill(spillTo));
    return new Run(plan, run, memory, histories, pool, threads - 1, values, listener).run();
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

  /** The memory of the device. */
  public Memory memory() {
    return memory;
  }

  /** Frees all memory; no run may be under way. */
  @Override
  public void close() {
    pool.close();
    plans.values().forEach(Plan::close);
    memory.close();
  }
}
