package dev.kastor.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.api.Json;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WhyTest {
  private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");
  private static final String WAITS =
      """
      {"namespace": "default", "name": "digits", "at": "2026-01-01T00:59:48Z", "replicas": 0,
       "reason": "Waiting", "message": "Other jobs gain more from the GPUs.",
       "numbers": {"leastSlots": 2, "bidPerSlot": 0.42, "pricePerSlot": 0.63,
                   "remainingSeconds": 3600},
       "expectedStart": "2026-01-01T01:12:00Z", "expectedFinish": "2026-01-01T02:12:00Z",
       "ahead": 2}
      """;

  @TempDir Path folder;

  private static TrainingJob job(String status) {
    TrainingJob job = Serialization.unmarshal(Terminal.JOB, TrainingJob.class);
    job.getMetadata().setNamespace("default");
    return Serialization.unmarshal(
        Serialization.asYaml(job).replace("spec:", "status: " + status + "\nspec:"),
        TrainingJob.class);
  }

  private static List<String> lines(String status, @Nullable String decision) throws IOException {
    JobView view = JobView.of(job(status));
    Decision decided = decision == null ? null : Decision.of(Json.YAML.readTree(decision));
    return Why.lines(
        new Why.Answer(
            view,
            decided,
            decided == null ? List.of() : Counterfactual.of(view, decided),
            List.of(),
            Why.condition(job(status), "PriorityLimited"),
            Why.condition(job(status), "PodsRefused"),
            null),
        NOW,
        80);
  }

  @Test
  void tellsAJobThatWaitsWhatItWouldTake() throws IOException {
    assertThat(lines("{phase: Queued}", WAITS))
        .containsExactly(
            "default/digits is Queued with 0 replicas (may have 1 to 4)",
            "Why:         Waiting: Other jobs gain more from the GPUs. (12s ago)",
            "To get more: It needs 2 GPUs, and 2 jobs that wait are ahead of it.",
            "             It starts when other jobs end or nodes come; sooner in a queue of",
            "             1.500 times the weight (kastor queue) or with a higher priority,",
            "             each level of which counts ten times.",
            "Expected:    starts in about 12m00s, done in 72m00s at the earliest, if nobody",
            "             else comes");
    JobView view = JobView.of(job("{phase: Queued}"));
    Decision decision = Decision.of(Json.YAML.readTree(WAITS));
    assertThat(Why.figures(new Why.Answer(view, decision, List.of(), List.of(), null, null, null)))
        .containsExactly(
            "Figures:     It bids 0.420 for each of 2 GPUs, and a GPU costs 0.630 (job-seconds"
                + " saved per GPU-second).");
  }

  @Test
  void tellsAJobThatRunsWhatMoreWouldTake() throws IOException {
    String decision =
        """
        {at: "2026-01-01T00:59:00Z", replicas: 2, reason: Kept, message: "No change would gain.",
         numbers: {pricePerSlot: 0.5, moreSlots: 1, bidPerMoreSlot: 0.1, nextInLinePerSlot: 0.3},
         expectedFinish: "2026-01-01T01:10:00Z", ahead: 0}
        """;
    String text = String.join(" ", lines("{phase: Running}", decision)).replaceAll(" +", " ");
    assertThat(text)
        .contains("It grows when other jobs end or nodes come; sooner in a queue of 5.000 times")
        .contains("done in 10m00s");
    JobView view = JobView.of(job("{phase: Running}"));
    assertThat(Counterfactual.figures(view, Decision.of(Json.YAML.readTree(decision))))
        .containsExactly(
            "It bids 0.100 for each of 1 more GPU, and a GPU costs 0.500 (job-seconds saved per"
                + " GPU-second).",
            "The next in line for what it has bids 0.300 for each GPU.");
    assertThat(String.join(" ", lines("{phase: Running}", decision.replace("0.1", "-0.2"))))
        .contains("1 more GPU would not make up for the pause");
  }

  @Test
  void saysThatANodeIsSlow() throws IOException {
    String decision =
        "{replicas: 2, reason: Kept, message: m, numbers: {pricePerSlot: 0.5, slowdown: 2.0},"
            + " ahead: 0}";
    assertThat(lines("{phase: Running}", decision))
        .contains("Slow node:   steps take 2.0 times as long on one of its nodes as on others of");
  }

  @Test
  void namesTheBoundThatHoldsItBack() throws IOException {
    String all = "{replicas: 4, reason: Kept, message: m, numbers: {pricePerSlot: 0.5}, ahead: 0}";
    String status =
        "{phase: Running, allocation: {replicas: 4, nodes: {a: 4}, version: 1, since: x, reason: r,"
            + " message: m}}";
    assertThat(lines(status, all)).anyMatch(l -> l.contains("scale digits --max N"));
    assertThat(lines("{phase: Suspended}", all)).anyMatch(l -> l.contains("kastor resume digits"));
    String nowhere = "{replicas: 0, reason: NoFittingNodes, message: m, numbers: {}, ahead: 0}";
    assertThat(lines("{phase: Queued}", nowhere)).anyMatch(l -> l.contains("kastor scale digits"));
    String covered = WAITS.replace("0.42", "0.7");
    assertThat(String.join(" ", lines("{phase: Queued}", covered)))
        .contains("It starts as soon as GPUs that fit are free.");
  }

  @Test
  void tellsWhatQuotaAJobWaitsFor() throws IOException {
    String waits =
        """
        {at: "2026-01-01T00:59:48Z", replicas: 0, reason: WaitingForQuota, message: m., ahead: 0,
         numbers: {leastSlots: 2, queueUsed: %d, queueNominal: 4, queueCeiling: %d%s}}
        """;
    assertThat(quota(waits.formatted(4, 4, "")))
        .contains("give back 2 GPUs, or when quota.gpus of the queue is higher by as much");
    assertThat(quota(waits.formatted(5, 8, ", cohortUsed: 7, cohortNominal: 8")))
        .contains("It starts when the queues of its cohort leave 1 GPU more");
    assertThat(quota(waits.formatted(2, 8, ", cohortUsed: 8, cohortNominal: 8")))
        .contains("entitled to what it needs");
    assertThat(quota(waits.formatted(4, 8, ", cohortUsed: 5, cohortNominal: 8")))
        .contains("quota.lendingLimit");
    assertThat(quota(waits.formatted(0, 1, "").replace("WaitingForQuota", "ExceedsQuota")))
        .contains("With a least size of 1 GPU it could start")
        .contains("if quota.gpus of queue default were higher by 1 GPU");
    assertThat(quota(waits.formatted(0, 1, "").replace("WaitingForQuota", "QueueHeld")))
        .contains("kubectl patch queues.kastor.dev default");
  }

  private static String quota(String decision) throws IOException {
    return String.join(" ", lines("{phase: Queued}", decision)).replaceAll(" +", " ");
  }

  @Test
  void tellsWhatTheConditionSaysOfAJobThatNoRoundSaw() throws IOException {
    String status =
        "{phase: Queued, conditions: [{type: Queued, status: 'True', reason: QueueNotFound,"
            + " message: 'spec.queue is x.', lastTransitionTime: '2026-01-01T00:59:00Z'}]}";
    Decision decision = Decision.of(job(status)).orElseThrow();
    JobView view = JobView.of(job(status));
    assertThat(
            Why.lines(
                new Why.Answer(
                    view, decision, Counterfactual.of(view, decision), List.of(), null, null, null),
                NOW,
                200))
        .anyMatch(line -> line.contains("QueueNotFound: spec.queue is x. (60s ago)"))
        .anyMatch(line -> line.contains("kubectl patch trainingjob digits -n default"));
  }

  @Test
  void tellsWhyAPriorityCountsLess() throws IOException {
    String status =
        "{phase: Queued, conditions: [{type: PriorityLimited, status: '%s', reason: BudgetSpent,"
            + " message: 'Queue red has spent it.'}]}";
    assertThat(lines(status.formatted("True"), WAITS))
        .contains("Priority:    BudgetSpent: Queue red has spent it.");
    assertThat(lines(status.formatted("False"), WAITS)).noneMatch(l -> l.startsWith("Priority"));
  }

  @Test
  void tellsWhyAJobHasFewerPodsThanItCouldHave() throws IOException {
    String status =
        "{phase: Running, conditions: [{type: PodsRefused, status: '%s', reason: PodsRefused,"
            + " message: 'exceeded quota: gpus'}]}";
    assertThat(lines(status.formatted("True"), WAITS))
        .contains("Pods:        PodsRefused: exceeded quota: gpus");
    assertThat(lines(status.formatted("False"), WAITS)).noneMatch(l -> l.startsWith("Pods"));
  }

  @Test
  void tellsWhichPodsDoNotComeUp() throws IOException {
    Decision decision = Decision.of(Json.YAML.readTree(WAITS));
    assertThat(
            Why.lines(
                new Why.Answer(
                    JobView.of(job("{phase: Starting}")),
                    decision,
                    List.of(),
                    List.of("digits-0: ErrImagePull: 401", "digits-1: ErrImagePull: 401"),
                    null,
                    null,
                    null),
                NOW,
                80))
        .containsSubsequence(
            "Pods:        digits-0: ErrImagePull: 401", "             digits-1: ErrImagePull: 401");
  }

  @Test
  void saysOnlyWhatIsKnown() throws IOException {
    assertThat(lines("{phase: Queued}", null)).contains("No round has decided on it yet.");
    String other = "{replicas: 0, reason: Queued, message: m, numbers: {}, ahead: 0}";
    assertThat(lines("{phase: Queued}", other)).contains("Expected:    start not known");
    assertThat(lines("{phase: Succeeded}", other)).noneMatch(l -> l.startsWith("Expected"));
  }

  @Tag("slow")
  @Test
  void asksTheOperatorAndDoesWithoutIt() throws IOException {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator =
            new FakeOperator().answer("/api/v1/jobs/default/digits/decision", WAITS)) {
      Path file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
      terminal.run("submit", "-f", file.toString());
      JsonNode answer =
          new ObjectMapper()
              .readTree(
                  terminal.run("why", "digits", "--operator", operator.url(), "-o", "json").out());
      assertThat(answer.at("/decision/numbers/bidPerSlot").asDouble()).isEqualTo(0.42);
      assertThat(answer.at("/toGetMore")).hasSize(2);
      terminal.status(
          "digits",
          "{phase: Queued, allocation: {replicas: 0, nodes: {}, version: 1, since:"
              + " '2026-01-01T00:00:00Z', reason: Stopped, message: was stopped}}");
      Terminal.Result without = terminal.run("why", "digits");
      assertThat(without.code()).isZero();
      assertThat(without.out()).contains("Why:         Stopped: was stopped");
      assertThat(without.err()).contains("does not answer at http://127.0.0.1:9/");
      assertThat(terminal.run("why", "digits", "-o", "yaml").out())
          .contains("operatorAway:")
          .contains("reason: Stopped");
      assertThat(terminal.run("why", "none").code()).isEqualTo(ExitCode.NOT_FOUND);
    }
  }
}
