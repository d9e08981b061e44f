package dev.kastor.local.rehearsal;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.kastor.local.api.HttpSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/**
 * Operator of a rehearsal, which leads two agents through what a replica may live: the partner
 * trains alone, the recorded one joins it, goes on without it, and is told to stop.
 */
final class RehearsalOperator implements AutoCloseable {
  static final String JOB = "rehearsal";

  /** Who trains first. */
  static final String PARTNER = "rehearsal-0";

  /** Who is recorded. */
  static final String RECORDED = "rehearsal-1";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int STEPS = 20;
  private static final Duration LONGEST_WAIT = Duration.ofMillis(200);
  private static final List<List<String>> CASTS =
      List.of(List.of(), List.of(PARTNER), List.of(PARTNER, RECORDED), List.of(RECORDED));
  private static final int[] BATCHES = {1, 16, 8, 12};

  /** What a replica said last. */
  private record Said(String address, String phase, long generation, long step) {}

  private final HttpsServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Said> said = new HashMap<>();
  private int scene;
  private long begunAt;

  /**
   * An operator on a free port of this machine.
   *
   * @param context with its key
   */
  RehearsalOperator(SSLContext context) throws IOException {
    HttpSettings.apply();
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.setExecutor(threads);
    String jobs = "/v1/jobs/%s/%s/".formatted(JOB, JOB);
    server.createContext(jobs + "membership", this::membership);
    server.createContext(jobs + "telemetry", RehearsalOperator::telemetry);
    server.start();
  }

  String url() {
    return "https://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void membership(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> query = query(exchange);
      String pod = query.getOrDefault("pod", "");
      Said now =
          new Said(
              query.getOrDefault("address", ""),
              query.getOrDefault("phase", ""),
              Long.parseLong(query.getOrDefault("generation", "0")),
              Long.parseLong(query.getOrDefault("step", "-1")));
      byte[] body = JSON.writeValueAsBytes(answer(pod, now));
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized ObjectNode answer(String pod, Said now) throws InterruptedException {
    said.put(pod, now);
    if (played()) {
      scene++;
      begunAt = said.values().stream().mapToLong(Said::step).max().orElse(0);
      notifyAll();
    }
    long end = System.nanoTime() + LONGEST_WAIT.toNanos();
    long left = LONGEST_WAIT.toMillis();
    while (scene <= now.generation() && left > 0) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
    return scene <= now.generation() ? nothing() : scene(pod);
  }

  /** Whether the scene has been played and the next can begin. */
  private boolean played() {
    if (scene == CASTS.size()) {
      return false;
    }
    boolean train =
        CASTS.get(scene).stream()
            .map(said::get)
            .allMatch(each ->
                each != null
                    && each.phase().equals("TRAINING")
                    && each.generation() == scene
                    && each.step() >= begunAt + STEPS);
    return train
        && (scene + 1 == CASTS.size() || CASTS.get(scene + 1).stream().allMatch(this::ready));
  }

  private boolean ready(String pod) {
    Said last = said.get(pod);
    return last != null && !last.phase().equals("STARTING");
  }

  private ObjectNode scene(String pod) {
    if (scene == CASTS.size()) {
      return membership("STOP", 1);
    }
    List<String> cast = CASTS.get(scene);
    if (!cast.contains(pod)) {
      boolean was = CASTS.subList(0, scene).stream().anyMatch(earlier -> earlier.contains(pod));
      return was ? membership("LEAVE", 1) : nothing();
    }
    ObjectNode run = membership("RUN", BATCHES[scene]);
    ArrayNode members = run.withArray("members");
    for (int rank = 0; rank < cast.size(); rank++) {
      String member = cast.get(rank);
      members
          .addObject()
          .put("pod", member)
          .put("rank", rank)
          .put("address", Objects.requireNonNull(said.get(member)).address())
          .put("node", "node-" + member);
    }
    return run;
  }

  private ObjectNode nothing() {
    return membership("WAIT", 1);
  }

  private ObjectNode membership(String action, int batch) {
    ObjectNode membership = JSON.createObjectNode().put("generation", scene).put("action", action);
    membership.putArray("members");
    membership.putObject("batchPlan").put("atomicBatchSize", batch).put("accumulationSteps", 0);
    return membership;
  }

  private static void telemetry(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().add("Kastor-Term", "1");
      exchange.sendResponseHeaders(204, -1);
    }
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> query = new HashMap<>();
    for (String part : exchange.getRequestURI().getRawQuery().split("&", -1)) {
      int equals = part.indexOf('=');
      query.put(
          part.substring(0, equals),
          URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return query;
  }
}
