package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Section;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a real writer process with SIGKILL at any moment of a save; more often with {@code
 * -Dkastor.kills=200}.
 */
@Tag("never-retried")
class CheckpointKillIT {
  private static final int KILLS = Integer.getInteger("kastor.kills", 6);
  private static final int SPREAD_MICROS = 20_000;

  @TempDir Path directory;

  @Test
  void losesNoSavedStepWhenTheWriterIsKilled() throws Exception {
    SplittableRandom random = new SplittableRandom(KILLS);
    for (int round = 0; round < KILLS; round++) {
      Path place = directory.resolve("round-" + round);
      Path output = directory.resolve("output-" + round);
      Process writer =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-Xmx128m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  KilledWriter.class.getName(),
                  place.toString())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      awaitSaves(output, writer, 3 + round % 4);
      // It saves all the time; the law must hold at every moment.
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(SPREAD_MICROS)));
      writer.destroyForcibly();
      writer.waitFor();
      long reported = wholeLines(output);

      CheckpointStore store = new CheckpointStore(place, "uid-1", 3, InstantSource.system());

      List<Section.Form> model = States.random(1, 200_000).forms();
      CheckpointStore.Loaded loaded = store.loadNewestValid(model).orElseThrow();
      assertThat(loaded.step()).isGreaterThanOrEqualTo(reported);
      States.assertIdentical(loaded.state(), States.random(loaded.step(), 200_000));
      for (long step : store.steps()) {
        assertThat(store.load(step, model).step()).isEqualTo(step);
      }
    }
  }

  private static void awaitSaves(Path output, Process writer, long saves) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    while (wholeLines(output) < saves) {
      assertThat(writer.isAlive()).as(Files.readString(output)).isTrue();
      assertThat(System.nanoTime()).isLessThan(deadline);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Steps the writer promised to be durable: it prints one line for each. */
  private static long wholeLines(Path output) throws IOException {
    return Files.readString(output).chars().filter(c -> c == '\n').count();
  }
}
