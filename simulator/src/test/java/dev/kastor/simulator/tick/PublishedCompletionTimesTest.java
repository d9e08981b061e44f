package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.TracesJson;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.measured.PolluxApplications;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tiresias and Optimus depend on no random number and no fit, so every job of every open workload
 * must complete at the published second (Pollux, OSDI 2021, artifact).
 */
@Tag("slow")
@Tag("never-retried")
final class PublishedCompletionTimesTest {
  @ParameterizedTest
  @CsvSource({
    "tiresias,workloads-0.5", "tiresias,workloads", "tiresias,workloads-1.5",
    "tiresias,workloads-2.0", "optimus,workloads-0.5", "optimus,workloads",
    "optimus,workloads-1.5", "optimus,workloads-2.0"
  })
  void everyJobCompletesAtThePublishedSecond(String policy, String set) throws Exception {
    JsonNode published =
        TracesJson.read("pollux/results/jcts.json").get("published/" + set + "/" + policy);
    Map<String, Application> applications =
        PolluxApplications.read(PublishedTraces.path("pollux/applications"));
    for (int w = 1; w <= 6; w++) {
      Workload workload =
          TraceFormats.read(
              PublishedTraces.path("pollux/%s/workload-%d.csv".formatted(set, w)),
              applications.keySet());
      Replay replay =
          new TickSimulation(
                  TickSettings.of(Mode.POLLUX),
                  ClusterShape.parse("16x4"),
                  workload,
                  applications,
                  Policies.factory(policy, PolicyContext.published(1)),
                  1,
                  (seconds, done, all) -> {})
              .run();
      Map<String, Long> ours = new TreeMap<>();
      replay.jobs().forEach(job -> ours.put(job.name(), Math.round(job.completionSeconds())));
      Map<String, Long> theirs = new TreeMap<>();
      published
          .get("workload-" + w)
          .properties()
          .forEach(job -> theirs.put(job.getKey(), job.getValue().asLong()));
      assertThat(theirs).isNotEmpty();
      assertThat(ours).as("workload %d", w).isEqualTo(theirs);
    }
  }
}
