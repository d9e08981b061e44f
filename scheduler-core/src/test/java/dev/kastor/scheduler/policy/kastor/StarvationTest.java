package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A long job that others with little left would keep out for good, as its wait grows. */
final class StarvationTest {
  private static final int SLOTS = 4;

  private static TestJob gang(String name) {
    return job(name)
        .model(TestJob.SCALABLE, SLOTS)
        .elasticity(new Elasticity.Rigid(SLOTS))
        .rescaleCost(Duration.ofSeconds(30))
        .sinceChange(Duration.ofHours(1));
  }

  /** What comes of it when so many others are never older than a minute. */
  private static Decision decide(Duration age, int others, int priority) {
    List<JobState> jobs = new ArrayList<>();
    jobs.add(gang("long").steps(10, 100_000).age(age).build());
    for (int i = 0; i < others; i++) {
      TestJob young = gang("young-" + i).steps(99_000, 100_000).age(Duration.ofMinutes(1));
      jobs.add((i == 0 ? young.on("n0", SLOTS) : young).priority(priority).build());
    }
    return new KastorPolicy(TestOptions.USUAL)
        .decide(new Snapshot(Instant.EPOCH, List.of(new Node("n0", "a", SLOTS)), jobs, Map.of()));
  }

  private static Duration longestWait(int others, int priority) {
    Duration age = Duration.ofMinutes(1);
    while (true) {
      Decision decision = decide(age, others, priority);
      Bid waits = decision.bids().getFirst();
      if (!decision.plan().allocation(waits.job.id()).isEmpty()) {
        return age;
      }
      double least = waits.weight * waits.value[0] / (waits.worth * waits.offers.rate()[0]);
      assertThat(waits.value[0]).isGreaterThanOrEqualTo(least);
      assertThat(least)
          .as("who waits %s bids less than the price", age)
          .isLessThanOrEqualTo(decision.price()[0] * SLOTS * (1 + 1e-6));
      assertThat(age).isLessThan(Duration.ofDays(100_000));
      age = age.multipliedBy(5).dividedBy(4);
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 10, 100})
  void itGetsItsTurnOnceItsRatioIsWorthThePrice(int others) {
    assertThat(longestWait(others, 0)).isGreaterThan(Duration.ofMinutes(1));
  }

  @Test
  void itsTurnComesEvenAmongHigherPriorities() {
    assertThat(longestWait(3, 2)).isGreaterThan(longestWait(3, 0));
  }

  /**
   * Alone on its cluster a job has all of its share. Nothing is known of its work, so that it has
   * 600 s left: after {@code age} seconds its ratio is {@code (age + 600) / 600}.
   */
  @ParameterizedTest
  @CsvSource({
    "2, 0, 1",
    "2, 600, 1",
    "2, 1200, 2.25",
    "2, 3000, 9",
    "6, 3000, 1",
    "3, 3000, 4",
    "0.5, 0, 4",
    "infinity, 1000000, 1"
  })
  void itsWorthGrowsWithTheSquareOfItsRatioOverTheFairness(
      String fairness, long age, double weight) {
    Options options =
        Options.parse("policy", new KastorPlugin(), Map.of(KastorPlugin.FAIRNESS.name(), fairness));
    JobState job = gang("a").rescaleCost(Duration.ZERO).age(Duration.ofSeconds(age)).build();
    Snapshot alone =
        new Snapshot(Instant.EPOCH, List.of(new Node("n0", "a", SLOTS)), List.of(job), Map.of());
    Bid bid = new KastorPolicy(options).decide(alone).bids().getFirst();
    assertThat(bid.weight).isCloseTo(weight, within(1e-9));
  }
}
