package dev.kastor.engine.nn;

import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Training of a model on the device that has its parameters: gradients are added up, measured and
 * applied there. Of vectors as long as the parameters none is copied but what the host asks for.
 *
 * <p>Sums of gradients, parameters and slots have the bits that the same operations give on the
 * host, as each of them rounds alike. Squared norms are summed in single precision within a row of
 * {@link DeviceVector#whole}, and in double precision over rows. One thread at a time.
 */
public final class DeviceUpdate implements AutoCloseable {
  private final GraphModel model;
  private final GraphExecutor executor;
  private final PlacedVector parameters;
  private final DeviceVector gradient;
  private final ElementwiseUpdate update;
  private final SequencedMap<String, PlacedVector> slots = new LinkedHashMap<>();
  private final List<Node> numbers = new ArrayList<>();

  /** Graphs before the vectors that they use. */
  private final Deque<AutoCloseable> closed = new ArrayDeque<>();

  private final VectorGraph.Compiled applied;
  private final VectorGraph.Compiled squares;
  private @Nullable Sum sum;
  private @Nullable Kept kept;

  /** Of the gradient that is there; not a number if it has to be computed. */
  private double squaredNorm = Double.NaN;

  private boolean measured;

  /**
   * Result of a pass.
   *
   * @param squaredNorm of its gradient; not finite if that is not
   */
  public record Passed(double loss, double squaredNorm) {}

  /**
   * A gradient and the one that was kept.
   *
   * @param product scalar product of both
   * @param squaredDistance squared norm of their difference
   */
  public record Compared(double product, double squaredDistance) {}

  DeviceUpdate(
      GraphModel model,
      GraphExecutor executor,
      PlacedVector parameters,
      DeviceVector gradient,
      ElementwiseUpdate update,
      SequencedMap<String, float[]> slots) {
    this.model = model;
    this.executor = executor;
    this.parameters = parameters;
    this.gradient = gradient;
    this.update = update;
    slots.forEach((name, slot) -> {
      if (slot.length != gradient.layout().elements()) {
        throw new IllegalArgumentException(
            "slot %s has %d elements, not one for each of the %d parameters"
                .formatted(name, slot.length, gradient.layout().elements()));
      }
    });
    int count = update.numbers(0, 0).length;
    for (int i = 0; i < count; i++) {
      numbers.add(Node.input("number" + i, Type.f32()));
    }
    try {
      slots.forEach((name, host) -> this.slots.put(name, new PlacedVector(host, vector())));
      applied = applied();
      VectorGraph graph = new VectorGraph();
      graph.sums(graph.of(gradient), graph.of(gradient));
      squares = compiled(graph);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private VectorGraph.Compiled applied() {
    VectorGraph graph = new VectorGraph();
    SequencedMap<String, Node> before = new LinkedHashMap<>();
    slots.forEach((name, slot) -> before.put(name, graph.of(slot.onDevice())));
    ElementwiseUpdate.Vectors after =
        update.update(
            new ElementwiseUpdate.Vectors(graph.of(parameters.onDevice()), before),
            graph.of(gradient),
            numbers);
    graph.store(after.parameters(), parameters.onDevice());
    slots.forEach((name, slot) -> graph.store(after.slot(name), slot.onDevice()));
    return compiled(graph);
  }

  private DeviceVector vector() {
    DeviceVector vector = executor.vector(gradient.layout()).orElseThrow();
    closed.addLast(vector);
    return vector;
  }

  private VectorGraph.Compiled compiled(VectorGraph graph) {
    VectorGraph.Compiled compiled = graph.compile(executor);
    closed.addFirst(compiled);
    return compiled;
  }

  /**
   * Runs a forward-backward pass of a step.
   *
   * @param batchStatistics receives this batch's statistics
   * @param pass of the step, from 0; with the last one its gradient becomes the mean of all
   * @param passes of the step
   */
  public Passed pass(Batch batch, float[] batchStatistics, int pass, int passes) {
    double loss = model.passOnDevice(batch, batchStatistics);
    measured = false;
    double own = squaredNorm();
    if (passes > 1) {
      sum().add(pass, passes);
      measured = pass < passes - 1;
    }
    return new Passed(loss, own);
  }

  /** The squared norm of the gradient that is there; not finite if that is not. */
  public double squaredNorm() {
    if (!measured) {
      squares.run();
      squaredNorm = squares.sum(0);
      measured = true;
    }
    return squaredNorm;
  }

  /** Compares the gradient that is there with the one that was kept. */
  public Compared compared() {
    return kept().compared();
  }

  /** Keeps the gradient that is there. */
  public void keep() {
    kept().keep.run();
  }

  /** Makes the host's gradient the one that is there. */
  public void write(float[] values) {
    gradient.write(values);
    measured = false;
  }

  /**
   * Updates parameters and slots by the gradient that is there.
   *
   * @param step steps applied before it
   */
  public void apply(double learningRate, long step) {
    parameters.toDevice();
    slots.values().forEach(PlacedVector::toDevice);
    float[] values = update.numbers(learningRate, step);
    for (int i = 0; i < values.length; i++) {
      applied.set(numbers.get(i), values[i]);
    }
    applied.run();
    parameters.changedOnDevice();
    slots.values().forEach(PlacedVector::changedOnDevice);
  }

  /** The newest values of a slot, in the host's array; whoever asks does not change them. */
  public float[] readSlot(String name) {
    PlacedVector slot = slots.get(name);
    if (slot == null) {
      throw new IllegalArgumentException("No slot '%s' but %s".formatted(name, slots.keySet()));
    }
    return slot.read();
  }

  /** Takes over parameters and slots that were written to the host's arrays. */
  public void replaced() {
    parameters.replaced();
    slots.values().forEach(PlacedVector::replaced);
  }

  private Sum sum() {
    Sum known = sum;
    if (known == null) {
      known = new Sum();
      sum = known;
    }
    return known;
  }

  /** Sum of the gradients of a step's passes. */
  private final class Sum {
    private final Node isFirst = Node.input("isFirst", Type.f32());
    private final Node share = Node.input("share", Type.f32());
    private final VectorGraph.Compiled more;
    private final VectorGraph.Compiled last;

    Sum() {
      DeviceVector before = vector();
      VectorGraph adding = new VectorGraph();
      Node one = adding.of(gradient);
      adding.store(isFirst.select(one, adding.of(before).add(one)), before);
      more = compiled(adding);
      VectorGraph ending = new VectorGraph();
      Node all = ending.of(before).add(ending.of(gradient));
      ending.store(all.multiply(share), gradient);
      last = compiled(ending);
    }

    void add(int pass, int passes) {
      if (pass < passes - 1) {
        more.set(isFirst, pass == 0 ? 1 : 0);
        more.run();
      } else {
        last.set(share, 1f / passes);
        last.run();
      }
    }
  }

  private Kept kept() {
    Kept known = kept;
    if (known == null) {
      known = new Kept();
      kept = known;
    }
    return known;
  }

  /** The gradient of an earlier step. */
  private final class Kept {
    private final VectorGraph.Compiled compare;
    private final VectorGraph.Compiled keep;

    Kept() {
      DeviceVector before = vector();
      VectorGraph comparing = new VectorGraph();
      Node now = comparing.of(gradient);
      Node then = comparing.of(before);
      comparing.sums(now, then);
      Node difference = now.subtract(then);
      comparing.sums(difference, difference);
      compare = compiled(comparing);
      VectorGraph keeping = new VectorGraph();
      keeping.store(keeping.of(gradient), before);
      keep = compiled(keeping);
    }

    Compared compared() {
      compare.run();
      return new Compared(compare.sum(0), compare.sum(1));
    }
  }

  @Override
  public void close() {
    try {
      while (!closed.isEmpty()) {
        closed.removeFirst().close();
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
