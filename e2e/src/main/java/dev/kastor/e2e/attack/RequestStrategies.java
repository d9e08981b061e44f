package dev.kastor.e2e.attack;

import static dev.kastor.e2e.attack.Strategy.Aim.ACCESS;
import static dev.kastor.e2e.attack.Strategy.Aim.OPERATOR;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.kastor.e2e.attack.Stranger.Answer;
import dev.kastor.e2e.attack.Stranger.Port;
import dev.kastor.e2e.watch.AgentProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Requests to both ports of the operator, and connections to replicas of the honest tenant. */
final class RequestStrategies {
  private static final String TRAINS = Lab.HONEST + "/" + Honest.TRAINS;
  private static final String EVIL = "evil.example";

  /** Of the page and its API; all but the page itself are for those who may list the jobs. */
  private static final List<String> PAGE =
      List.of(
          "/",
          "/api/v1/overview",
          "/api/v1/timeline",
          "/api/v1/queues",
          "/api/v1/events",
          "/api/v1/usage",
          "/api/v1/jobs/" + TRAINS + "/history",
          "/api/v1/jobs/" + TRAINS + "/decision");

  /** For probes and those whom the NetworkPolicy lets through to the plain port. */
  private static final List<String> PLATFORM = List.of("/metrics", "/q/health", "/q/openapi");

  private static final List<String> AGENTS =
      List.of(
          "/v1/jobs/" + TRAINS + "/membership?pod=payroll-trains-0&generation=0&phase=READY",
          "/v1/jobs/" + TRAINS + "/telemetry");

  private static final int GUESSES = 200;

  /** At once, and for ten seconds at the rate that is allowed. */
  private static final int REVIEWED = 100;

  private static final int SLOW = 300;
  private static final int SLOW_BYTES = 12_000;
  private static final int RING = 140;
  private static final int LOG_BYTES_PER_SECOND = 10_000;

  private RequestStrategies() {}

  static List<Strategy> all() {
    return List.of(
        new Strategy("all routes without a token", ACCESS, hostile -> ask(hostile, "")),
        new Strategy(
            "all routes with the tenant's tokens",
            ACCESS,
            hostile -> {
              ask(hostile, hostile.token());
              ask(hostile, hostile.token("kastor"));
              ask(hostile, hostile.token("kastor/" + TRAINS));
            }),
        new Strategy("the page on the agents' port", ACCESS, RequestStrategies::pageOverTls),
        new Strategy("matrix parameters and other hosts", ACCESS, RequestStrategies::matrix),
        new Strategy("a request within a request", ACCESS, RequestStrategies::within),
        new Strategy("two hundred guesses at once", OPERATOR, RequestStrategies::guesses),
        new Strategy("three hundred headers without an end", OPERATOR, RequestStrategies::slow),
        new Strategy("bodies that are no reports", OPERATOR, RequestStrategies::bodies),
        new Strategy("connections to another's ring", OPERATOR, RequestStrategies::ring));
  }

  private static void ask(Hostile hostile, String token) throws IOException {
    Stranger stranger = hostile.stranger();
    for (String path : PAGE) {
      stranger.get(Port.PLAIN, path, token);
      stranger.get(Port.TLS, path, token);
    }
    for (String path : AGENTS) {
      for (Port port : Port.values()) {
        expect(
            hostile, port + " " + path, stranger.get(port, path, token), 401, 403, 404, 405, 429);
      }
    }
  }

  private static void pageOverTls(Hostile hostile) throws IOException {
    for (String path : PAGE) {
      expect(hostile, path, hostile.stranger().get(Port.TLS, path, ""), 403, 404);
    }
    for (String path : PLATFORM) {
      expect(hostile, path, hostile.stranger().get(Port.TLS, path, ""), 403, 404);
    }
  }

  private static void matrix(Hostile hostile) throws IOException {
    String token = hostile.token("kastor");
    for (String path :
        List.of(
            "/api;x/v1/overview",
            "/api/v1;x/overview",
            "/api/v1/overview;x",
            "/;x/api/v1/overview",
            "/%61pi/v1/overview",
            "//api/v1/overview",
            "/api/v1/jobs;x/" + TRAINS + "/history")) {
      String request = Stranger.request("GET", path, token, EVIL, "");
      expect(hostile, path, hostile.stranger().send(Port.PLAIN, request), 400, 401, 403, 404);
    }
  }

  private static void within(Hostile hostile) throws IOException {
    String inner = "GET /metrics HTTP/1.1\r\nHost: operator\r\n\r\n";
    String outer =
        """
        POST /v1/jobs/%s/telemetry HTTP/1.1\r
        Host: operator\r
        Content-Length: 2\r
        Transfer-Encoding: chunked\r
        \r
        0\r
        \r
        """
            .formatted(TRAINS);
    for (Port port : Port.values()) {
      Answer answer = hostile.stranger().send(port, outer + inner);
      hostile.promise(
          Promise.now(
              "%s: a request of two lengths has one answer, not %s"
                  .formatted(port, answer.statuses()),
              () -> answer.statuses().size() <= 1));
    }
  }

  private static void guesses(Hostile hostile) throws Exception {
    String path = "/v1/jobs/" + TRAINS + "/membership?pod=payroll-trains-0";
    List<Answer> answers =
        atOnce(GUESSES, number -> hostile.stranger().get(Port.TLS, path, "guess." + number + ".x"));
    long reviewed = answers.stream().filter(answer -> answer.status() == 401).count();
    long turned = answers.stream().filter(answer -> answer.status() == 429).count();
    hostile.promise(
        Promise.now(
            "of %d guesses at once few are reviewed, not %d; %d were turned away"
                .formatted(GUESSES, reviewed, turned),
            () -> reviewed <= REVIEWED));
  }

  private static void slow(Hostile hostile) throws Exception {
    String beginning =
        "GET /v1/jobs/x/y/membership HTTP/1.1\r\nHost: operator\r\nX-A: " + "a".repeat(SLOW_BYTES);
    List<Socket> sockets =
        atOnce(
            SLOW,
            _ -> {
              Socket socket = hostile.stranger().open(Port.TLS);
              try {
                socket.getOutputStream().write(beginning.getBytes(ISO_8859_1));
              } catch (IOException e) {
                // Cut off, as it should be.
              }
              return socket;
            });
    sockets.forEach(hostile::open);
    hostile.promise(
        Promise.now(
            "the operator answers others meanwhile",
            () -> hostile.stranger().get(Port.PLAIN, "/q/health/ready", "").status() == 200));
  }

  private static void bodies(Hostile hostile) throws IOException {
    String path = "/v1/jobs/" + TRAINS + "/telemetry";
    String token = hostile.token("kastor/" + TRAINS);
    for (String body :
        List.of("{}", "[".repeat(60_000), "\"\\u0000\"", "{\"pod\": 1e400}", "x".repeat(70_000))) {
      Answer answer =
          hostile
              .stranger()
              .send(Port.TLS, Stranger.request("POST", path, token, "operator", body));
      expect(hostile, "a body", answer, 400, 401, 403, 413, 429);
    }
  }

  private static void ring(Hostile hostile) throws Exception {
    var pod = hostile.victim().trainer();
    String name = pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
    AgentProcess process =
        AgentProcess.all().stream()
            .filter(agent -> agent.pod().equals(name))
            .findFirst()
            .orElseThrow();
    List<Integer> ports = listening(process.pid());
    long step = hostile.victim().step();
    long log = hostile.victim().log().length();
    long begun = System.nanoTime();
    List<Socket> sockets =
        atOnce(
            RING,
            number -> {
              Socket socket = new Socket();
              socket.connect(
                  new InetSocketAddress(
                      pod.getStatus().getPodIP(), ports.get(number % ports.size())),
                  1000);
              socket.getOutputStream().write(new byte[] {1, 2});
              return socket;
            });
    sockets.forEach(hostile::open);
    hostile.promise(Promise.inARound("the job trains on", () -> hostile.victim().step() > step));
    hostile.promise(
        Promise.inARound(
            "its replica logs little",
            () ->
                hostile.victim().log().length() - log
                    < LOG_BYTES_PER_SECOND * Math.max(1, seconds(begun))));
  }

  private static long seconds(long begun) {
    return Duration.ofNanos(System.nanoTime() - begun).toSeconds();
  }

  /** Ports that a process of another network listens on. */
  private static List<Integer> listening(long pid) throws IOException {
    List<Integer> ports = new ArrayList<>();
    for (String file : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "net", file))) {
        String[] fields = line.strip().split("\\s+", -1);
        if (fields.length > 3 && fields[3].equals("0A")) {
          ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
        }
      }
    }
    return ports;
  }

  private static void expect(Hostile hostile, String what, Answer answer, Integer... statuses) {
    hostile.promise(
        Promise.now(
            "%s is answered with one of %s, not %s"
                .formatted(what, List.of(statuses), answer.statuses()),
            // No answer at all is as good.
            () -> answer.statuses().isEmpty() || List.of(statuses).contains(answer.status())));
  }

  /** Numbered deed. */
  private interface Deed<T> {
    T by(int number) throws Exception;
  }

  /** What came of deeds that were all done at the same time; those that failed are left out. */
  private static <T> List<T> atOnce(int count, Deed<T> deed) throws InterruptedException {
    List<Callable<T>> deeds = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      int own = number;
      deeds.add(() -> deed.by(own));
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return threads.invokeAll(deeds).stream()
          .filter(done -> done.state() == Future.State.SUCCESS)
          .map(Future::resultNow)
          .toList();
    }
  }
}
