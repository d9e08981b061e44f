package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.local.SmallDisk;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server on a disk that is full at random moments.
 *
 * <p>{@code -Dkastor.diskFullMoments=2000} makes it longer, {@code -Dkastor.seed=N} repeats a run.
 */
final class DiskFullIT {
  private static final int MOMENTS = Integer.getInteger("kastor.diskFullMoments", 200);

  @TempDir Path folder;

  @Test
  void nothingAcceptedIsLostAndNothingDeletedComesBack() throws Exception {
    long seed = Long.getLong("kastor.seed", new Random().nextLong());
    String said =
        SmallDisk.run(
            folder,
            DiskFullRun.class,
            "seed " + seed,
            Long.toString(seed),
            Integer.toString(MOMENTS));
    assertThat(said).contains("moments=" + MOMENTS).doesNotContain("refused=0 ");
    System.out.printf("disk full, seed %d: %s", seed, said.substring(said.indexOf("moments=")));
  }
}
