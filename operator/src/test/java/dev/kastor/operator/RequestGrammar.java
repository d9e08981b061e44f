package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;

/**
 * Grammar of requests to both ports, good and bad, with the statuses that each may be answered:
 * those of its route, and those of whatever was done to it.
 */
// As in the operator's other tests.
@NullUnmarked
final class RequestGrammar {
  /** A request as it goes out, and what may come back. */
  // The bytes are written once and never changed.
  @SuppressWarnings("ArrayRecordComponent")
  record Attempt(byte[] bytes, Set<Integer> answers, boolean head, boolean stream, boolean ends) {}

  /** Request line with a version of HTTP that the operator speaks; any other one is 501. */
  private static final Pattern SPOKEN = Pattern.compile("[^\\r\\n]* HTTP/1\\.[01]\\s*[\\r\\n]");

  private static final List<String> METHODS =
      List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO");
  private static final List<String> BAD_HOSTS =
      List.of(
          "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]");
  private static final List<String> GOOD_HOSTS =
      List.of("localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:1", "[::1]");
  private static final List<String> QUERIES =
      List.of(
          "",
          "?",
          "?a=b",
          "?wait=0",
          "?pod=x&pod=y",
          "?generation=99999999999999999999",
          "?phase=%00&step=-1",
          "?=&&&=",
          "?a=;b",
          "?x=%E4%F6",
          "?format=json",
          "?a=" + "b".repeat(2000));
  private static final List<String> HEADERS =
      List.of(
          "Accept: text/plain",
          "Accept: */*;q=0",
          "Accept: application/json",
          "Accept: ,;=",
          "If-None-Match: *",
          "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT",
          "Range: bytes=0-1",
          "Range: bytes=9999999-",
          "Range: bytes=x",
          "Content-Type: text/html",
          "Content-Encoding: gzip",
          "Accept-Encoding: gzip, br",
          "X-Forwarded-For: 127.0.0.1",
          "Forwarded: host=localhost",
          "X-HTTP-Method-Override: POST",
          "Cookie: a=b; c",
          "Origin: http://evil.example",
          "Upgrade: h2c",
          "Last-Event-ID: 1",
          "X: " + "y".repeat(4000));

  private final List<String> plainRoutes;
  private final LoneReplica replica;
  private final ReportMutator mutator;

  RequestGrammar(Set<String> plainRoutes, LoneReplica replica) {
    this.plainRoutes = plainRoutes.stream().sorted().toList();
    this.replica = replica;
    mutator = new ReportMutator(LoneReplica.NAMESPACE, replica.job, replica.pod);
  }

  /** The next request to a port. */
  Attempt next(RandomGenerator random, boolean secure, long number) {
    boolean agents = secure ? random.nextInt(10) > 0 : random.nextInt(20) == 0;
    return agents ? agents(random, secure, number) : page(random, secure);
  }

  private Attempt agents(RandomGenerator random, boolean secure, long number) {
    boolean report = random.nextBoolean();
    byte[] body = report ? mutator.next(random, 1, number + 1) : new byte[0];
    String query = report ? "" : "?" + ReportMutator.query(random, replica.pod, random.nextInt(2));
    Set<Integer> answers = new TreeSet<>();
    if (!secure) {
      answers.add(403);
    } else if (report) {
      answers.addAll(Set.of(204, 400, 401, 403, 404, 409, 413, 415, 429));
    } else {
      answers.addAll(Set.of(200, 400, 401, 403, 404, 409, 429));
    }
    String token =
        switch (random.nextInt(20)) {
          case 0 -> "";
          case 1 -> "Authorization: Bearer guess" + number + "\n";
          case 2 -> "Authorization: Basic dTpw\n";
          default -> "Authorization: Bearer " + replica.token + "\n";
        };
    String type = report ? "Content-Type: application/json\n" : "";
    return build(
        random,
        secure,
        report ? "POST" : "GET",
        replica.path(report ? "telemetry" : "membership"),
        query,
        token + type,
        body,
        answers);
  }

  private Attempt page(RandomGenerator random, boolean secure) {
    String route = pick(random, plainRoutes);
    if (route.contains("echarts") && random.nextInt(50) > 0) {
      route = "GET /metrics";
    }
    String path =
        route
            .substring(route.indexOf(' ') + 1)
            .replace("{namespace}", random.nextBoolean() ? LoneReplica.NAMESPACE : "none")
            .replace("{name}", random.nextBoolean() ? replica.job : "none");
    // A page that has not changed, a part of a file, an Accept that cannot be met, no such job.
    Set<Integer> answers =
        secure ? new TreeSet<>(Set.of(404)) : new TreeSet<>(Set.of(200, 206, 304, 404, 406, 416));
    if (!secure && route.startsWith("POST ")) {
      // What is sent is no job.
      answers.addAll(Set.of(400, 413, 415));
    }
    return build(
        random,
        secure,
        route.substring(0, route.indexOf(' ')),
        path,
        pick(random, QUERIES),
        "",
        new byte[0],
        answers);
  }

  private Attempt build(
      RandomGenerator random,
      boolean secure,
      String rightMethod,
      String rightPath,
      String query,
      String ownHeaders,
      byte[] ownBody,
      Set<Integer> answers) {
    String method = rightMethod;
    byte[] body = ownBody;
    if (random.nextInt(8) == 0) {
      method = pick(random, METHODS);
      // OPTIONS says what there is, some routes of extensions take every method.
      answers.addAll(secure ? Set.of(404, 405, 200) : Set.of(200, 404, 405, 415));
      body = random.nextBoolean() ? ownBody : "{}".getBytes(UTF_8);
    }
    String path = rightPath;
    if (random.nextInt(6) == 0) {
      path = spelled(random, rightPath);
      answers.addAll(Set.of(400, 404));
      if (secure) {
        answers.add(405);
      }
    }
    if (random.nextInt(200) == 0) {
      query = "?" + "q".repeat(9_000);
      answers.addAll(Set.of(400, 414));
    }
    StringBuilder head = new StringBuilder();
    head.append(method).append(' ').append(path).append(query).append(" HTTP/1.1\n");
    answers.addAll(host(random, secure, head));
    head.append(ownHeaders);
    for (int extra = random.nextInt(4); extra > 1; extra--) {
      head.append(pick(random, HEADERS)).append('\n');
      // An Accept that cannot be met, a type that is none, an encoding.
      answers.addAll(Set.of(400, 406, 415));
    }
    if (random.nextInt(300) == 0) {
      head.append("Y: ").append("z".repeat(20_000)).append('\n');
      answers.add(431);
    }
    boolean ends = length(random, head, body, answers);
    head.append('\n');
    byte[] bytes = RawHttp.request(head.toString(), body);
    if (random.nextInt(100) == 0) {
      bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
      return new Attempt(bytes, answers, false, false, true);
    }
    if (random.nextInt(100) == 0) {
      for (int i = 1 + random.nextInt(5); i > 0; i--) {
        bytes[random.nextInt(Math.min(bytes.length, 400))] = (byte) random.nextInt(256);
      }
      answers.addAll(
          Set.of(200, 204, 400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 416, 429, 431));
      if (!SPOKEN.matcher(new String(bytes, ISO_8859_1)).lookingAt()) {
        answers.add(501);
      }
      return new Attempt(bytes, answers, false, false, true);
    }
    return new Attempt(bytes, answers, method.equals("HEAD"), path.contains("/events"), ends);
  }

  private static Set<Integer> host(RandomGenerator random, boolean secure, StringBuilder head) {
    return switch (random.nextInt(20)) {
      case 0 -> Set.of(400);
      case 1 -> {
        head.append("Host: localhost\nHost: evil.example\n");
        yield Set.of(400);
      }
      case 2, 3 -> {
        head.append("Host: ").append(pick(random, BAD_HOSTS)).append('\n');
        yield secure ? Set.of() : Set.of(403);
      }
      default -> {
        head.append("Host: ").append(pick(random, GOOD_HOSTS)).append('\n');
        yield Set.of();
      }
    };
  }

  /** Says how long the body is, mostly truly; whether the connection may end for it. */
  private static boolean length(
      RandomGenerator random, StringBuilder head, byte[] body, Set<Integer> answers) {
    return switch (random.nextInt(60)) {
      case 0 -> {
        head.append("Transfer-Encoding: chunked\n");
        answers.addAll(Set.of(400, 411));
        yield true;
      }
      case 1 -> {
        head.append("Content-Length: 2\nContent-Length: 3\n");
        answers.add(400);
        yield true;
      }
      case 2 -> {
        head.append("Content-Length: -1\n");
        answers.add(400);
        yield true;
      }
      case 3 -> {
        head.append("Content-Length: 2000000\n");
        answers.addAll(Set.of(400, 413));
        yield true;
      }
      default -> {
        if (body.length > 0) {
          head.append("Content-Length: ").append(body.length).append('\n');
        }
        // A body that is too large may be answered before it has been sent.
        yield body.length > 60_000;
      }
    };
  }

  private static String spelled(RandomGenerator random, String path) {
    String rest = path.substring(1);
    int cut = random.nextInt(path.length());
    return switch (random.nextInt(14)) {
      case 0 -> path + ";x=1";
      case 1 -> path.substring(0, cut) + ";" + path.substring(cut);
      case 2 -> path + "%3bx";
      case 3 -> "/" + path;
      case 4 -> "/./" + rest;
      case 5 -> "/x/../" + rest;
      case 6 -> "/v1/jobs/a/b/membership/../../../../.." + path;
      case 7 -> path + "/";
      case 8 -> path.replaceFirst("/", "/%2e/");
      case 9 -> path.substring(0, cut) + "%00" + path.substring(cut);
      case 10 -> "http://localhost" + path;
      case 11 -> path.toUpperCase(java.util.Locale.ROOT);
      case 12 -> path.substring(0, cut) + "%2f" + path.substring(cut);
      default ->
          path.substring(0, cut)
              + new String(new byte[] {(byte) random.nextInt(0x80, 256)}, ISO_8859_1)
              + path.substring(cut);
    };
  }

  /** Several requests in one; none but the last ends the connection. */
  static byte[] together(List<Attempt> attempts) {
    var all = new ByteArrayOutputStream();
    attempts.forEach(attempt -> all.writeBytes(attempt.bytes()));
    return all.toByteArray();
  }

  private static <T> T pick(RandomGenerator random, List<T> from) {
    return from.get(random.nextInt(from.size()));
  }
}
