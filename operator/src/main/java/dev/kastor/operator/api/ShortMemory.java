package dev.kastor.operator.api;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Answers that are good for some seconds, the oldest of which go first when there are too many.
 *
 * <p>Keys are hashes, so that no token is kept. Thread-safe.
 */
public final class ShortMemory<T> {
  private record Answer<T>(T value, Instant until) {}

  private final InstantSource clock;
  private final Duration lifetime;
  private final int most;
  private final Map<String, Answer<T>> answers = new LinkedHashMap<>();

  /** A memory of at most {@code most} answers, each for {@code lifetime}. */
  public ShortMemory(InstantSource clock, Duration lifetime, int most) {
    this.clock = clock;
    this.lifetime = lifetime;
    this.most = most;
  }

  /** The key of a secret in a context. */
  public static String key(String context, String secret) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((context + "\n").getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The answer, unless it is unknown or too old. */
  public synchronized Optional<T> get(String key) {
    Answer<T> answer = answers.get(key);
    return answer != null && clock.instant().isBefore(answer.until())
        ? Optional.of(answer.value())
        : Optional.empty();
  }

  /** Forgets an answer. */
  synchronized void remove(String key) {
    answers.remove(key);
  }

  /** Keeps an answer. */
  public void put(String key, T value) {
    put(key, value, Instant.MAX);
  }

  /** Keeps an answer, until a certain time at the latest. */
  public synchronized void put(String key, T value, Instant latest) {
    Instant now = clock.instant();
    Instant until = now.plus(lifetime);
    answers.remove(key);
    answers.put(key, new Answer<>(value, until.isAfter(latest) ? latest : until));
    Iterator<Answer<T>> oldestFirst = answers.values().iterator();
    while (oldestFirst.hasNext()) {
      boolean expired = !now.isBefore(oldestFirst.next().until());
      if (!expired && answers.size() <= most) {
        return;
      }
      oldestFirst.remove();
    }
  }
}
