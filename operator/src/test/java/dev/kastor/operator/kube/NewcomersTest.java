package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NewcomersTest {
  private Instant now = Instant.EPOCH;
  private final Newcomers newcomers = new Newcomers(() -> now);

  @Test
  void aFewNewJobsHoldUpNobody() {
    jobs(Newcomers.MANY).forEach(newcomers::came);

    assertThat(newcomers.many()).isFalse();
  }

  @Test
  void manyHoldUpTheRestUntilTheyWereLookedAt() {
    List<TrainingJob> jobs = jobs(10_000);
    jobs.forEach(newcomers::came);
    assertThat(newcomers.many()).isTrue();

    jobs.stream().skip(Newcomers.MANY).forEach(newcomers::met);
    assertThat(newcomers.many()).isFalse();
  }

  @Test
  void aStormWithoutEndHoldsUpTheRestForSomeMinutesOnly() {
    List<TrainingJob> jobs = jobs(2 * Newcomers.MANY);
    jobs.forEach(newcomers::came);
    now = now.plus(Newcomers.LONGEST).minusMillis(1);
    assertThat(newcomers.many()).isTrue();
    now = now.plusMillis(1);
    assertThat(newcomers.many()).isFalse();

    jobs.forEach(newcomers::met);
    jobs.forEach(newcomers::came);
    assertThat(newcomers.many()).as("the next storm").isTrue();
  }

  private static List<TrainingJob> jobs(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> TestJobs.job("job-" + i, 1, 1, GoodputSpec.Mode.Adaptive))
        .toList();
  }
}
