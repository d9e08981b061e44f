package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Eight jobs write what eight jobs on an operator write, as measured: a status every two seconds,
 * pods and an event for each rescale, a job that ends and one that comes each hour.
 *
 * <p>An hour has all of it, and many rewrites of the journal. {@code -Dkastor.journalHours=24}
 * writes a whole day.
 */
final class JournalDayIT {
  private static final int HOURS = Integer.getInteger("kastor.journalHours", 1);
  private static final int JOBS = 8;
  private static final int RESCALE_SECONDS = 300;
  private static final long MOST_BYTES = 64L << 20;
  private static final ResourceType JOB =
      new ResourceType("kastor.dev", "v1alpha1", "TrainingJob", "trainingjobs", true, true);
  private static final String SPEC =
      """
      program: {name: glyph-mlp}
      elastic: {maxReplicas: 2}
      checkpoint: {intervalSeconds: 30}
      goodput:
        batchSize: {initial: 64, max: 512, perDevice: {min: 16, max: 128}}
        learningRate: {base: "0.05"}
        work: {steps: 30000000}
      """;
  private static final String CONDITION =
      """
      - {type: %s, status: "False", reason: NotSo, observedGeneration: 1, lastTransitionTime: "2026-11-24T14:22:57Z", message: "Others gain more from its GPUs."}
      """;
  private static final String STATUS =
      """
      phase: Running
      failuresSinceProgress: 0
      selector: kastor.dev/job=day
      observedGeneration: 1
      allocation: {replicas: 1, nodes: {local: 1}, version: 4, since: "2026-11-24T14:23:49.724768113Z", reason: Shrunk, message: Others gain more from its GPUs.}
      nextPod: 3
      generation: 7
      failedStarts: 0
      startTime: "2026-11-24T14:23:00.344Z"
      training: {step: %d, scaleInvariantMillisteps: 35802216, percent: 0, examples: %d, epoch: 123, globalBatch: 250, atomicBatch: 125, accumulationSteps: 1, efficiency: 0.9052837066677101, noiseScale: 1713.7592800159794, predictedGoodput: {"1": 12351.1, "2": 15533.3}, loss: 0.0016533996831364648, rescales: 6, grows: 1, shrinks: 2, minReplicas: 1, maxReplicas: 2, minGlobalBatch: 64, maxGlobalBatch: 512, eta: "2026-11-25T17:56:14Z", goodput: 19362.37122333179, throughput: 21058.728371258992, medianPauseMillis: 1, maxPauseMillis: 332, checkpointStep: 12445, checkpointTime: "2026-11-24T14:25:29.999Z"}
      conditions:
      """
          + CONDITION.formatted("Queued")
          + CONDITION.formatted("Admitted")
          + CONDITION.formatted("Running")
          + CONDITION.formatted("Rescaling")
          + CONDITION.formatted("Stalled")
          + CONDITION.formatted("Suspended")
          + CONDITION.formatted("Complete")
          + CONDITION.formatted("Failed");

  @TempDir Path folder;
  private ApiServer server;
  private ObjectNode status;
  private long longest;
  private long written;

  @BeforeEach
  void open() throws IOException {
    server = start();
    status = (ObjectNode) Json.YAML.readTree(STATUS.formatted(0, 0));
  }

  @Test
  void staysSmallAndIsReadAgainAfterADay() throws IOException {
    write(HOURS);
  }

  @Tag("nightly")
  @Test
  void staysSmallForHours() throws IOException {
    write(6);
  }

  private void write(int hours) throws IOException {
    for (int job = 0; job < JOBS; job++) {
      submit("day-" + job + "-0");
    }
    long began = System.nanoTime();
    for (int second = 0; second < hours * 3600; second++) {
      step(second);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    List<String> before = everything();
    server.close();
    long opened = System.nanoTime();
    server = start();
    Duration start = Duration.ofNanos(System.nanoTime() - opened);
    try (ApiServer again = server) {
      assertThat(everything()).isEqualTo(before);
      assertThat(again.resources().list(JOB, "")).hasSize(JOBS);
      System.out.printf(
          "%d h of %d jobs in %.1f s: %d writes of %d MB, longest journal %d kB, start %d ms%n",
          hours,
          JOBS,
          seconds,
          again.resources().revision(),
          written >> 20,
          longest >> 10,
          start.toMillis());
      assertThat(longest).isLessThanOrEqualTo(MOST_BYTES);
    }
  }

  private ApiServer start() throws IOException {
    ApiServer fresh = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod));
    try (InputStream crd =
        JournalDayIT.class.getClassLoader().getResourceAsStream(Installation.crdResource())) {
      fresh.define(Objects.requireNonNull(crd));
    }
    fresh.persist(
        journal(),
        type ->
            type.equals(JOB) || type.equals(ResourceTypes.POD) || type.equals(ResourceTypes.EVENT));
    return fresh;
  }

  private Path journal() {
    return folder.resolve("objects.jsonl");
  }

  private void step(int second) throws IOException {
    for (int slot = 0; slot < JOBS; slot++) {
      int own = second + slot * 97;
      int generation = own / 3600;
      String name = "day-" + slot + "-" + generation;
      if (own % 3600 == 0 && second > 0) {
        server
            .resources()
            .delete(JOB, "default", "day-" + slot + "-" + (generation - 1), Deletion.DEFAULT);
        submit(name);
      }
      if (own % 2 == 0) {
        progress(name, second);
      }
      if (own % RESCALE_SECONDS == 0) {
        rescale(name, own / RESCALE_SECONDS);
      }
    }
    long size = Files.size(journal());
    longest = Math.max(longest, size);
  }

  private void submit(String name) throws IOException {
    ObjectNode job = object(name);
    job.set("spec", Json.YAML.readTree(SPEC));
    server.resources().create(JOB, "default", job, Options.PLAIN);
  }

  private void progress(String name, int second) {
    ObjectNode next = status.deepCopy();
    ((ObjectNode) next.get("training")).put("step", 90L * second).put("examples", 20_000L * second);
    ObjectNode body = Json.object();
    body.set("status", next);
    ObjectNode stored = server.resources().update(JOB, "default", name, body, Options.STATUS);
    written += Json.text(stored).length();
  }

  private void rescale(String job, int number) {
    Resources resources = server.resources();
    String uid = Json.uid(resources.get(JOB, "default", job));
    for (ObjectNode old : resources.list(ResourceTypes.POD, "default")) {
      if (Store.owners(old).contains(uid)) {
        resources.delete(ResourceTypes.POD, "default", Json.name(old), Deletion.NOW);
      }
    }
    ObjectNode pod = object(job + "-" + number);
    Json.metadata(pod).putArray("ownerReferences").addObject().put("uid", uid);
    pod.putObject("spec").put("filler", "x".repeat(3500));
    resources.create(ResourceTypes.POD, "default", pod, Options.PLAIN);
    for (String phase : List.of("Pending", "Running")) {
      ObjectNode body = Json.object();
      body.putObject("status").put("phase", phase).put("startTime", "now");
      resources.update(ResourceTypes.POD, "default", Json.name(pod), body, Options.STATUS);
    }
    ObjectNode event = object(job + ".event-" + number);
    event.put("message", "1 -> 2 replicas: " + "y".repeat(400));
    resources.create(ResourceTypes.EVENT, "default", event, Options.PLAIN);
  }

  private static ObjectNode object(String name) {
    ObjectNode object = Json.object();
    Json.metadata(object).put("name", name);
    return object;
  }

  private List<String> everything() {
    List<String> all = new ArrayList<>();
    for (ResourceType type : List.of(JOB, ResourceTypes.POD, ResourceTypes.EVENT)) {
      server.resources().list(type, "").forEach(object -> all.add(Json.text(object)));
    }
    return all;
  }
}
