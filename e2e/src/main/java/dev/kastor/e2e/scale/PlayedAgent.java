package dev.kastor.e2e.scale;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;

/**
 * The agent of one pod: waits for generations in one thread, and reports every some steps in
 * another while it has rank 0, until the job's work is done. Its steps take 20 ms each, measured
 * without noise.
 */
public final class PlayedAgent {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration AGAIN = Duration.ofSeconds(2);
  private static final long STEP_MILLIS = 20;
  private static final double STEP_SECONDS = STEP_MILLIS / 1000.0;
  private static final int INITIAL_BATCH = 64;

  /** Variance of the gradient of an initial batch in multiples of its squared norm. */
  private static final double VARIANCE = 8;

  private final String namespace;
  private final String job;
  private final String pod;
  private final String token;
  private final AgentLine line;
  private final Manner manner;
  private final Tally tally;
  private volatile long generation;
  private volatile boolean first;
  private final Work work;
  private volatile JsonNode membership = JSON.createObjectNode();

  /** Count of what became of the requests of agents. */
  public interface Tally {
    /** A report was answered. */
    void reported(double seconds);

    /** A request was refused or not answered. */
    void failed(String why);
  }

  /** Factor by which a step takes longer than usual. */
  public interface Slowdown {
    /** The factor of a job on these nodes of a GPU type. */
    double of(String job, String gpuType, List<String> nodes);
  }

  /**
   * Habits of an agent.
   *
   * @param stepsPerReport how many steps it takes between two reports
   * @param slowdown by how much a step takes longer than usual
   * @param words what it makes of a report that would be true
   */
  public record Manner(int stepsPerReport, Slowdown slowdown, UnaryOperator<ObjectNode> words) {
    /** Habits of real agents. */
    static final Manner HONEST = new Manner(250, UnaryOperator.identity());

    /** Habits of agents that are as fast on all GPU types. */
    public Manner(int stepsPerReport, UnaryOperator<ObjectNode> words) {
      this(stepsPerReport, (job, gpuType, nodes) -> 1, words);
    }

    /** Habits of real agents, on GPU types of different speed. */
    static Manner honest(ToDoubleBiFunction<String, String> slowdown) {
      return new Manner(
          50,
          (job, gpuType, nodes) -> slowdown.applyAsDouble(job, gpuType),
          UnaryOperator.identity());
    }

    /** Habits of real agents, on nodes of different speed. */
    static Manner onNodes(ToDoubleFunction<String> slowdownOfNode) {
      return new Manner(
          50,
          (job, gpuType, nodes) -> nodes.stream().mapToDouble(slowdownOfNode).max().orElse(1),
          UnaryOperator.identity());
    }
  }

  /** What all agents of one job share: how far it is. */
  public static final class Work {
    private final long total;
    private volatile long step;
    private volatile double gained;
    private volatile boolean done;

    /** Work that takes so many steps of the initial batch. */
    public Work(long total) {
      this.total = total;
    }
  }

  /** The agent of a pod that has this token. */
  public PlayedAgent(Pod pod, String token, Work work, AgentLine line, Manner manner, Tally tally) {
    this.work = work;
    this.manner = manner;
    this.tally = tally;
    namespace = pod.getMetadata().getNamespace();
    job = requireNonNull(pod.getMetadata().getLabels().get("kastor.dev/job"));
    this.pod = pod.getMetadata().getName();
    this.token = token;
    this.line = line;
  }

  /**
   * Lives until the work is done, it is told to go or its thread is interrupted.
   *
   * @return its last words as an agent writes them
   */
  public String run() throws InterruptedException {
    Thread poller = Thread.currentThread();
    Thread reporter = Thread.ofVirtual().name(pod + "-reports").start(() -> report(poller));
    try {
      while (!work.done && poll()) {}
    } catch (InterruptedException e) {
      if (!work.done) {
        throw e;
      }
    } finally {
      reporter.interrupt();
    }
    return outcome(work.done).toString();
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
                      work.step),
              token);
      if (answer.status() != HttpURLConnection.HTTP_OK) {
        tally.failed("poll: " + answer.status());
        Thread.sleep(AGAIN);
        return true;
      }
      JsonNode news = JSON.readTree(answer.body().getBytes());
      return switch (news.path("action").asText()) {
        case "RUN" -> follow(news);
        case "STOP", "LEAVE" -> false;
        default -> true;
      };
    } catch (IOException e) {
      tally.failed("poll: " + e.getMessage());
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

  /** Reports until the work is done, then ends the poll as well. */
  private void report(Thread poller) {
    long sequence = 0;
    try {
      if (work.total > manner.stepsPerReport()) {
        // As if pods had not all been started at the same moment.
        Thread.sleep(Math.floorMod(pod.hashCode(), manner.stepsPerReport() * STEP_MILLIS));
      }
      long due = System.nanoTime();
      while (!work.done) {
        double gain = gain();
        long left = (long) Math.ceil((work.total - work.gained) / gain);
        long steps = Math.clamp(left, 1, manner.stepsPerReport());
        // An answer that is late delays no other report; what was missed is not made up for at
        // once.
        due += Math.round(steps * stepSeconds() * 1e9);
        due = Math.max(due, System.nanoTime());
        Thread.sleep(Duration.ofNanos(due - System.nanoTime()));
        if (generation > 0 && first && !work.done) {
          // One rank 0 at a time: nobody else moves it.
          work.step = Math.addExact(work.step, steps);
          work.gained = Math.min(work.gained + steps * gain, (double) work.total);
          boolean last = work.gained >= work.total;
          work.done = send(++sequence, last) && last;
        }
      }
      poller.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean send(long sequence, boolean last) throws InterruptedException {
    long begun = System.nanoTime();
    try {
      var answer =
          line.post(
              "/v1/jobs/%s/%s/telemetry".formatted(namespace, job),
              token,
              JSON.writeValueAsBytes(manner.words().apply(body(sequence, last))));
      if (answer.status() == HttpURLConnection.HTTP_NO_CONTENT) {
        tally.reported((System.nanoTime() - begun) / 1e9);
        return true;
      }
      tally.failed("report: " + answer.status());
    } catch (IOException e) {
      tally.failed("report: " + e.getMessage());
    }
    return false;
  }

  private double stepSeconds() {
    JsonNode members = membership.path("members");
    String gpuType = members.path(0).path("gpuType").asText();
    List<String> nodes = new ArrayList<>();
    members.forEach(member -> nodes.add(member.path("node").asText()));
    return STEP_SECONDS * manner.slowdown().of(job, gpuType, nodes);
  }

  private ObjectNode outcome(boolean completed) {
    ObjectNode outcome = JSON.createObjectNode().put("kind", completed ? "COMPLETED" : "LEFT");
    outcome.set("progress", progress());
    return outcome.put("lostOrRepeatedExamples", 0).put("message", "played");
  }

  private long examplesOfStep() {
    JsonNode batch = membership.path("batchPlan");
    return membership.path("members").size()
        * batch.path("atomicBatchSize").asLong()
        * (batch.path("accumulationSteps").asLong() + 1);
  }

  /** AdaScale's gain of a step (ICML 2020): what it is worth in steps of the initial batch. */
  private double gain() {
    double scale = Math.max(1, (double) examplesOfStep() / INITIAL_BATCH);
    return (VARIANCE + 1) / (VARIANCE / scale + 1);
  }

  private ObjectNode progress() {
    return JSON.createObjectNode()
        .put("step", work.step)
        .put("scaleInvariantSteps", work.gained)
        .put("totalScaleInvariantSteps", work.total)
        .put("examples", work.step * examplesOfStep())
        .put("epoch", 0);
  }

  private ObjectNode body(long sequence, boolean last) {
    int replicas = membership.path("members").size();
    JsonNode batch = membership.path("batchPlan");
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
        .put("steps", manner.stepsPerReport())
        .put("stepSeconds", stepSeconds())
        .put("syncSeconds", replicas > 1 ? stepSeconds() / 10 : 0);
    report
        .putObject("gradient")
        .put("squaredNorm", 1)
        .put("variance", VARIANCE)
        .put("initialBatch", INITIAL_BATCH);
    report.set("progress", progress());
    report.put("trainingLoss", 0.5).put("learningRate", 0.05);
    report.putArray("switches");
    if (last) {
      report.set("outcome", outcome(true));
    }
    return report;
  }
}
