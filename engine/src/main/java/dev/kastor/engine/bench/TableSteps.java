package dev.kastor.engine.bench;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.parameters.ShardedTable;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Training steps that touch the same number of rows of a sharded table, by the size of the table
 * (the question of Abadi et al., OSDI 2016, section 6.2).
 */
public final class TableSteps {
  private static final long CAP = 1L << 29;
  private static final int WIDTH = 32;
  private static final int TOUCHED = 256;
  private static final int CALLS = 10;
  private static final int[] ROWS = {5_000, 50_000, 500_000};

  private TableSteps() {}

  /** Prints a line of JSON for each size; the only argument is the number of rounds. */
  public static void main(String[] arguments) throws InterruptedException {
    String given = arguments.length == 0 ? "20" : arguments[0];
    if (arguments.length > 1 || !given.matches("[1-9][0-9]{0,5}")) {
      System.err.println("Usage: TableSteps [ROUNDS], at least 1");
      System.exit(2);
    }
    for (int rows : ROWS) {
      Rounds seconds = step(rows, Integer.parseInt(given));
      System.out.printf(
          Locale.ROOT,
          "{\"rows\": %d, \"touched\": %d, \"stepMicros\": %.2f, \"lowestMicros\": %.2f,"
              + " \"highestMicros\": %.2f}%n",
          rows,
          TOUCHED,
          seconds.median() / CALLS * 1e6,
          seconds.lowest() / CALLS * 1e6,
          seconds.highest() / CALLS * 1e6);
    }
  }

  private static Rounds step(int rows, int rounds) throws InterruptedException {
    ShardedTable table =
        new ShardedTable(
            "table", rows, WIDTH, List.of("even", "odd"), (row, column) -> row % 7 + column);
    Node numbers = Node.input("numbers", new Type(Shape.of(TOUCHED), DType.I32));
    Node looked = table.lookup(numbers);
    Node loss = looked.multiply(looked).sum(0, 2);
    Node gradient = Gradients.of(loss, List.of(looked)).getFirst();
    List<Node> fetches = List.of(loss, table.addRows(gradient.multiply(-1e-3), numbers));
    SplittableRandom random = new SplittableRandom(1);
    try (Arena arena = Arena.ofShared();
        Session session = new Session(Backends.fastest(1).backend(), CAP, 1)) {
      Tensor some = Tensor.allocate(arena, numbers.shape(), DType.I32);
      return Rounds.ofProcessor(
          rounds,
          () -> {
            for (int call = 0; call < CALLS; call++) {
              for (int i = 0; i < TOUCHED; i++) {
                some.segment().setAtIndex(ValueLayout.JAVA_INT, i, random.nextInt(rows));
              }
              session.run(Map.of(numbers, some), fetches).close();
            }
          });
    }
  }
}
