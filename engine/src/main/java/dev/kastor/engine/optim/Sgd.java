package dev.kastor.engine.optim;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.nn.ElementwiseUpdate;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Stochastic gradient descent with heavy-ball momentum and L2 weight decay.
 *
 * <p>{@code v = momentum * v + (g + weightDecay * w); w = w - learningRate * v}. The learning rate
 * is outside of {@code v} (as in Sutskever et al., ICML 2013, rewritten so), so that a change of it
 * acts on the whole update at once.
 *
 * @param momentum in [0, 1)
 * @param weightDecay at least 0
 */
public record Sgd(double momentum, double weightDecay) implements Optimizer, ElementwiseUpdate {
  private static final String VELOCITY = "velocity";

  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "sgd",
          "Stochastic gradient descent with heavy-ball momentum and L2 weight decay.",
          List.of(Settings.MOMENTUM, Settings.WEIGHT_DECAY),
          options -> new Sgd(options.get(Settings.MOMENTUM), options.get(Settings.WEIGHT_DECAY)));

  public Sgd {
    Settings.checkMomentum(momentum);
    Settings.checkWeightDecay(weightDecay);
  }

  @Override
  public String name() {
    return "sgd";
  }

  @Override
  public SequencedMap<String, Integer> slots(Layout layout) {
    return momentum > 0 ? Settings.slots(layout, VELOCITY) : new LinkedHashMap<>();
  }

  @Override
  public void apply(Update update) {
    float[] parameters = update.parameters();
    float[] gradient = update.gradient();
    float rate = (float) update.learningRate();
    float decay = (float) weightDecay;
    if (momentum == 0) {
      for (int i = 0; i < parameters.length; i++) {
        parameters[i] -= rate * (gradient[i] + decay * parameters[i]);
      }
      return;
    }
    float keep = (float) momentum;
    float[] velocities = update.slot(VELOCITY);
    for (int i = 0; i < parameters.length; i++) {
      float velocity = keep * velocities[i] + (gradient[i] + decay * parameters[i]);
      velocities[i] = velocity;
      parameters[i] -= rate * velocity;
    }
  }

  @Override
  public Optional<ElementwiseUpdate> elementwise() {
    return Optional.of(this);
  }

  @Override
  public boolean skipsZeros() {
    return momentum == 0 && weightDecay == 0;
  }

  @Override
  public float[] numbers(double learningRate, long step) {
    return new float[] {(float) learningRate};
  }

  @Override
  public Vectors update(Vectors before, Node gradient, List<Node> numbers) {
    Node parameters = before.parameters();
    Node rate = numbers.getFirst();
    Node direction = gradient.add(parameters.multiply((float) weightDecay));
    SequencedMap<String, Node> slots = new TreeMap<>();
    if (momentum > 0) {
      direction = before.slot(VELOCITY).multiply((float) momentum).add(direction);
      slots.put(VELOCITY, direction);
    }
    return new Vectors(parameters.subtract(rate.multiply(direction)), slots);
  }
}
