package dev.kastor.operator.kube;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import jakarta.inject.Singleton;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Leaves the API server alone when it asks for that, or when it fails again and again: until then
 * no change is sent, and whoever asked for one finds it refused and looks again later.
 *
 * <p>Reads pass, because informers have pauses of their own, and they do not count: where only one
 * kind of object cannot be read, a pause renewed by each try to read it would never end.
 * Thread-safe.
 */
@Singleton
public final class ApiBackoff implements Interceptor {
  static final int TOO_MANY_REQUESTS = 429;
  private static final int FIRST_SERVER_ERROR = 500;

  /** One failure may be anything; from the third in a row on the server is in trouble. */
  private static final int TOLERATED = 2;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_ASKED = Duration.ofMinutes(1);
  private static final int MOST_DOUBLINGS = 5;

  private final InstantSource clock;
  private Instant quietUntil = Instant.EPOCH;
  private Instant lastTrouble = Instant.EPOCH;
  private int failures;

  public ApiBackoff(InstantSource clock) {
    this.clock = clock;
  }

  /** When the API server last failed to answer as it should; the epoch if it never did. */
  public synchronized Instant lastTrouble() {
    return lastTrouble;
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    Duration left = Duration.between(clock.instant(), quietUntil());
    if (!reads(request) && left.isPositive()) {
      throw new NotSent(
          "the API server is left alone for another %d ms: %s %s"
              .formatted(left.toMillis(), request.method(), request.uri().getPath()));
    }
  }

  @Override
  public void after(
      HttpRequest request,
      HttpResponse<?> response,
      AsyncBody.Consumer<List<ByteBuffer>> consumer) {
    answered(request, response.code(), response.header("Retry-After"));
  }

  @Override
  public void afterConnectionFailure(HttpRequest request, Throwable failure) {
    answered(request, FIRST_SERVER_ERROR, "");
  }

  /** Takes note of an answer; no connection counts as a server's error. */
  synchronized void answered(HttpRequest request, int code, @Nullable String retryAfter) {
    Instant now = clock.instant();
    if (code >= FIRST_SERVER_ERROR) {
      lastTrouble = now;
    }
    if (reads(request)) {
      return;
    }
    if (code < FIRST_SERVER_ERROR && code != TOO_MANY_REQUESTS) {
      failures = 0;
      return;
    }
    failures++;
    Duration pause = asked(retryAfter);
    if (pause.isZero() && failures > TOLERATED) {
      int doublings = Math.min(MOST_DOUBLINGS, failures - TOLERATED - 1);
      pause = FIRST_PAUSE.multipliedBy(1L << doublings);
      pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }
    if (!pause.isZero()) {
      // Not all operators and all parts at the same moment.
      double jitter = ThreadLocalRandom.current().nextDouble(1, 1.25);
      Instant until = now.plusMillis((long) (pause.toMillis() * jitter));
      quietUntil = until.isAfter(quietUntil) ? until : quietUntil;
    }
  }

  private static boolean reads(HttpRequest request) {
    return "GET".equals(request.method()) || "HEAD".equals(request.method());
  }

  private synchronized Instant quietUntil() {
    return quietUntil;
  }

  /** The seconds of a Retry-After; zero if there is none, or a date, which no API server sends. */
  private static Duration asked(@Nullable String retryAfter) {
    if (retryAfter == null || !retryAfter.matches("[0-9]{1,9}")) {
      return Duration.ZERO;
    }
    Duration asked = Duration.ofSeconds(Long.parseLong(retryAfter));
    return asked.compareTo(LONGEST_ASKED) < 0 ? asked : LONGEST_ASKED;
  }
}
