package dev.kastor.e2e.scale;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;

/**
 * The agent of one pod: waits for generations in one thread, and reports every five seconds in
 * another while it has rank 0. Its steps take 20 ms each, measured without noise.
 */
final class PlayedAgent {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration REPORTS = Duration.ofSeconds(5);
  private static final Duration AGAIN = Duration.ofSeconds(2);
  private static final int STEPS = 250;
  private static final double STEP_SECONDS = 0.02;
  private static final int INITIAL_BATCH = 64;

  private final String namespace;
  private final String job;
  private final String pod;
  private final String token;
  private final AgentLine line;
  private final PlayedAgents all;
  private volatile long generation;
  private volatile long step;
  private volatile boolean first;
  private volatile JsonNode membership = JSON.createObjectNode();

  PlayedAgent(Pod pod, String token, AgentLine line, PlayedAgents all) {
    namespace = pod.getMetadata().getNamespace();
    job = pod.getMetadata().getLabels().get("kastor.dev/job");
    this.pod = pod.getMetadata().getName();
    this.token = token;
    this.line = line;
    this.all = all;
  }

  /** Lives until it is told to go or its thread is interrupted. */
  void run() throws InterruptedException {
    Thread reporter = Thread.ofVirtual().name(pod + "-reports").start(this::report);
    try {
      while (poll()) {}
    } finally {
      reporter.interrupt();
    }
  }

  private boolean poll() throws InterruptedException {
    try {
      var answer =
          line.get(
              "/v1/jobs/%s/%s/membership?pod=%s&address=10.244.0.1:7000&generation=%d&phase=%s&step=%d&wait=30"
                  .formatted(
                      namespace,
                      job,
                      pod,
                      generation,
                      generation == 0 ? "READY" : "TRAINING",
                      step),
              token);
      if (answer.statusCode() != HttpURLConnection.HTTP_OK) {
        all.failed("poll: " + answer.statusCode());
        Thread.sleep(AGAIN);
        return true;
      }
      JsonNode news = JSON.readTree(answer.body());
      return switch (news.path("action").asText()) {
        case "RUN" -> follow(news);
        case "STOP", "LEAVE" -> false;
        default -> true;
      };
    } catch (IOException e) {
      all.failed("poll: " + e.getClass().getSimpleName());
      Thread.sleep(AGAIN);
      return true;
    }
  }

  private boolean follow(JsonNode news) {
    for (JsonNode member : news.path("members")) {
      if (member.path("pod").asText().equals(pod)) {
        membership = news;
        first = member.path("rank").asInt() == 0;
        generation = news.path("generation").asLong();
        return true;
      }
    }
    return false;
  }

  private void report() {
    long sequence = 0;
    try {
      // As if pods had not all been started at the same moment.
      Thread.sleep(Math.floorMod(pod.hashCode(), REPORTS.toMillis()));
      while (true) {
        Thread.sleep(REPORTS);
        if (generation > 0 && first) {
          step += STEPS;
          send(++sequence);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(long sequence) throws InterruptedException {
    long begun = System.nanoTime();
    try {
      var answer =
          line.post(
              "/v1/jobs/%s/%s/telemetry".formatted(namespace, job),
              token,
              JSON.writeValueAsBytes(body(sequence)));
      if (answer.statusCode() == HttpURLConnection.HTTP_NO_CONTENT) {
        all.reported((System.nanoTime() - begun) / 1e9);
      } else {
        all.failed("report: " + answer.statusCode());
      }
    } catch (IOException e) {
      all.failed("report: " + e.getClass().getSimpleName());
    }
  }

  private ObjectNode body(long sequence) {
    int replicas = membership.path("members").size();
    JsonNode batch = membership.path("batchPlan");
    long examples =
        step
            * replicas
            * batch.path("atomicBatchSize").asLong()
            * (batch.path("accumulationSteps").asLong() + 1);
    ObjectNode report = JSON.createObjectNode();
    report.put("namespace", namespace).put("job", job).put("pod", pod);
    report.put("generation", generation).put("sequence", sequence).put("replicas", replicas);
    report.set("batch", batch);
    report
        .putArray("profiles")
        .addObject()
        .put("nodes", 1)
        .put("replicas", replicas)
        .put("atomicBatchSize", batch.path("atomicBatchSize").asInt())
        .put("steps", STEPS)
        .put("stepSeconds", STEP_SECONDS)
        .put("syncSeconds", replicas > 1 ? STEP_SECONDS / 10 : 0);
    report
        .putObject("gradient")
        .put("squaredNorm", 1)
        .put("variance", 8)
        .put("initialBatch", INITIAL_BATCH);
    report
        .putObject("progress")
        .put("step", step)
        .put("scaleInvariantSteps", step)
        .put("totalScaleInvariantSteps", 1_000_000)
        .put("examples", examples)
        .put("epoch", 0);
    report.put("trainingLoss", 0.5).put("learningRate", 0.05);
    report.putArray("switches");
    return report;
  }
}
