package dev.kastor.engine.nn;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/**
 * A network's parameters and the compiled passes that use them.
 *
 * <p>Equal network, seed and machine give equal bits. Not thread-safe: one thread owns it.
 */
public final class GraphModel implements AutoCloseable {
  /** Share of the old value in a running statistic. */
  private static final float MOMENTUM = 0.9f;

  /** Compiled passes kept; the least recently used goes first. */
  private static final int CACHED = 6;

  private record Key(boolean training, int examples) {}

  private final Network network;
  private final GraphExecutor executor;
  private final PassPipeline graphPasses;
  private final Layout layout;
  private final Tables tables;
  private final PlacedVector parameters;

  /** Of the last training pass, where the device has the parameters; null until there is one. */
  private @Nullable DeviceVector gradient;

  private final List<DeviceUpdate> updates = new ArrayList<>();
  private final float[] statistics;
  private final Map<Key, Pass> passes = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * A model whose parameters are drawn from the generator L64X128MixRandom with this seed.
   *
   * @throws IllegalArgumentException if it has more of them than a vector can hold
   */
  public GraphModel(Network network, Backend backend, long seed) {
    this(network, backend, PassPipeline.USUAL, seed);
  }

  /**
   * The same with other graph passes.
   *
   * @param graphPasses rewrites of the graphs that are compiled
   */
  public GraphModel(Network network, Backend backend, PassPipeline graphPasses, long seed) {
    this(network, new Session(backend, Long.MAX_VALUE, 1), graphPasses, seed);
  }

  /**
   * The same under the memory caps of an executor.
   *
   * @param executor of the passes; closed with the model
   */
  public GraphModel(Network network, GraphExecutor executor, PassPipeline graphPasses, long seed) {
    this.network = network;
    this.executor = executor;
    this.graphPasses = graphPasses;
    Layers layers = new Layers(true);
    Node logits = network.logits(layers, Forward.features(network, 1));
    this.layout = Forward.layout(layers.parameters());
    this.tables = Tables.of(logits, layers.parameters());
    this.parameters =
        new PlacedVector(
            draw(layers.weights(), layout, seed),
            Graph.of(logits).isPure() ? executor.vector(layout).orElse(null) : null);
    this.statistics = start(layers.statistics(), Forward.layout(layers.running()));
  }

  private static float[] draw(List<Layers.Weight> weights, Layout layout, long seed) {
    var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    float[] flat = new float[layout.elements()];
    for (int i = 0; i < weights.size(); i++) {
      Layout.Entry entry = layout.entries().get(i);
      for (int at = entry.offset(); at < entry.end(); at++) {
        flat[at] = weights.get(i).initial().draw(random);
      }
    }
    return flat;
  }

  private static float[] start(List<Layers.Statistic> statistics, Layout layout) {
    float[] flat = new float[layout.elements()];
    for (int i = 0; i < statistics.size(); i++) {
      Layout.Entry entry = layout.entries().get(i);
      Arrays.fill(flat, entry.offset(), entry.end(), statistics.get(i).initial());
    }
    return flat;
  }

  /** The network this model runs. */
  public Network network() {
    return network;
  }

  /** The layout of {@link #parameters}. */
  public Layout layout() {
    return layout;
  }

  /** Tables among the parameters. */
  public Tables tables() {
    return tables;
  }

  /**
   * The parameters side by side. Whoever asks may change them until the next pass; after that they
   * are asked for again, as a device may have others by then.
   */
  public float[] parameters() {
    return parameters.change();
  }

  /** The same for those who do not change them, which costs a device no copy. */
  public float[] readParameters() {
    return parameters.read();
  }

  /**
   * The update of the parameters on the device that has them; empty if that is the host. Closed
   * with the model.
   *
   * @param slots of the optimizer by name, as long as the parameters; from here on read and changed
   *     through the update alone
   * @throws RuntimeException if the device has no memory for it
   */
  public Optional<DeviceUpdate> onDevice(
      ElementwiseUpdate update, SequencedMap<String, float[]> slots) {
    if (parameters.device() == null) {
      return Optional.empty();
    }
    DeviceUpdate made = new DeviceUpdate(this, executor, parameters, gradient(), update, slots);
    updates.add(made);
    return Optional.of(made);
  }

  private DeviceVector gradient() {
    DeviceVector known = gradient;
    if (known == null) {
      known = executor.vector(layout).orElseThrow();
      gradient = known;
    }
    return known;
  }

  /** The running statistics side by side; live. */
  public float[] statistics() {
    return statistics;
  }

  /**
   * A forward-backward pass.
   *
   * @param gradient receives the gradient of the mean loss
   * @param batchStatistics receives this batch's statistics
   * @return the mean loss in nats
   */
  public double pass(Batch batch, float[] gradient, float[] batchStatistics) {
    return pass(batch, gradient, batchStatistics, _ -> {});
  }

  /**
   * The same for those who can use the gradient of the last layers while that of the first ones is
   * still being computed.
   *
   * @param ready told from which element on the gradient is there, again and again, down to 0
   */
  public double pass(Batch batch, float[] gradient, float[] batchStatistics, IntConsumer ready) {
    requireLength("gradient", gradient.length, layout.elements());
    int[] told = {gradient.length};
    Pass pass =
        ran(
            training(batch, batchStatistics),
            each ->
                each.run(
                    batch,
                    statistics,
                    gradient,
                    told[0],
                    from -> {
                      told[0] = from;
                      ready.accept(from);
                    }));
    pass.readStatistics(batchStatistics);
    return pass.output(0).get(0);
  }

  /** The same where the gradient stays on the device. */
  double passOnDevice(Batch batch, float[] batchStatistics) {
    Pass pass = ran(training(batch, batchStatistics), batch);
    pass.readStatistics(batchStatistics);
    return pass.output(0).get(0);
  }

  private Key training(Batch batch, float[] batchStatistics) {
    require(batch);
    requireLength("batchStatistics", batchStatistics.length, statistics.length);
    return new Key(true, batch.examples());
  }

  private Pass ran(Key key, Batch batch) {
    return ran(key, pass -> pass.run(batch, statistics));
  }

  /**
   * A pass that has run; where memory is short, other passes give theirs back and it runs again.
   */
  private Pass ran(Key key, Consumer<Pass> run) {
    try {
      Pass pass = compiled(key);
      run.accept(pass);
      return pass;
    } catch (MemoryCapException e) {
      if (passes.keySet().stream().allMatch(key::equals)) {
        throw e;
      }
    }
    closePasses();
    Pass pass = compiled(key);
    run.accept(pass);
    return pass;
  }

  private void closePasses() {
    passes.values().forEach(Pass::close);
    passes.clear();
  }

  /** Moves the running statistics a tenth of the way to a step's mean. */
  public void applyStatistics(float[] mean) {
    requireLength("mean", mean.length, statistics.length);
    for (int i = 0; i < statistics.length; i++) {
      statistics[i] = MOMENTUM * statistics[i] + (1 - MOMENTUM) * mean[i];
    }
  }

  /** Scores the model in inference mode. */
  public Scores score(Batch batch) {
    require(batch);
    Pass pass = ran(new Key(false, batch.examples()), batch);
    Tensor losses = pass.output(0);
    Tensor logits = pass.output(1);
    int rows = losses.shape().elements();
    double loss = 0;
    long correct = 0;
    for (int row = 0; row < rows; row++) {
      loss += losses.get(row);
      correct += best(logits, row) == batch.targets()[row] ? 1 : 0;
    }
    return new Scores(loss, rows, correct);
  }

  /**
   * Finds the loss of each example of a batch in inference mode: the mean over its targets, in
   * nats.
   *
   * @param losses receives them
   */
  public void losses(Batch batch, float[] losses) {
    require(batch);
    requireLength("losses", losses.length, batch.examples());
    Pass pass = ran(new Key(false, batch.examples()), batch);
    Tensor each = pass.output(0);
    int positions = network.positions();
    for (int i = 0; i < losses.length; i++) {
      double sum = 0;
      for (int position = 0; position < positions; position++) {
        sum += each.get((long) i * positions + position);
      }
      losses[i] = (float) (sum / positions);
    }
  }

  private int best(Tensor logits, int row) {
    long first = (long) row * network.classes();
    int best = 0;
    for (int i = 1; i < network.classes(); i++) {
      if (logits.get(first + i) > logits.get(first + best)) {
        best = i;
      }
    }
    return best;
  }

  /** Compiles a pass of this size and runs it a few times; changes nothing. */
  public void warmUp(int examples) {
    float[] features = new float[examples * network.example().shape().elements()];
    if (network.example().dtype() == DType.I32) {
      // Token 0 may be the end of a sentence, and a loop without steps compiles no body.
      Arrays.fill(features, 1);
    }
    Batch batch = new Batch(examples, features, new int[examples * network.positions()]);
    for (int i = 0; i < 3; i++) {
      ran(new Key(true, examples), batch);
    }
  }

  private Pass compiled(Key key) {
    Pass known = passes.get(key);
    if (known != null) {
      return known;
    }
    if (passes.size() == CACHED) {
      Iterator<Pass> oldest = passes.values().iterator();
      oldest.next().close();
      oldest.remove();
    }
    Pass made =
        key.training()
            ? Pass.training(
                network,
                executor,
                graphPasses,
                key.examples(),
                parameters,
                parameters.device() == null ? null : gradient())
            : Pass.inference(network, executor, graphPasses, key.examples(), parameters);
    passes.put(key, made);
    return made;
  }

  private void require(Batch batch) {
    int features = network.example().shape().elements();
    requireLength("features", batch.features().length, (long) batch.examples() * features);
    requireLength("targets", batch.targets().length, (long) batch.examples() * network.positions());
    for (int target : batch.targets()) {
      if (target < 0 || target >= network.classes()) {
        throw new IllegalArgumentException(
            "A target is %d, but the classes are 0 to %d."
                .formatted(target, network.classes() - 1));
      }
    }
  }

  private static void requireLength(String name, int length, long wanted) {
    if (length != wanted) {
      throw new IllegalArgumentException(
          "%s has %d elements, but the model needs %d.".formatted(name, length, wanted));
    }
  }

  @Override
  public void close() {
    closePasses();
    updates.forEach(DeviceUpdate::close);
    updates.clear();
    if (gradient != null) {
      gradient.close();
      gradient = null;
    }
    parameters.close();
    executor.close();
  }
}
