package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Damaged reports and states against the real endpoint, over TLS and kept-alive connections: no
 * crash, no answer that is not one of ours, and no memory kept. {@code bench/fuzz} runs a million.
 */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@TestProfile(OtherSettings.class)
@Tag("never-retried")
class FuzzIT {
  private static final long BODIES = Long.getLong("kastor.fuzz.bodies", 500);
  private static final long MANY_BODIES = 10_000;
  private static final long SEED = Long.getLong("kastor.fuzz.seed", 1);
  private static final int PARTS = 4;
  private static final int CONNECTIONS = 4;
  private static final int SHARE_OF_POLLS = 10;
  private static final Set<Integer> EXPECTED =
      Set.of(200, 202, 204, 400, 401, 403, 404, 409, 413, 415, 422, 429);
  private static final long KEPT_BYTES = 16L << 20;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Test
  void survivesDamagedReportsAndStates() throws Exception {
    survives(BODIES);
  }

  @Test
  @Tag("nightly")
  void survivesManyDamagedReportsAndStates() throws Exception {
    survives(MANY_BODIES);
  }

  private void survives(long bodies) throws Exception {
    String url = base.toString();
    AgentClient api =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    try (LoneReplica replica = new LoneReplica(FakeApiServer.client(), api, "fuzzed");
        CapturedLog log = new CapturedLog()) {
      Map<Integer, Long> answers = new TreeMap<>();
      List<Long> heaps = new ArrayList<>();
      long part = Math.max(1, bodies / PARTS);
      long begun = System.nanoTime();
      for (long done = 0; done < bodies; done += part) {
        run(replica, answers, done, Math.min(bodies, done + part));
        heaps.add(heap());
        System.out.printf(
            "fuzz: %d bodies in %.0f s, heap %.1f MB%n",
            Math.min(bodies, done + part),
            (System.nanoTime() - begun) / 1e9,
            heaps.getLast() / 1e6);
      }
      double seconds = (System.nanoTime() - begun) / 1e9;
      // Classes, compiled code and pools fill up at first, and soft references come and go.
      long before = Collections.max(heaps.subList(0, heaps.size() / 2));
      long after = Collections.min(heaps.subList(heaps.size() / 2, heaps.size()));
      System.out.printf(
          "fuzz: seed %d, %d bodies, %.0f a second: %s; heap %.1f -> %.1f MB%n",
          SEED, bodies, bodies / seconds, answers, before / 1e6, after / 1e6);
      assertThat(answers.keySet()).isSubsetOf(EXPECTED).contains(200, 204, 400, 403, 413);
      assertThat(after - before).as("bytes kept").isLessThan(KEPT_BYTES);
      assertThat(log.lines())
          .filteredOn(line -> line.startsWith("SEVERE") || line.startsWith("ERROR"))
          .isEmpty();
      assertThat(replica.poll(replica.generation(), "TRAINING", 0).statusCode()).isEqualTo(200);
      assertThat(replica.report(replica.generation(), Long.MAX_VALUE, 1).statusCode())
          .isEqualTo(204);
    }
  }

  private void run(LoneReplica replica, Map<Integer, Long> answers, long from, long to)
      throws Exception {
    AtomicLong next = new AtomicLong(from);
    try (ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS)) {
      List<Future<Map<Integer, Long>>> parts = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        parts.add(threads.submit(() -> attack(replica, next, to)));
      }
      for (Future<Map<Integer, Long>> part : parts) {
        part.get().forEach((status, count) -> answers.merge(status, count, Long::sum));
      }
    }
  }

  private Map<Integer, Long> attack(LoneReplica replica, AtomicLong next, long to)
      throws IOException {
    var context = AgentClient.trusting(FakeApiServer.certificate());
    var mutator = new ReportMutator(LoneReplica.NAMESPACE, replica.job, replica.pod);
    Map<Integer, Long> answers = new TreeMap<>();
    RawHttp connection = new RawHttp(context, base);
    int closed = 0;
    try {
      for (long i = next.getAndIncrement(); i < to; i = next.getAndIncrement()) {
        RandomGenerator random = new SplittableRandom(SEED * 1_000_003 + i);
        byte[] request = request(random, replica, mutator, i);
        RawHttp.Answer answer;
        try {
          connection.send(request);
          answer = connection.read();
        } catch (IOException e) {
          // Closed after an answer that came before the end of its body; a second time is a crash.
          closed++;
          connection.close();
          connection = new RawHttp(context, base);
          answer = again(connection, request, i, answers);
        }
        answers.merge(answer.status(), 1L, Long::sum);
        if (!EXPECTED.contains(answer.status())) {
          throw new AssertionError(
              "seed %d, body %d: %d %s%n%s"
                  .formatted(SEED, i, answer.status(), answer.body(), new String(request, UTF_8)));
        }
        if (answer.closes()) {
          connection.close();
          connection = new RawHttp(context, base);
        }
      }
    } finally {
      connection.close();
    }
    assertThat((long) closed)
        .as("connections closed")
        .isLessThanOrEqualTo(answers.getOrDefault(413, 0L));
    return answers;
  }

  private static RawHttp.Answer again(
      RawHttp connection, byte[] request, long number, Map<Integer, Long> answers) {
    try {
      connection.send(request);
      return connection.read();
    } catch (IOException e) {
      throw new AssertionError(
          "seed %d, body %d of %d bytes ended two connections after %s: %s"
              .formatted(SEED, number, request.length, answers, e.getMessage()),
          e);
    }
  }

  private static byte[] request(
      RandomGenerator random, LoneReplica replica, ReportMutator mutator, long number) {
    // The first generation stays good to report of, whatever is published later.
    if (random.nextInt(SHARE_OF_POLLS) == 0) {
      String query = ReportMutator.query(random, replica.pod, random.nextInt(2));
      return RawHttp.request(
          "GET %s HTTP/1.1\nHost: h\nAuthorization: Bearer %s\n\n"
              .formatted(replica.path("membership?" + query), replica.token),
          new byte[0]);
    }
    byte[] body = mutator.next(random, 1, number + 1);
    return RawHttp.request(
        "POST %s HTTP/1.1\nHost: h\nAuthorization: Bearer %s\nContent-Type: application/json\nContent-Length: %d\n\n"
            .formatted(replica.path("telemetry"), replica.token, body.length),
        body);
  }

  /** The heap in use after collections; what the first frees by cleaners, the second collects. */
  static long heap() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      System.gc();
      Thread.sleep(50);
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
