package dev.kastor.engine.bench;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.eager.Eager;
import dev.kastor.engine.eager.Staged;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Samples of chains that leapfrog through a Gaussian of two dimensions with learned scales and
 * shifts, eager and staged, by the number of chains: a program of many small ops in the shape of
 * L2HMC (Levy, Hoffman and Sohl-Dickstein, ICLR 2018), which is what TensorFlow Eager (MLSys 2019)
 * was measured with. The networks are not trained: only the time counts.
 */
public final class SamplerRates {
  private static final long CAP = 1L << 28;
  private static final int DIMENSIONS = 2;
  private static final int HIDDEN = 10;
  private static final int LEAPFROGS = 10;
  private static final double STEP = 0.1;
  private static final int[] CHAINS = {10, 25, 50, 100, 200, 1000, 10_000};

  private final Eager eager;
  private final SplittableRandom random = new SplittableRandom(1);
  private final Node precision;
  private final List<Net> nets = new ArrayList<>();

  private record Net(Node first, Node bias, Node second) {
    Node of(Node x) {
      return x.matMul(first).add(bias).tanh().matMul(second);
    }
  }

  private SamplerRates(Eager eager) {
    this.eager = eager;
    precision = eager.of(Shape.of(DIMENSIONS, DIMENSIONS), 50.5f, -49.5f, -49.5f, 50.5f);
    for (int i = 0; i < 3; i++) {
      nets.add(
          new Net(
              values(DIMENSIONS, HIDDEN),
              eager.of(Shape.of(HIDDEN), new float[HIDDEN]),
              values(HIDDEN, DIMENSIONS)));
    }
  }

  /** Prints a line of JSON for each number of chains; the only argument is the number of rounds. */
  public static void main(String[] arguments) throws InterruptedException {
    String given = arguments.length == 0 ? "20" : arguments[0];
    if (arguments.length > 1 || !given.matches("[1-9][0-9]{0,5}")) {
      System.err.println("Usage: SamplerRates [ROUNDS], at least 1");
      System.exit(2);
    }
    int rounds = Integer.parseInt(given);
    try (Eager eager = new Eager(Backends.fastest(1).backend(), CAP)) {
      SamplerRates sampler = new SamplerRates(eager);
      for (int chains : CHAINS) {
        Rounds atOnce = sampler.seconds(chains, rounds, false);
        Rounds staged = sampler.seconds(chains, rounds, true);
        System.out.printf(
            Locale.ROOT,
            "{\"chains\": %d, \"eagerMillis\": %.4f, \"stagedMillis\": %.4f,"
                + " \"eagerOverStaged\": %.2f}%n",
            chains,
            atOnce.median() * 1e3,
            staged.median() * 1e3,
            atOnce.median() / staged.median());
      }
    }
  }

  private Node values(int rows, int columns) {
    float[] floats = new float[rows * columns];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) (0.1 * random.nextGaussian());
    }
    return eager.of(Shape.of(rows, columns), floats);
  }

  /** Processor time of a sample of all chains. */
  private Rounds seconds(int chains, int rounds, boolean stage) throws InterruptedException {
    Node place = values(chains, DIMENSIONS);
    Node speed = values(chains, DIMENSIONS);
    Staged staged = new Staged(eager, (inputs, _) -> sample(inputs.getFirst(), inputs.getLast()));
    return Rounds.ofProcessor(
        rounds,
        () -> {
          List<Node> ends = stage ? staged.call(List.of(place, speed)) : sample(place, speed);
          for (Node end : ends) {
            eager.run(end);
          }
        });
  }

  /** Where the chains are after some leapfrogs, and how fast. */
  private List<Node> sample(Node place, Node speed) {
    Node x = place;
    Node v = speed;
    for (int i = 0; i < LEAPFROGS; i++) {
      v = kick(x, v);
      x = x.add(v.multiply(STEP));
      v = kick(x, v);
    }
    return List.of(x, v);
  }

  /** Half a step of the speeds, scaled and shifted by the networks. */
  private Node kick(Node x, Node v) {
    Node scale = nets.get(0).of(x).multiply(STEP / 2).exp();
    Node bend = nets.get(1).of(x).multiply(STEP).exp();
    Node force = x.matMul(precision).multiply(bend).add(nets.get(2).of(x));
    return v.multiply(scale).subtract(force.multiply(STEP / 2));
  }
}
