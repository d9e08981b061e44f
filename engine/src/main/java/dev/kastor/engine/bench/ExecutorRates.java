package dev.kastor.engine.bench;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.eager.Eager;
import dev.kastor.engine.eager.Staged;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the executor itself costs: nodes that do nothing, and small ops eager and staged. Figures
 * are of processor time of one thread, medians over rounds.
 */
public final class ExecutorRates {
  private static final long CAP = 1 << 26;
  private static final int LAYERS = 1000;
  private static final int LAYER = 100;
  private static final int WIDTH = 16;
  private static final int DEPTH = 50;
  private static final int CALLS = 20;

  private ExecutorRates() {}

  /** Prints one line of JSON; the only argument is the number of rounds. */
  public static void main(String[] arguments) throws InterruptedException {
    String given = arguments.length == 0 ? "20" : arguments[0];
    if (arguments.length > 1 || !given.matches("[1-9][0-9]{0,5}")) {
      System.err.println("Usage: bench/executor [ROUNDS], at least 1");
      System.exit(2);
    }
    int rounds = Integer.parseInt(given);
    double nodes = nullNodesPerSecond(rounds);
    double eager = callSeconds(rounds, false);
    double staged = callSeconds(rounds, true);
    System.out.printf(
        Locale.ROOT,
        "{\"nullNodesPerSecond\": %.0f, \"eagerMicrosPerOp\": %.3f, \"stagedMicrosPerOp\": %.3f,"
            + " \"eagerOverStaged\": %.1f}%n",
        nodes,
        eager / DEPTH / 2 * 1e6,
        staged / DEPTH / 2 * 1e6,
        eager / staged);
  }

  /** Layers of nodes, each of which comes after two of the layer before. */
  private static double nullNodesPerSecond(int rounds) throws InterruptedException {
    List<Node> layer = new ArrayList<>();
    for (int i = 0; i < LAYER; i++) {
      layer.add(Node.group(List.of()));
    }
    for (int depth = 1; depth < LAYERS; depth++) {
      List<Node> next = new ArrayList<>();
      for (int i = 0; i < LAYER; i++) {
        next.add(Node.group(List.of(layer.get(i), layer.get((i * 7 + depth) % LAYER))));
      }
      layer = next;
    }
    Node end = Node.group(layer);
    try (Session session = new Session(Backends.fastest(1).backend(), CAP, 1)) {
      Rounds.Work all = () -> session.run(List.of(end)).close();
      return LAYERS * LAYER / Rounds.ofProcessor(rounds, all).median();
    }
  }

  /** A chain of additions and tanh of a few elements each. */
  private static double callSeconds(int rounds, boolean stage) throws InterruptedException {
    try (Eager eager = new Eager(Backends.fastest(1).backend(), CAP)) {
      Staged staged = new Staged(eager, (inputs, _) -> List.of(chain(inputs.getFirst())));
      Node x = eager.of(Shape.of(WIDTH), new float[WIDTH]);
      Rounds.Work calls =
          () -> {
            for (int call = 0; call < CALLS; call++) {
              eager.run(stage ? staged.call(List.of(x)).getFirst() : chain(x));
            }
          };
      return Rounds.ofProcessor(rounds, calls).median() / CALLS;
    }
  }

  private static Node chain(Node x) {
    Node y = x;
    for (int i = 0; i < DEPTH; i++) {
      y = y.add(x).tanh();
    }
    return y;
  }
}
