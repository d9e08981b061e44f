package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.ShardPlan;
import dev.kastor.agent.servers.Wire;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Model of server 0, whose parameters and optimizer's vectors are on the shards of all servers, and
 * whose passes are the workers'. To a replica the servers are a device that has the parameters.
 *
 * <p>Whoever reads parameters or slots gets whole vectors here, collected from all shards if these
 * have changed since. A link that breaks shows as an {@link UncheckedIOException} around the {@link
 * RingBrokenException}. One thread owns it.
 */
final class ServedModel implements Trainable {
  private final Trainable model;
  private final ShardPlan plan;
  private final Shard own;
  private final Supplier<Metric> evaluator;
  private final Runnable saveSoon;
  private @Nullable Shards shards;

  /** To the servers from 1 on, in the generation that we are in. */
  private List<Wire> others = List.of();

  /** Whether the whole vectors are the newest. */
  private boolean whole = true;

  /**
   * A model on shards.
   *
   * @param model with the initial parameters; closed by its owner
   * @param own shard 0
   * @param evaluator evaluates the newest parameters
   * @param saveSoon called when another server is to end
   */
  ServedModel(
      Trainable model, ShardPlan plan, Shard own, Supplier<Metric> evaluator, Runnable saveSoon) {
    this.model = model;
    this.plan = plan;
    this.own = own;
    this.evaluator = evaluator;
    this.saveSoon = saveSoon;
  }

  /** From now on these are the links to the other servers. */
  void reach(List<Wire> wires) {
    others = List.copyOf(wires);
  }

  /** Whether the newest vectors are here, or can be collected. */
  boolean isReachable() {
    return whole || others.size() == plan.shards() - 1;
  }

  /** What the shards have is not wanted any more. */
  void abandon() {
    whole = true;
  }

  /** Makes the mean of some slices the gradient of the step in progress. */
  void reduce(List<Shard.Slice> slices) {
    shards().reduce(slices);
  }

  /** From now on shares below this one count no more; told with the next update. */
  void dropBelow(long share) {
    shards().below = share;
  }

  /** Gives the vectors to all shards. */
  void distribute(long line, long updates) throws RingBrokenException {
    List<float[]> vectors = shards().vectors();
    for (int server = 1; server < plan.shards(); server++) {
      Wire wire = others.get(server - 1);
      wire.send(new Message.State(line, updates));
      for (float[] vector : vectors) {
        wire.link().send(vector, plan.from(server), plan.to(server));
      }
      wire.receive(Message.Answer.class);
    }
    for (int i = 0; i < vectors.size(); i++) {
      System.arraycopy(vectors.get(i), plan.from(0), own.vectors().get(i), 0, own.elements());
    }
    own.replaced(updates);
  }

  private Shards shards() {
    return Objects.requireNonNull(shards);
  }

  @Override
  public int trainingExamples() {
    return model.trainingExamples();
  }

  @Override
  public float[] parameters() {
    return readParameters();
  }

  @Override
  public float[] readParameters() {
    if (shards != null) {
      shards.collect();
    }
    return model.parameters();
  }

  @Override
  public Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    Shards made = new Shards(slots);
    shards = made;
    return Optional.of(made);
  }

  @Override
  public Layout layout() {
    return model.layout();
  }

  @Override
  public float[] statistics() {
    return model.statistics();
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    throw new UnsupportedOperationException("a server runs no pass");
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    model.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    return evaluator.get();
  }

  /** Evaluates the newest parameters in this process, which may take long. */
  Metric evaluateHere() {
    readParameters();
    return model.evaluate();
  }

  @Override
  public int heldOutExamples() {
    return model.heldOutExamples();
  }

  @Override
  public void warmUp(int atomicBatchSize) {}

  @Override
  public void close() {}

  /** Arithmetic on all shards. */
  private final class Shards implements DeviceTraining, NoiseScaleEstimator.Successive {
    private final SequencedMap<String, float[]> slots;
    private double squaredNorm;
    private long below;

    Shards(SequencedMap<String, float[]> slots) {
      this.slots = slots;
    }

    List<float[]> vectors() {
      List<float[]> all = new ArrayList<>();
      all.add(model.parameters());
      all.addAll(slots.values());
      return all;
    }

    void reduce(List<Shard.Slice> slices) {
      send(new Message.Reduce(slices));
      squaredNorm = own.reduce(slices);
      for (Wire wire : others) {
        squaredNorm += receive(wire, Message.Numbers.class).first();
      }
    }

    void collect() {
      if (whole) {
        return;
      }
      List<float[]> vectors = vectors();
      send(new Message.Collect());
      for (int i = 0; i < vectors.size(); i++) {
        System.arraycopy(own.vectors().get(i), 0, vectors.get(i), plan.from(0), own.elements());
      }
      for (int server = 1; server < plan.shards(); server++) {
        Wire wire = others.get(server - 1);
        receive(wire, Message.Version.class);
        try {
          for (float[] vector : vectors) {
            wire.link().receive(vector, plan.from(server), plan.to(server));
          }
        } catch (RingBrokenException e) {
          throw new UncheckedIOException(e);
        }
      }
      whole = true;
    }

    @Override
    public Passed pass(int[] examples, float[] batchStatistics, int pass, int passes) {
      throw new UnsupportedOperationException("a server runs no pass");
    }

    @Override
    public double squaredNorm() {
      return squaredNorm;
    }

    @Override
    public NoiseScaleEstimator.Successive gradients() {
      return this;
    }

    @Override
    public NoiseScaleEstimator.Compared compared() {
      send(new Message.Compare());
      NoiseScaleEstimator.Compared sum = own.compared();
      for (Wire wire : others) {
        Message.Numbers more = receive(wire, Message.Numbers.class);
        sum =
            new NoiseScaleEstimator.Compared(
                sum.product() + more.first(), sum.squaredDistance() + more.second());
      }
      return sum;
    }

    @Override
    public void keep() {
      send(new Message.Keep());
      own.keep();
      for (Wire wire : others) {
        receive(wire, Message.Answer.class);
      }
    }

    @Override
    public void write(float[] gradient) {
      throw new UnsupportedOperationException("gradients come from workers");
    }

    @Override
    public void apply(double learningRate, long step) {
      whole = false;
      send(new Message.Apply(learningRate, step, below));
      own.apply(learningRate, step, below);
      for (Wire wire : others) {
        if (!receive(wire, Message.Answer.class).yes()) {
          saveSoon.run();
        }
      }
    }

    @Override
    public float[] readSlot(String name) {
      collect();
      return Objects.requireNonNull(slots.get(name));
    }

    @Override
    public void replaced() {
      whole = true;
    }

    private void send(Message message) {
      try {
        for (Wire wire : others) {
          wire.send(message);
        }
      } catch (RingBrokenException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static <M extends Message> M receive(Wire wire, Class<M> kind) {
      try {
        return wire.receive(kind);
      } catch (RingBrokenException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
