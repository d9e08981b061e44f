package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
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
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests of all kinds to all routes of both ports: each is answered as its route's table says, no
 * error is logged, no memory kept. {@code bench/fuzz} sends a million.
 */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@TestProfile(OtherSettings.class)
@Tag("never-retried")
class RouteFuzzIT {
  private static final long REQUESTS = Long.getLong("kastor.fuzz.requests", 2_000);
  private static final long SEED = Long.getLong("kastor.fuzz.seed", 1);
  private static final int PARTS = 4;
  private static final int CONNECTIONS_OF_PORT = 4;
  private static final long KEPT_BYTES = 16L << 20;

  @TestHTTPResource(value = "/", tls = true)
  URI tls;

  @TestHTTPResource("/")
  URI plain;

  @Test
  void everyRouteAnswersAsItsTableSays() throws Exception {
    String url = tls.toString();
    AgentClient api =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    try (LoneReplica replica = new LoneReplica(FakeApiServer.client(), api, "asked");
        CapturedLog log = new CapturedLog()) {
      Map<Integer, Long> answers = new TreeMap<>();
      List<Long> heaps = new ArrayList<>();
      long part = Math.max(1, REQUESTS / PARTS);
      long begun = System.nanoTime();
      for (long done = 0; done < REQUESTS; done += part) {
        run(replica, answers, done, Math.min(REQUESTS, done + part));
        heaps.add(FuzzIT.heap());
        System.out.printf(
            "routes: %d requests in %.0f s, heap %.1f MB%n",
            Math.min(REQUESTS, done + part),
            (System.nanoTime() - begun) / 1e9,
            heaps.getLast() / 1e6);
      }
      double seconds = (System.nanoTime() - begun) / 1e9;
      long before = Collections.max(heaps.subList(0, heaps.size() / 2));
      long after = Collections.min(heaps.subList(heaps.size() / 2, heaps.size()));
      System.out.printf(
          "routes: seed %d, %d requests, %.0f a second: %s; heap %.1f -> %.1f MB%n",
          SEED, REQUESTS, REQUESTS / seconds, answers, before / 1e6, after / 1e6);
      assertThat(answers).containsKeys(200, 204, 400, 401, 403, 404, 405, 411);
      assertThat(after - before).as("bytes kept").isLessThan(KEPT_BYTES);
      assertThat(log.lines())
          .filteredOn(line -> line.startsWith("SEVERE") || line.startsWith("ERROR"))
          .isEmpty();
      assertThat(replica.poll(replica.generation(), "TRAINING", 0).statusCode()).isEqualTo(200);
    }
  }

  private void run(LoneReplica replica, Map<Integer, Long> answers, long from, long to)
      throws Exception {
    // Even numbers go over TLS: the number of a request says all of it.
    AtomicLong even = new AtomicLong(from + from % 2);
    AtomicLong odd = new AtomicLong(from + 1 - from % 2);
    try (ExecutorService threads = Executors.newFixedThreadPool(2 * CONNECTIONS_OF_PORT)) {
      List<Future<Map<Integer, Long>>> parts = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS_OF_PORT; i++) {
        parts.add(threads.submit(() -> attack(replica, true, even, to)));
        parts.add(threads.submit(() -> attack(replica, false, odd, to)));
      }
      for (Future<Map<Integer, Long>> part : parts) {
        part.get().forEach((status, count) -> answers.merge(status, count, Long::sum));
      }
    }
  }

  private Map<Integer, Long> attack(LoneReplica replica, boolean secure, AtomicLong next, long to)
      throws IOException {
    RequestGrammar grammar = new RequestGrammar(PortTable.plain(), replica);
    Map<Integer, Long> answers = new TreeMap<>();
    // Of its own: a session is resumed once, and a context keeps one of each server.
    SSLContext trusting = AgentClient.trusting(FakeApiServer.certificate());
    RawHttp connection = connect(secure, trusting);
    try {
      for (long i = next.getAndAdd(2); i < to; i = next.getAndAdd(2)) {
        RandomGenerator random = new SplittableRandom(SEED * 1_000_003 + i);
        List<RequestGrammar.Attempt> together = new ArrayList<>();
        do {
          together.add(grammar.next(random, secure, i));
        } while (isPlain(together.getLast()) && random.nextInt(10) == 0 && together.size() < 4);
        boolean goesOn;
        try {
          goesOn = exchange(connection, together, answers, i);
        } catch (IOException e) {
          // Ended after an answer that said so too late; alone, on a connection of its own, each is
          // answered.
          for (RequestGrammar.Attempt attempt : together) {
            connection.close();
            connection = connect(secure, trusting);
            alone(connection, attempt, answers, i);
          }
          goesOn = false;
        }
        if (!goesOn) {
          connection.close();
          connection = connect(secure, trusting);
        }
      }
    } finally {
      connection.close();
    }
    return answers;
  }

  private static boolean isPlain(RequestGrammar.Attempt attempt) {
    return !attempt.ends() && !attempt.stream();
  }

  /** Sends requests in one and reads their answers; whether the connection goes on. */
  private static boolean exchange(
      RawHttp connection,
      List<RequestGrammar.Attempt> together,
      Map<Integer, Long> answers,
      long number)
      throws IOException {
    RequestGrammar.Attempt asked = together.getFirst();
    try {
      connection.send(RequestGrammar.together(together));
      for (RequestGrammar.Attempt attempt : together) {
        asked = attempt;
        if (attempt.ends()) {
          connection.finish();
        }
        int status;
        boolean closes = attempt.ends() || attempt.stream();
        if (closes) {
          status = connection.status();
        } else {
          RawHttp.Answer answer = connection.read(attempt.head());
          status = answer.status();
          closes = answer.closes();
        }
        answers.merge(status, 1L, Long::sum);
        if (!attempt.answers().contains(status)) {
          throw new AssertionError(told(number, attempt, "answered " + status));
        }
        if (closes) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      if (!asked.ends()) {
        throw e;
      }
      answers.merge(0, 1L, Long::sum);
      return false;
    }
  }

  private static void alone(
      RawHttp connection, RequestGrammar.Attempt attempt, Map<Integer, Long> answers, long number) {
    try {
      exchange(connection, List.of(attempt), answers, number);
    } catch (IOException e) {
      throw new AssertionError(told(number, attempt, "ended: " + e.getMessage()), e);
    }
  }

  private static String told(long number, RequestGrammar.Attempt attempt, String how) {
    String text = new String(attempt.bytes(), ISO_8859_1);
    return "seed %d, request %d %s, not of %s:%n%s"
        .formatted(
            SEED, number, how, attempt.answers(), text.substring(0, Math.min(600, text.length())));
  }

  private RawHttp connect(boolean secure, SSLContext trusting) throws IOException {
    return secure ? new RawHttp(trusting, tls) : new RawHttp(plain);
  }
}
