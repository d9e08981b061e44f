package dev.kastor.traces.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Job;
import dev.kastor.traces.Workload.Outcome;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.format.WorkloadFile;
import dev.kastor.traces.profile.Applications;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Figures are those that the studies report; see {@link ClusterStudies} for where. */
final class WorkloadGeneratorTest {
  private static final int MANY = 100_000;
  private static final Path SHIPPED =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces/profiles/kastor.csv");

  @TempDir private Path folder = Path.of("");

  private static WorkloadGenerator.Options options(int jobs, int days, long seed) {
    return new WorkloadGenerator.Options(jobs, Duration.ofDays(days), 0, 128, seed);
  }

  private static double share(Workload workload, Predicate<Job> predicate) {
    return (double) workload.jobs().stream().filter(predicate).count() / workload.jobs().size();
  }

  private static double median(Workload workload, Predicate<Job> predicate) {
    double[] sorted =
        workload.jobs().stream()
            .filter(predicate)
            .mapToDouble(Job::durationSeconds)
            .sorted()
            .toArray();
    return sorted[sorted.length / 2];
  }

  private static boolean submittedAtHour(Job job, int hour) {
    return (long) (job.submitSeconds() / 3600) % 24 == hour;
  }

  private static boolean submittedOnDay(Job job, int day) {
    return (long) (job.submitSeconds() / 86_400) % 7 == day;
  }

  @Tag("slow")
  @Test
  void phillyHasTheSizesDurationsAndOutcomesOfTheStudy() {
    Workload philly = WorkloadGenerator.durations(ClusterStudies.PHILLY, options(MANY, 14, 1));
    assertThat(share(philly, j -> j.requestedReplicas() == 1)).isCloseTo(0.932, within(0.005));
    assertThat(share(philly, j -> j.requestedReplicas() >= 8)).isCloseTo(0.0235, within(0.002));
    assertThat(share(philly, j -> j.outcome() == Outcome.COMPLETED))
        .isCloseTo(0.693, within(0.005));
    assertThat(share(philly, j -> j.outcome() == Outcome.KILLED)).isCloseTo(0.135, within(0.005));
    assertThat(median(philly, j -> j.requestedReplicas() == 1)).isCloseTo(1117, within(60.0));
    assertThat(median(philly, j -> j.requestedReplicas() == 8)).isCloseTo(23_683, within(4000.0));
    double mean = philly.jobs().stream().mapToDouble(Job::durationSeconds).average().orElseThrow();
    assertThat(mean).isCloseTo(13_136, within(1300.0));
    assertThat(share(philly, j -> j.durationSeconds() > 7 * 86_400))
        .isCloseTo(0.0029, within(0.001));
  }

  @Tag("slow")
  @Test
  void phillyIsBusierOnWorkingDaysAndInTheMorningOfItsClock() {
    Workload philly = WorkloadGenerator.durations(ClusterStudies.PHILLY, options(MANY, 14, 1));
    assertThat(share(philly, j -> submittedOnDay(j, 4))).isCloseTo(1.43 / 7, within(0.005));
    assertThat(share(philly, j -> submittedOnDay(j, 6))).isCloseTo(0.63 / 7, within(0.005));
    assertThat(share(philly, j -> submittedAtHour(j, 7))).isCloseTo(2.09 / 24, within(0.004));
    assertThat(share(philly, j -> submittedAtHour(j, 14))).isCloseTo(0.64 / 24, within(0.004));
  }

  @Tag("slow")
  @Test
  void heliosHasTheMeansMediansAndOutcomesOfTheStudy() {
    Workload helios = WorkloadGenerator.durations(ClusterStudies.HELIOS, options(MANY, 14, 1));
    assertThat(helios.jobs().stream().mapToInt(Job::requestedReplicas).average().orElseThrow())
        .isCloseTo(3.716, within(0.1));
    assertThat(share(helios, j -> j.requestedReplicas() == 1)).isCloseTo(0.722, within(0.005));
    assertThat(median(helios, j -> true)).isCloseTo(206, within(10.0));
    assertThat(helios.jobs().stream().mapToDouble(Job::durationSeconds).average().orElseThrow())
        .isCloseTo(6652, within(900.0));
    assertThat(helios.jobs()).allMatch(j -> j.durationSeconds() <= 50 * 86_400);
    assertThat(share(helios, j -> j.outcome() == Outcome.COMPLETED))
        .isCloseTo(0.624, within(0.005));
    assertThat(share(helios, j -> j.outcome() == Outcome.KILLED)).isCloseTo(0.221, within(0.005));
    assertThat(share(helios, j -> submittedAtHour(j, 5)))
        .isLessThan(share(helios, j -> submittedAtHour(j, 15)) / 2);
  }

  @Test
  void sameSeedSameBytes() {
    String first = text(5);
    assertThat(text(5)).isEqualTo(first);
    assertThat(text(6)).isNotEqualTo(first);
  }

  private static String text(long seed) {
    return WorkloadFile.text(
        List.of(), WorkloadGenerator.durations(ClusterStudies.PHILLY, options(500, 2, seed)));
  }

  @Test
  void whatIsMadeIsAWorkload() throws IOException, TraceException {
    Workload made = WorkloadGenerator.durations(ClusterStudies.HELIOS, options(1000, 1, 3));
    Path file = Files.writeString(folder.resolve("helios.csv"), WorkloadFile.text(List.of(), made));
    assertThat(TraceFormats.read(file, Set.of())).isEqualTo(made);
    assertThat(made.jobs().getLast().submitSeconds()).isLessThan(86_400);
  }

  @Test
  void jobsOfApplicationsAskForSizesThatPay() throws TraceException {
    var applications = Applications.read(SHIPPED);
    Workload workload =
        WorkloadGenerator.applications(
            ClusterStudies.HELIOS, options(400, 1, 1), applications.values());
    assertThat(workload.jobs()).extracting(Job::application).isSubsetOf(applications.keySet());
    assertThat(workload.jobs()).extracting(Job::application).contains("digits", "images");
    assertThat(workload.jobs()).extracting(Job::requestedReplicas).contains(2, 8);
    for (Job job : workload.jobs()) {
      var application = Objects.requireNonNull(applications.get(job.application()));
      assertThat(job.requestedReplicas()).isBetween(1, application.maxReplicas());
      assertThat(job.globalBatch())
          .isBetween(
              application.batchLimits("").initialGlobalBatch(),
              application.batchLimits("").maxGlobalBatch());
    }
  }

  @Test
  void gangsTakeWholeNodesAmongSmallJobs() throws TraceException {
    Workload workload =
        WorkloadGenerator.gangs(
            ClusterStudies.HELIOS, options(400, 1, 1), 8, Applications.read(SHIPPED).values());
    assertThat(share(workload, job -> job.slotsPerReplica() == 8)).isBetween(0.12, 0.28);
    assertThat(workload.jobs()).extracting(Job::requestedReplicas).contains(1, 2, 4);
    for (Job job : workload.jobs()) {
      boolean gang = job.slotsPerReplica() == 8;
      assertThat(job.category())
          .isEqualTo(gang ? Workload.Category.RIGID : Workload.Category.ADAPTIVE);
      assertThat(job.minReplicas()).isEqualTo(gang ? job.maxReplicas() : 1);
      assertThat(job.maxReplicas()).isLessThanOrEqualTo(gang ? 16 : 7);
    }
  }

  @Test
  void refusesWhatCannotBeMade() {
    assertThatThrownBy(() -> ClusterStudies.named("borg"))
        .hasMessageContainingAll("borg", "philly", "helios");
    assertThatThrownBy(() -> options(0, 1, 1)).hasMessageContaining("jobs (0)");
    assertThatThrownBy(() -> options(1, 0, 1)).hasMessageContaining("span");
  }
}
