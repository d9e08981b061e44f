package dev.kastor.engine.saving;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.parameters.Accumulator;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a process that saves all the time, and finds its last save whole; more often with {@code
 * -Dkastor.kills=200}. Each process goes on from the save of the one before.
 */
class SaverKillIT {
  private static final int KILLS = Integer.getInteger("kastor.kills", 6);
  private static final int SPREAD_MICROS = 20_000;
  private static final int VARIABLES = 4;
  private static final int ELEMENTS = 20_000;

  @TempDir Path folder;
  @TempDir Path said;

  /** Variables that all hold the number of the step. */
  private static final class Numbers implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Session session = new Session(new ReferenceBackend(), 1 << 24, 1);
    private final List<Variable> variables = new ArrayList<>();
    private final Node step = Node.input("step", Accumulator.STEP);
    private final Tensor number = Tensor.allocate(arena, Shape.of(), DType.I32);
    private final Saver saver;
    private final Node more;
    private final Node save;

    Numbers(Path folder) {
      List<Piece> pieces = new ArrayList<>();
      for (int i = 0; i < VARIABLES; i++) {
        Variable variable = new Variable("v" + i, Shape.of(ELEMENTS / 10, 10), new float[ELEMENTS]);
        variables.add(variable);
        pieces.add(Piece.whole("v" + i, variable, ""));
      }
      saver = new Saver(pieces, folder, 2);
      Node one = Node.constant(1).broadcast(Shape.of(ELEMENTS / 10, 10));
      more = Node.group(variables.stream().map(variable -> variable.addAndRead(one)).toList());
      save = saver.save(step, more);
    }

    void run(Node node, long now) throws InterruptedException {
      number.segment().set(ValueLayout.JAVA_INT, 0, (int) now);
      session.run(Map.of(step, number), List.of(node)).close();
    }

    @Override
    public void close() {
      session.close();
      arena.close();
    }
  }

  /** Goes on from what is in the folder, and says each step once it is saved. */
  public static void main(String[] arguments) throws Exception {
    try (Numbers numbers = new Numbers(Path.of(arguments[0]))) {
      long step = numbers.saver.newest().orElse(0L);
      if (step > 0) {
        numbers.run(numbers.saver.restore(numbers.step), step);
      }
      while (true) {
        step++;
        numbers.run(numbers.save, step);
        System.out.println(step);
      }
    }
  }

  @Test
  void theLastSaveIsWholeWheneverItsWriterIsKilled() throws Exception {
    SplittableRandom random = new SplittableRandom(KILLS);
    long saved = 0;
    for (int round = 0; round < KILLS; round++) {
      Path output = said.resolve("round-" + round);
      Process writer =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-Xmx128m",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  SaverKillIT.class.getName(),
                  folder.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .redirectOutput(output.toFile())
              .start();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (promised(output).size() < 3) {
        assertThat(writer.isAlive()).isTrue();
        assertThat(System.nanoTime()).isLessThan(deadline);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(SPREAD_MICROS)));
      writer.destroyForcibly();
      assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
      List<Long> promised = promised(output);
      assertThat(promised.getFirst()).as("it went on from the last save").isEqualTo(saved + 1);
      saved = check(promised.getLast());
    }
  }

  /** Steps that a writer said were saved: one on each whole line. */
  private static List<Long> promised(Path output) throws IOException {
    String text = Files.readString(output);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Long::valueOf).toList();
  }

  /** Finds a save that is no older than the last that was promised; gives its step. */
  private long check(long promised) throws Exception {
    try (Numbers numbers = new Numbers(folder)) {
      long newest = numbers.saver.newest().orElseThrow();
      assertThat(newest).isGreaterThanOrEqualTo(promised);
      numbers.run(numbers.saver.restore(numbers.step), newest);
      for (Variable variable : numbers.variables) {
        try (Results results = numbers.session.run(List.of(variable.read()))) {
          assertThat(results.get(0).floats()).containsOnly((float) newest);
        }
      }
      return newest;
    }
  }
}
