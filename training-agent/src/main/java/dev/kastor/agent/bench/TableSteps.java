package dev.kastor.agent.bench;

import dev.kastor.agent.servers.Runs;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.ShardPlan;
import dev.kastor.engine.bench.Rounds;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.Optimizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Steps of parameter servers that touch the same number of rows of a table, by the size of the
 * table (the question of Abadi et al., OSDI 2016, section 6.2): rows are read, their gradients are
 * pushed, averaged and applied by descent without momentum. Links and the worker's pass are not
 * part of it.
 */
public final class TableSteps {
  private static final int WIDTH = 32;
  private static final int TOUCHED = 256;
  private static final int CALLS = 10;
  private static final int SERVERS = 2;
  private static final int[] ROWS = {5_000, 50_000, 500_000};
  private static final Optimizer DESCENT = new Sgd(0, 0);

  private final int rows;
  private final ShardPlan plan;
  private final List<Shard> shards = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(1);
  private long step;

  private TableSteps(int rows) {
    this.rows = rows;
    this.plan =
        ShardPlan.of(Layout.of(List.of("table"), List.of(Shape.of(rows, WIDTH))), DESCENT, SERVERS);
    for (int server = 0; server < SERVERS; server++) {
      shards.add(new Shard(plan.layout(server), DESCENT));
    }
  }

  /** Prints a line of JSON for each size; the only argument is the number of rounds. */
  public static void main(String[] arguments) throws InterruptedException {
    String given = arguments.length == 0 ? "20" : arguments[0];
    if (arguments.length > 1 || !given.matches("[1-9][0-9]{0,5}")) {
      System.err.println("Usage: TableSteps [ROUNDS], at least 1");
      System.exit(2);
    }
    for (int rows : ROWS) {
      TableSteps steps = new TableSteps(rows);
      Rounds seconds = Rounds.ofProcessor(Integer.parseInt(given), steps::run);
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

  private void run() {
    for (int call = 0; call < CALLS; call++) {
      int[] touched = random.ints(TOUCHED, 0, rows).sorted().distinct().toArray();
      Shard.Slice slice = new Shard.Slice(step, 0);
      for (int server = 0; server < SERVERS; server++) {
        Runs runs = Runs.of(plan, server, List.of(new Touched(0, touched)));
        float[] packed = new float[runs.elements()];
        Shard shard = shards.get(server);
        shard.read(runs, packed);
        float[] gradient = new float[packed.length];
        for (int i = 0; i < packed.length; i++) {
          gradient[i] = 1e-3f * packed[i] + 1e-4f;
        }
        shard.push(slice, runs, gradient);
        shard.reduce(List.of(slice));
        shard.apply(0.1, step, step);
      }
      step++;
    }
  }
}
