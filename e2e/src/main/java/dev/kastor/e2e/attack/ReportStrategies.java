package dev.kastor.e2e.attack;

import static dev.kastor.e2e.attack.Strategy.Aim.ACCESS;
import static dev.kastor.e2e.attack.Strategy.Aim.GPUS;
import static dev.kastor.e2e.attack.Strategy.Aim.OPERATOR;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.e2e.attack.Stranger.Port;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;

/** Reports of agents that lie, with the real tokens of their own pods. */
final class ReportStrategies {
  private static final int LOWEST = -1000;
  private static final int MOST_REPLICAS = 8;

  /** The operator's own default, after which it deletes their pods. */
  private static final Duration LEAVE_GRACE = Duration.ofSeconds(30);

  private static final long STEPS = 1_000_000_000;

  private ReportStrategies() {}

  static List<Strategy> all() {
    return List.of(
        lie("pauses of thirty years", "pauser", Lab.HOSTILE_QUEUE, 0, ReportStrategies::longPauses),
        lie(
            "pauses of thirty years and an end that is near, lowest priority",
            "finisher",
            Lab.SHARED_QUEUE,
            LOWEST,
            report -> almostDone(longPauses(report))),
        lie(
            "perfect scaling and nothing but noise",
            "scaler",
            Lab.HOSTILE_QUEUE,
            0,
            ReportStrategies::allGain),
        lie("progress that jumps", "jumper", Lab.HOSTILE_QUEUE, 0, ReportStrategies::jumps),
        new Strategy(
            "replicas that do not leave when they are told to",
            GPUS,
            LEAVE_GRACE,
            hostile ->
                speak(hostile, "deaf", Lab.HOSTILE_QUEUE, 0, false, UnaryOperator.identity())),
        new Strategy("control characters in last words", OPERATOR, ReportStrategies::lastWords),
        new Strategy("a gang that speaks as agents do", ACCESS, ReportStrategies::gangSpeaks));
  }

  private static Strategy lie(
      String what, String job, String queue, int priority, UnaryOperator<ObjectNode> words) {
    return new Strategy(
        "reports of " + what, GPUS, hostile -> speak(hostile, job, queue, priority, true, words));
  }

  private static void speak(
      Hostile hostile,
      String job,
      String queue,
      int priority,
      boolean leaves,
      UnaryOperator<ObjectNode> words)
      throws InterruptedException {
    hostile.make(Shapes.program(job, queue, priority, MOST_REPLICAS));
    hostile.open(new Liar(hostile, job, STEPS, leaves, words)).untilHeard();
  }

  private static ObjectNode longPauses(ObjectNode report) {
    report
        .putArray("switches")
        .addObject()
        .put("generation", report.get("generation").asLong())
        .put("replicasBefore", 1)
        .put("replicasAfter", report.get("replicas").asInt())
        .put("cause", "RESCALE")
        .put("pauseSeconds", 1e9);
    return report;
  }

  private static ObjectNode allGain(ObjectNode report) {
    ((ObjectNode) report.at("/profiles/0")).put("syncSeconds", 0).put("stepSeconds", 1e-3);
    report
        .putObject("gradient")
        .put("squaredNorm", 1e-9)
        .put("variance", 1e9)
        .put("initialBatch", 64);
    return report;
  }

  private static ObjectNode almostDone(ObjectNode report) {
    ObjectNode progress = (ObjectNode) report.get("progress");
    progress.put("totalScaleInvariantSteps", progress.get("scaleInvariantSteps").asLong() + 1);
    return report;
  }

  private static ObjectNode jumps(ObjectNode report) {
    ObjectNode progress = (ObjectNode) report.get("progress");
    long step =
        progress.get("step").asLong() * (report.get("sequence").asLong() % 2 == 0 ? 1 : 1_000_000);
    progress.put("step", step).put("scaleInvariantSteps", step).put("examples", step * 64);
    return report;
  }

  private static void lastWords(Hostile hostile) throws Exception {
    Instant begun = Instant.now();
    hostile.make(Shapes.program("poet", Lab.HOSTILE_QUEUE, 0, 1));
    hostile
        .open(
            new Liar(
                hostile,
                "poet",
                STEPS,
                true,
                report -> {
                  ObjectNode outcome = report.putObject("outcome");
                  outcome.set("progress", report.get("progress"));
                  outcome
                      .put("kind", "FAILED_PERMANENTLY")
                      .put("lostOrRepeatedExamples", 0)
                      .put(
                          "message",
                          "\u001b]0;x\u0007\u001b[2J\r\n12:00:00.000 INFO  [AllocationWriter] forged");
                  return report;
                }))
        .untilHeard();
    hostile.promise(
        Promise.inARound(
            "no control character reaches the log",
            () -> !hostile.operator().logsControlCharacters(begun)));
    hostile.promise(
        Promise.inARound(
            "no control character reaches the job's conditions",
            () ->
                hostile.jobs().status("poet").stream()
                    .flatMap(status ->
                        status.conditions() == null
                            ? List.<Condition>of().stream()
                            : status.conditions().stream())
                    .noneMatch(
                        condition -> condition.getMessage().chars().anyMatch(c -> c < ' '))));
  }

  private static void gangSpeaks(Hostile hostile) throws Exception {
    hostile.make(Shapes.gang("mute", Lab.HOSTILE_QUEUE, 0, 1));
    hostile.untilHeld("mute", 1);
    for (Pod pod : hostile.jobs().running("mute")) {
      String path =
          "/v1/jobs/%s/mute/membership?pod=%s&address=10.244.0.1:7000&generation=0&phase=READY&step=0&wait=0"
              .formatted(Lab.HOSTILE, pod.getMetadata().getName());
      int status = hostile.stranger().get(Port.TLS, path, hostile.token(pod)).status();
      hostile.promise(
          Promise.now(
              "the pod of a gang is refused as an agent, not answered " + status,
              () -> status >= 400 && status < 500));
    }
  }
}
