package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.history.Reports;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.scheduling.StandingAdvice;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Three minutes of a small cluster: two jobs that trade slots, one that waits. */
record PageScene(TestCluster cluster, JobHistory history, Instant begin) {
  private static final JobId GLYPHS = new JobId("default", "glyphs");
  private static final JobId WAITING = new JobId("default", "waiting");
  private static final JobId TEXT = new JobId("default", "text");

  /** Most jobs of {@link #manyJobs}. */
  private static final int MOST = 20;

  /** Whether the history heard that all jobs are gone. */
  boolean isOver() {
    return Stream.concat(Stream.of(GLYPHS, TEXT, WAITING), many(MOST).stream())
        .allMatch(id -> history.story(id).map(JobStory::deleted).orElse(true));
  }

  void nodes() {
    cluster.node("node-a", 4).node("node-b", 4).node("node-c", 4);
  }

  void threeJobs() {
    Instant now = begin.plusSeconds(180);
    allocate(GLYPHS, 2, 0, "Start", "The first job takes what its model can use at once.");
    Reports glyphs = Reports.of(GLYPHS).total(9_000).size(2, new BatchPlan(96, 0)).gradient(1, 4);
    glyphs = train(glyphs, 0, 60, 2.3);
    allocate(
        GLYPHS, 8, 60, "Grow", "Six slots are free; goodput rises from 812 to 2,204 examples/s.");
    allocate(TEXT, 2, 90, "Start", "A new job starts; glyphs keeps 8.");
    glyphs = train(glyphs.size(8, new BatchPlan(64, 0)).gradient(1, 7), 62, 100, 1.0);
    allocate(TEXT, 5, 100, "Grow", "Three slots more raise goodput by 94 %.");
    allocate(
        GLYPHS,
        4,
        100,
        "Shrink",
        "text gains more from 3 slots (+94 % goodput) than glyphs loses (−38 %).");
    train(glyphs.size(4, new BatchPlan(96, 0)).gradient(1, 11), 101, 181, 0.66);
    Reports text = Reports.of(TEXT).total(16_000).size(2, new BatchPlan(32, 0)).gradient(1, 9);
    text = train(text, 91, 100, 5.4);
    train(text.size(5, new BatchPlan(48, 0)).gradient(1, 14), 101, 181, 4.6);
    running(GLYPHS, "glyph-cnn", 4, 8, now, 46);
    running(TEXT, "byte-lm", 5, 6, begin.plusSeconds(90), 21);
    cluster.job(
        "waiting",
        "glyph-mlp",
        4,
        8,
        begin.plusSeconds(170),
        """
        phase: Queued
        conditions: [{type: Queued, status: "True", reason: NoRoom, message: "Needs at least 4 replicas; 3 slots are free."}]
        """);
  }

  /** A job that waits for six GPUs of four, and nodes that nobody needs. */
  void advise(StandingAdvice advice) {
    JobState gang =
        JobMapper.state(
            TestJobs.job("bert", 6, 6, GoodputSpec.Mode.Fixed),
            null,
            Measured.NOTHING,
            true,
            false,
            begin);
    List<Node> nodes =
        List.of(
            new Node("n1", "a100", 4, "", false, 2.5),
            new Node("n2", "t4", 4, "", false, 2.5),
            new Node("n3", "t4", 4, "", false, 2.5));
    advice.observe(new Snapshot(begin, nodes, List.of(gang)));
  }

  void grow(String job, int replicas) {
    JobId id = new JobId("default", job);
    allocate(id, replicas, 181, "Grow", "two slots became free");
    running(id, "glyph-cnn", replicas, 8, begin.plusSeconds(181), 47, "two slots became free");
  }

  private static List<JobId> many(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> new JobId("default", "sweep-%02d".formatted(i)))
        .toList();
  }

  /** Jobs of one slot each that start one after the other; twenty at most. */
  void manyJobs(int count) {
    List<JobId> jobs = many(count);
    for (int i = 0; i < count; i++) {
      Allocation one = Allocation.on("node-a", 1);
      history.allocated(
          jobs.get(i), one, Reason.of("Start", "a slot is free"), begin.plusSeconds(5L * i));
      cluster.job(
          jobs.get(i).name(),
          "glyph-mlp",
          1,
          2,
          begin.plusSeconds(i),
          """
          phase: Running
          startTime: "%s"
          allocation: {replicas: 1, nodes: {node-a: 1}, version: 1, since: "%s", reason: Start, message: a slot is free}
          """
              .formatted(begin, begin));
    }
  }

  /** A job whose queue is missing, and one that failed for a reason with a long name. */
  void refused() {
    cluster.job(
        "without-queue",
        "glyph-mlp",
        1,
        2,
        begin.plusSeconds(171),
        """
        phase: Queued
        conditions: [{type: Queued, status: "True", reason: QueueNotFound, message: "spec.queue: there is no Queue research."}]
        """);
    cluster.job(
        "diverged",
        "glyph-mlp",
        1,
        2,
        begin.plusSeconds(172),
        """
        phase: Failed
        conditions: [{type: Failed, status: "True", reason: AReasonOfAPolicyThatIsLongerThanItsColumn, message: "training diverged at step 5: the loss is NaN."}]
        """);
  }

  /** One report more, with this loss. */
  void diverge(String job, double loss) {
    JobId id = new JobId("default", job);
    Reports last = Reports.of(id).total(9_000).size(4, new BatchPlan(96, 0)).gradient(1, 11);
    history.reported(id, last.step(2_300).loss(loss), Optional.empty(), begin.plusSeconds(182));
  }

  void finishAll() {
    Instant end = begin.plusSeconds(180);
    history.phase(GLYPHS, Phase.Succeeded, end);
    history.phase(TEXT, Phase.Failed, end.plusSeconds(1));
    ended(
        "glyphs", "glyph-cnn", "Succeeded", end, 100, "metricName: accuracy, finalMetric: 0.9741");
    ended("text", "byte-lm", "Failed", end.plusSeconds(1), 43, "loss: 2.1");
    ended(
        "waiting", "glyph-mlp", "Succeeded", end, 100, "metricName: accuracy, finalMetric: 0.9312");
  }

  private void ended(
      String name, String program, String phase, Instant end, int percent, String result) {
    cluster.job(
        name,
        program,
        1,
        8,
        begin,
        """
        phase: %s
        startTime: "%s"
        completionTime: "%s"
        restarts: 1
        conditions: [{type: Failed, status: "%s", reason: TooManyFailures, message: "Eleven replica failures without progress in between; the last one: out of memory."}]
        allocation: {replicas: 0, nodes: {}, version: 9, since: "%s", reason: Ended, message: The job is over.}
        training: {step: 4210, scaleInvariantMillisteps: 9000, percent: %d, examples: 640000, epoch: 4, globalBatch: 512, atomicBatch: 128, accumulationSteps: 0, rescales: 6, grows: 4, shrinks: 2, medianPauseMillis: 84, maxPauseMillis: 212, minReplicas: 1, maxReplicas: 8, minGlobalBatch: 64, maxGlobalBatch: 512, lostOrRepeatedExamples: 0, checkpointStep: 4210, %s}
        """
            .formatted(
                phase,
                begin,
                end,
                phase.equals("Failed") ? "True" : "False",
                end,
                percent,
                result));
  }

  private void running(
      JobId id, String program, int replicas, int max, Instant since, int percent) {
    String message =
        id.equals(GLYPHS)
            ? "text gains more from 3 slots (+94 % goodput) than glyphs loses (−38 %)."
            : "Three slots more raise goodput by 94 %.";
    running(id, program, replicas, max, since, percent, message);
  }

  private void running(
      JobId id, String program, int replicas, int max, Instant since, int percent, String message) {
    String nodes =
        spread(id, replicas).entrySet().stream()
            .map(entry -> entry.getKey() + ": " + entry.getValue())
            .collect(Collectors.joining(", "));
    cluster.job(
        id.name(),
        program,
        1,
        max,
        id.equals(GLYPHS) ? begin : begin.plusSeconds(85),
        """
        phase: Running
        startTime: "%s"
        restarts: %d
        allocation: {replicas: %d, nodes: {%s}, version: 4, since: "%s", reason: Rescale, message: "%s"}
        training: {step: 2210, scaleInvariantMillisteps: 9000, percent: %d, examples: 640000, epoch: 1, eta: "%s", globalBatch: 512, atomicBatch: %d, accumulationSteps: 0, noiseScale: 288, rescales: 3, grows: 2, shrinks: 1, medianPauseMillis: 84, maxPauseMillis: 212, minReplicas: 1, maxReplicas: 8, minGlobalBatch: 64, maxGlobalBatch: 512, checkpointStep: 2180, checkpointTime: "%s", predictedGoodput: {%s}}
        """
            .formatted(
                begin,
                id.equals(GLYPHS) ? 1 : 0,
                replicas,
                nodes,
                since,
                message,
                percent,
                Instant.now().plusSeconds(134),
                id.equals(GLYPHS) ? 128 : 32,
                begin.plusSeconds(176),
                predictions(max)));
  }

  private static String predictions(int max) {
    return IntStream.rangeClosed(1, max)
        .mapToObj(n -> "\"%d\": %.1f".formatted(n, 430 * n / (1 + 0.09 * n)))
        .collect(Collectors.joining(", "));
  }

  private void allocate(JobId id, int replicas, int second, String code, String message) {
    history.allocated(
        id,
        new Allocation(new TreeMap<>(spread(id, replicas))),
        Reason.of(code, message),
        begin.plusSeconds(second));
  }

  private static Map<String, Integer> spread(JobId id, int replicas) {
    Map<String, Integer> nodes = new TreeMap<>();
    int first = id.equals(GLYPHS) ? 0 : 1;
    for (int left = replicas, i = first; left > 0; i++) {
      int here = Math.min(left, i == 1 && id.equals(TEXT) ? 1 : 4);
      nodes.put("node-" + (char) ('a' + i), here);
      left -= here;
    }
    return nodes;
  }

  /** A report a second; the loss falls from its start as training goes on, with some ripple. */
  private Reports train(Reports reports, int from, int to, double startLoss) {
    Reports now = reports;
    for (int second = from; second < to; second++) {
      double ripple = 0.02 * Math.sin(second * 2.1) + 0.02 * Math.sin(second * 0.7);
      double loss = startLoss * (0.15 + 0.85 * Math.exp(-(second - from) / 60.0)) * (1 + ripple);
      now = now.advance(7 + second % 2);
      history.reported(
          now.job(),
          now.logged(loss, logged(now.job(), second, loss)),
          Optional.empty(),
          begin.plusSeconds(second));
    }
    return now;
  }

  /** An accuracy every 20 s and a gradient norm every second, by one of the jobs alone. */
  private static Map<String, Double> logged(JobId job, int second, double loss) {
    if (!job.equals(GLYPHS)) {
      return Map.of();
    }
    return second % 20 == 0
        ? Map.of("grad/norm", Math.sqrt(loss), "val/accuracy", Math.exp(-loss))
        : Map.of("grad/norm", Math.sqrt(loss));
  }
}
