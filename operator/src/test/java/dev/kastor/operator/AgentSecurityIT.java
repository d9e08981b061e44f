package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.protocol.Membership;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The agent API as an attacker in another pod, job or namespace sees it. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class AgentSecurityIT {
  private static final String NAMESPACE = LoneReplica.NAMESPACE;
  private static final long HUGE = 1L << 62;

  /** As in GuessLimit, for one subject at one address. */
  private static final int GUESSES_AT_ONCE = 50;

  private static final int GUESSES_PER_SECOND = 5;

  /** As in OperatorConfig, for one replica. */
  private static final int REQUESTS_PER_SECOND = 50;

  private static final int REQUESTS_AT_ONCE = 4 * REQUESTS_PER_SECOND;

  private static final Duration SECOND = Duration.ofSeconds(1);

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  @Inject MovableClock clock;

  private AgentClient api;
  private LoneReplica victim;

  @BeforeEach
  void train() throws Exception {
    api = new AgentClient(url(), FakeApiServer.certificate());
    victim = new LoneReplica(FakeApiServer.client(), api, "victim" + System.nanoTime());
  }

  @AfterEach
  void end() throws Exception {
    victim.close();
  }

  @Test
  void refusesForgedExpiredAndForeignTokens() throws Exception {
    String audience = "kastor/%s/%s".formatted(NAMESPACE, victim.job);
    String uid = uid(victim.pod);
    assertThat(report("forged")).isEqualTo(401);
    // The API server says no to what has expired, however well it is made.
    assertThat(report(victim.token + "|expired")).isEqualTo(401);
    assertThat(report("e30." + claims("kastor/team/other") + ".c2ln")).isEqualTo(403);
    assertThat(report("e30." + claims(audience) + ".c2ln")).isEqualTo(401);
    assertThat(report(token("kastor/team/other", NAMESPACE, victim.pod, uid))).isEqualTo(401);
    assertThat(report(token(audience, "evil", victim.pod, uid))).isEqualTo(403);
    assertThat(report(token(audience, NAMESPACE, "other-0", "uid-of-other"))).isEqualTo(403);
    assertThat(report(token(audience, NAMESPACE, victim.pod, "uid-of-a-former-one")))
        .isEqualTo(403);
    for (String header : new String[] {"Basic dTpw", "Bearer", "Bearer  ", victim.token}) {
      HttpResponse<String> answer =
          api.post(
              victim.path("telemetry"),
              victim.body(1, 1, 1),
              "Authorization",
              header,
              "Content-Type",
              "application/json");
      assertThat(answer.statusCode()).as(header).isEqualTo(401);
      assertThat(answer.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
    }
    assertThat(report(victim.token)).isEqualTo(204);
  }

  @Test
  void aPodThatIsGoneHasNoSay() throws Exception {
    assertThat(victim.report().statusCode()).isEqualTo(204);
    FakeApiServer.client().pods().inNamespace(NAMESPACE).withName(victim.pod).delete();
    LoneReplica.await("its token is worthless", () -> victim.report().statusCode() == 403);
  }

  @Test
  void generationsThatWereNeverPublishedMoveNothing() throws Exception {
    long before = victim.generation();
    for (long claimed : new long[] {before + 1, HUGE, Long.MAX_VALUE}) {
      HttpResponse<String> poll = victim.poll(claimed, "TRAINING", 0);
      assertThat(poll.statusCode()).isEqualTo(409);
      assertThat(poll.body()).contains("never published").contains("newest is " + before);
      assertThat(victim.report(claimed, 1, 1).statusCode()).isEqualTo(409);
      String lived =
          """
          "switches": [{"generation": %d, "replicasBefore": 0, "replicasAfter": 1,
                        "cause": "START", "pauseSeconds": 1}]\
          """
              .formatted(claimed);
      assertThat(post(text(victim.body(before, 1, 1)).replace("\"switches\": []", lived)))
          .isEqualTo(409);
    }
    Membership now = LoneReplica.membership(victim.poll(before, "TRAINING", 0));
    assertThat(now.generation()).isEqualTo(before);
    assertThat(victim.generation()).isEqualTo(before);
  }

  @Test
  void repeatedAndOutdatedReportsChangeNothing() throws Exception {
    long generation = victim.generation();
    assertThat(victim.report(generation, 10, 500).statusCode()).isEqualTo(204);
    LoneReplica.await("the report is in the status", () -> step() == 500);
    assertThat(victim.report(generation, 10, 900).statusCode()).isEqualTo(204);
    assertThat(victim.report(generation, 3, 900).statusCode()).isEqualTo(204);
    assertThat(victim.report(generation - 1, 11, 900).statusCode()).isEqualTo(204);
    assertThat(victim.report(generation, 12, 501).statusCode()).isEqualTo(204);
    LoneReplica.await("the next true report is", () -> step() == 501);
  }

  @Test
  void badBodiesAreRefusedWithTheirField() throws Exception {
    String good = text(victim.body(victim.generation(), 1, 1));
    List<Callable<String>> open = new ArrayList<>();
    for (String[] bad :
        new String[][] {
          {"1.5", "NaN", "400", "NaN"},
          {"1.5", "Infinity", "400", "Infinity"},
          {"1.5", "1e999", "400", "scaleInvariantSteps"},
          {"1.5", "1e300", "400", "scaleInvariantSteps"},
          {"1.5", "-0.1", "400", "scaleInvariantSteps"},
          {"1.5", "9".repeat(100), "400", "Number"},
          {"\"examples\": 32", "\"examples\": 32.5", "400", "examples"},
          {"\"examples\": 32", "\"examples\": \"32\"", "400", "examples"},
          {"\"examples\": 32", "\"examples\": 99999999999999999999", "400", "examples"},
          {"\"examples\": 32", "\"examples\": 1, \"examples\": 2", "400", "Duplicate"},
          {"\"replicas\": 1", "\"replicas\": 2147483647", "400", "replicas"},
          {"\"atomicBatchSize\": 32", "\"atomicBatchSize\": 2147483648", "400", "atomicBatchSize"},
          {"\"accumulationSteps\": 0", "\"accumulationSteps\": 2147483647", "400", "accumulation"},
          {"\"profiles\": []", "\"profiles\": " + "[".repeat(5000), "400", "profiles"},
          {"\"profiles\": []", "\"profiles\": {}", "400", "profiles"},
          {"\"switches\": []", "\"switches\": [null]", "400", ""},
          {"\"switches\": []", "\"switches\": [], \"x\": {\"y\": 1}", "400", "x"},
          {"{\"namespace\"", "[{\"namespace\"", "400", ""},
          {"\"switches\": []}", "\"switches\": []} {}", "400", ""},
          {"\"switches\": []}", "\"switches\": [", "400", ""},
          {"\"pod\": \"", "\"pod\": \"\\u0000", "403", "pod"},
          {"{\"namespace\"", " ".repeat(70_000) + "{\"namespace\"", "413", "bytes"},
        }) {
      open.add(() -> {
        String body = good.replace(bad[0], bad[1]);
        assertThat(body).as(bad[1]).isNotEqualTo(good);
        HttpResponse<String> answer =
            api.post(victim.path("telemetry"), victim.token, body.getBytes(UTF_8));
        return answer.statusCode() == Integer.parseInt(bad[2]) && answer.body().contains(bad[3])
            ? ""
            : "%s: %d %s".formatted(bad[1], answer.statusCode(), answer.body());
      });
    }
    for (Callable<String> one : open.subList(0, 15)) {
      assertThat(one.call()).isEmpty();
    }
    // A fresh job: so many bad reports of one are the quarantine's business.
    end();
    train();
    for (Callable<String> one : open.subList(15, open.size())) {
      assertThat(one.call()).doesNotContain(": 5");
    }
    assertThat(post("")).isEqualTo(400);
    assertThat(post("null")).isEqualTo(400);
    assertThat(victim.report().statusCode()).isEqualTo(204);
  }

  @Test
  void onlyPlainJsonIsRead() throws Exception {
    byte[] body = victim.body(victim.generation(), 1, 1);
    String bearer = "Bearer " + victim.token;
    for (String type : new String[] {"text/plain", "application/xml", "multipart/form-data"}) {
      assertThat(
              api.post(
                      victim.path("telemetry"), body, "Authorization", bearer, "Content-Type", type)
                  .statusCode())
          .as(type)
          .isEqualTo(415);
    }
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(bomb)) {
      gzip.write(new byte[40 << 20]);
    }
    for (String encoding : new String[] {"gzip", "deflate", "br"}) {
      assertThat(
              api.post(
                      victim.path("telemetry"),
                      bomb.toByteArray(),
                      "Authorization",
                      bearer,
                      "Content-Type",
                      "application/json",
                      "Content-Encoding",
                      encoding)
                  .statusCode())
          .as(encoding)
          .isEqualTo(415);
    }
    assertThat(post(new String(bomb.toByteArray(), UTF_8))).isEqualTo(400);
  }

  @Test
  void pathsHaveOneMeaning() throws Exception {
    for (String path :
        new String[] {
          "/v1/jobs/%2e%2e/" + victim.job + "/telemetry",
          "/v1/jobs/team%2f" + victim.job + "/x/telemetry",
          "/v1/jobs/team/" + victim.job + "%00/telemetry",
          "/v1/jobs/team/" + victim.job + "%0a/telemetry",
          "/v1/jobs/TEAM/" + victim.job + "/telemetry",
          "/v1/jobs/team/%D0%B0%D0%B1/telemetry",
          "/v1/jobs/team/" + "a".repeat(300) + "/telemetry",
          "/v1/jobs/team/" + victim.job + "/telemetry/../../../../../metrics/x",
          "/v1/jobs/team/" + victim.job + "/nothing",
        }) {
      try (RawHttp raw = raw()) {
        raw.send(head("POST", path, 2, ""), "{}".getBytes(UTF_8));
        assertThat(raw.read().status()).as(path).isIn(400, 401, 404);
      }
    }
    for (String path :
        new String[] {
          "/v1/jobs/a/b/membership",
          "//v1/jobs/a/b/membership",
          "/%76%31/jobs/a/b/membership",
          "/v1/./jobs/a/b/membership",
          "/x/../v1/jobs/a/b/membership"
        }) {
      int status = PlainHttp.get(plain, path);
      assertThat(status).as("in the clear: " + path).isIn(400, 403);
    }
    assertThat(victim.report().statusCode()).isEqualTo(204);
  }

  @Test
  void aRequestEndsWhereItSaysItEnds() throws Exception {
    String inner = "GET " + victim.path("membership") + " HTTP/1.1\r\nHost: h\r\n\r\n";
    record Attempt(String head, String body) {}
    String post = "POST " + victim.path("telemetry") + " HTTP/1.1\nHost: h\n";
    for (Attempt attempt :
        List.of(
            new Attempt(post + "Content-Length: 3\nContent-Length: 44\n\n", "{}\n" + inner),
            new Attempt(post + "Content-Length: -1\n\n", inner),
            new Attempt(post + "Content-Length: +3\n\n", "{}\n" + inner),
            new Attempt(post + "Content-Length : 3\n\n", "{}\n" + inner),
            new Attempt(post + "Transfer-Encoding: chunked\n\n", "zz\r\n" + inner),
            new Attempt(post + "Transfer-Encoding: chunked\n\n", "-1\r\n" + inner),
            new Attempt("GET / HTTP/9.9\nHost: h\n\n", inner))) {
      try (RawHttp raw = raw()) {
        raw.send(attempt.head(), attempt.body().getBytes(UTF_8));
        assertThat(smuggled(raw)).as(attempt.head()).isFalse();
      }
    }
    // Chunks overrule a length, unseen: they are not taken at all, with or without one.
    for (String length : List.of("", "Content-Length: 5\n")) {
      try (RawHttp raw = raw()) {
        raw.send(
            post + length + "Transfer-Encoding: chunked\n\n",
            ("0\r\n\r\n" + post.replace("\n", "\r\n") + "Content-Length: 0\r\n\r\n")
                .getBytes(UTF_8));
        assertThat(raw.read().status()).isEqualTo(411);
        assertThatThrownBy(raw::read).isInstanceOf(IOException.class);
      }
    }
    assertThat(victim.report().statusCode()).isEqualTo(204);
  }

  /** Whether the request inside a body was answered: as one without a token. */
  private static boolean smuggled(RawHttp raw) throws IOException {
    try {
      for (int answers = 0; true; answers++) {
        RawHttp.Answer answer = raw.read();
        assertThat(answer.status()).isNotEqualTo(500);
        if (answers > 0) {
          return true;
        }
      }
    } catch (IOException e) {
      return false;
    }
  }

  /** After how long is in ConnectionLimitTest. */
  @Test
  void bodiesThatDripInEndTheirConnection() throws Exception {
    int length = 60_000;
    try (RawHttp raw = raw()) {
      raw.send(head("POST", victim.path("telemetry"), length, ""), new byte[0]);
      assertThatThrownBy(
              () -> {
                // None of the bytes that would make it whole is sent before hours are over.
                for (int sent = 0; sent < length - 1; sent++) {
                  raw.send(new byte[] {' '});
                  Thread.sleep(300);
                }
              })
          .isInstanceOf(IOException.class);
    }
    assertThat(victim.report().statusCode()).isEqualTo(204);
  }

  @Test
  void onlyTheNewestPollOfAReplicaWaits() throws Exception {
    long generation = victim.generation();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> polls = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        polls.add(threads.submit(() -> victim.poll(generation, "TRAINING", 3).statusCode()));
      }
      LoneReplica.await("one poll waits", () -> waitingPolls() <= 1);
      for (Future<Integer> poll : polls) {
        assertThat(poll.get()).isEqualTo(200);
      }
    }
  }

  @Test
  void aReplicaThatAsksTooOftenIsTurnedAway() throws Exception {
    long generation = victim.generation();
    try (LoneReplica other = another();
        RawHttp raw = raw()) {
      try (MovableClock.Stop _ = clock.stop()) {
        // What it asked for until now no longer counts.
        clock.advance(SECOND.multipliedBy(REQUESTS_AT_ONCE / REQUESTS_PER_SECOND));
        assertThat(answeredBefore429(raw, generation)).isEqualTo(REQUESTS_AT_ONCE);
        assertThat(other.report().statusCode()).isEqualTo(204);
        clock.advance(SECOND);
        assertThat(answeredBefore429(raw, generation)).isEqualTo(REQUESTS_PER_SECOND);
      }
    }
  }

  /** Polls until one is turned away; how many were answered before. */
  private int answeredBefore429(RawHttp raw, long generation) throws IOException {
    String poll =
        "membership?pod=%s&generation=%d&phase=TRAINING&step=1".formatted(victim.pod, generation);
    for (int answered = 0; answered <= REQUESTS_AT_ONCE; answered++) {
      raw.send(
          "GET %s HTTP/1.1\nHost: h\nAuthorization: Bearer %s\n\n"
              .formatted(victim.path(poll), victim.token),
          new byte[0]);
      int status = raw.read().status();
      if (status == 429) {
        return answered;
      }
      assertThat(status).isEqualTo(200);
    }
    throw new AssertionError("none of %d requests was turned away".formatted(REQUESTS_AT_ONCE + 1));
  }

  @Test
  void aJobOfBadReportsIsCutBackAndNoOther() throws Exception {
    try (LoneReplica other = another();
        CapturedLog log = new CapturedLog();
        MovableClock.Stop _ = clock.stop()) {
      List<Integer> answers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        answers.add(post("{\"bad\": \"line\\nbreak\"}"));
      }
      assertThat(answers.subList(0, 21)).containsOnly(400);
      assertThat(answers.subList(21, 40)).containsOnly(429);
      assertThat(victim.report().statusCode()).as("its good ones too").isEqualTo(429);
      assertThat(other.report().statusCode()).isEqualTo(204);
      assertThat(victim.poll(victim.generation(), "TRAINING", 0).statusCode())
          .as("it trains on")
          .isEqualTo(200);
      assertThat(log.lines())
          .filteredOn(line -> line.contains("bad reports within a minute"))
          .singleElement()
          .asString()
          .contains(victim.job);
      assertThat(PlainHttp.text(plain, "/metrics")).contains("kastor_jobs_quarantined_total");
      clock.advance(Duration.ofMinutes(2));
      assertThat(victim.report().statusCode()).as("once that is over").isEqualTo(204);
    }
  }

  @Test
  void guessingTokensEndsSoonAndHurtsNobodyElse() throws Exception {
    AgentClient guesser =
        AgentClient.from(InetAddress.getByName("127.0.0.9"), url(), FakeApiServer.certificate());
    try (MovableClock.Stop _ = clock.stop()) {
      assertThat(guessesBefore429(guesser, "guess")).isEqualTo(GUESSES_AT_ONCE);
      assertThat(FakeApiServer.reviews("guess")).isEqualTo(GUESSES_AT_ONCE);
      assertThat(report("another guess")).as("from elsewhere").isEqualTo(401);
      assertThat(
              guesser
                  .post(victim.path("telemetry"), victim.token, victim.body(1, 1, 1))
                  .statusCode())
          .as("a good token that is known")
          .isEqualTo(204);
      clock.advance(SECOND);
      assertThat(guessesBefore429(guesser, "next")).isEqualTo(GUESSES_PER_SECOND);
    }
  }

  /** Guesses tokens until one is not looked at; how many were. */
  private int guessesBefore429(AgentClient guesser, String token) throws Exception {
    for (int refused = 0; refused <= GUESSES_AT_ONCE; refused++) {
      int status =
          guesser.post(victim.path("telemetry"), token + refused, new byte[2]).statusCode();
      if (status == 429) {
        return refused;
      }
      assertThat(status).isEqualTo(401);
    }
    throw new AssertionError("all of %d guesses were looked at".formatted(GUESSES_AT_ONCE + 1));
  }

  @Test
  void manyGuessesAtOnceAreNoWayAround() throws Exception {
    InetAddress guessing = InetAddress.getByName("127.0.0.10");
    CyclicBarrier together = new CyclicBarrier(200);
    List<Future<Integer>> answers = new ArrayList<>();
    try (MovableClock.Stop _ = clock.stop();
        AgentClient guesser = AgentClient.from(guessing, url(), FakeApiServer.certificate());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < together.getParties(); i++) {
        String guess = "at-once-" + i;
        answers.add(
            threads.submit(() -> {
              together.await();
              try {
                return guesser.post(victim.path("telemetry"), guess, new byte[2]).statusCode();
              } catch (IOException e) {
                // Ended before its review was.
                return 0;
              }
            }));
      }
    }
    List<Integer> statuses = new ArrayList<>();
    for (Future<Integer> answer : answers) {
      statuses.add(answer.get());
    }
    // None is let in; a review that the API server did not answer in time ends in 503 or in no
    // answer, and its guess is given back.
    assertThat(statuses).isSubsetOf(0, 401, 429, 503);
    long givenBack = statuses.stream().filter(status -> status == 503 || status == 0).count();
    assertThat(FakeApiServer.reviews("at-once-"))
        .isPositive()
        .isLessThanOrEqualTo(GUESSES_AT_ONCE + givenBack);
  }

  @Test
  void onlyTheNewestTlsIsSpoken() throws Exception {
    var trusting = AgentClient.trusting(FakeApiServer.certificate());
    assertThatThrownBy(() -> new RawHttp(trusting, base, "TLSv1.2").close())
        .isInstanceOf(IOException.class);
    new RawHttp(trusting, base, "TLSv1.3").close();
  }

  private int waitingPolls() throws IOException, InterruptedException {
    return PlainHttp.text(plain, "/metrics")
        .lines()
        .filter(line -> line.startsWith("kastor_membership_polls "))
        .mapToInt(line -> (int) Double.parseDouble(line.split(" ", -1)[1]))
        .sum();
  }

  private LoneReplica another() throws IOException, InterruptedException {
    return new LoneReplica(FakeApiServer.client(), api, "other" + System.nanoTime());
  }

  private int report(String token) throws IOException, InterruptedException {
    return api.post(victim.path("telemetry"), token, victim.body(1, 1, 1)).statusCode();
  }

  private int post(String body) throws IOException, InterruptedException {
    return api.post(victim.path("telemetry"), victim.token, body.getBytes(UTF_8)).statusCode();
  }

  private long step() {
    var training = victim.resource().get().getStatus().training();
    return training == null ? 0 : training.step();
  }

  private static String head(String method, String path, int length, String token) {
    return "%s %s HTTP/1.1\nHost: h\nContent-Type: application/json\nAuthorization: Bearer %s\nContent-Length: %d\n\n"
        .formatted(method, path, token.isEmpty() ? "none" : token, length);
  }

  private RawHttp raw() throws IOException {
    return new RawHttp(AgentClient.trusting(FakeApiServer.certificate()), base);
  }

  private static String token(String audience, String namespace, String pod, String uid) {
    return FakeApiServer.token(audience, namespace, pod, uid);
  }

  private static String uid(String pod) {
    return FakeApiServer.client()
        .pods()
        .inNamespace(NAMESPACE)
        .withName(pod)
        .get()
        .getMetadata()
        .getUid();
  }

  private static String claims(String audience) {
    return java.util.Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString("{\"aud\": [\"%s\"]}".formatted(audience).getBytes(UTF_8));
  }

  private static String text(byte[] body) {
    return new String(body, UTF_8);
  }

  private String url() {
    String url = base.toString();
    return url.substring(0, url.length() - 1);
  }
}
