package dev.kastor.operator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.operator.Metrics;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Asks the API server whose token it is, and remembers the answer for some minutes, but not longer
 * than the token is good for.
 *
 * <p>Tokens are kept as hashes only.
 */
@Singleton
public final class TokenReviews {
  /** Whose token it is. */
  public record Identity(String namespace, String pod) {}

  private static final String POD_NAME = "authentication.kubernetes.io/pod-name";
  private static final String PREFIX = "system:serviceaccount:";

  /**
   * A token dies with its pod, and who speaks for a pod that is gone is refused without a review.
   */
  private static final Duration GOOD_FOR = Duration.ofMinutes(5);

  /** The same while the API server does not answer. */
  private static final Duration OUTAGE = Duration.ofMinutes(30);

  private static final Duration BAD_FOR = Duration.ofSeconds(3);
  private static final int MOST_REMEMBERED = 50_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @param until when to ask again
   * @param bestBefore when the answer is worth nothing even if nobody can be asked
   */
  private record Answer(Optional<Identity> identity, Instant until, Instant bestBefore) {}

  private final KubernetesClient client;
  private final Metrics metrics;
  private final InstantSource clock;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  public TokenReviews(KubernetesClient client, Metrics metrics, InstantSource clock) {
    this.client = client;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** The identity behind a token that was issued for the audience; empty if it is not good. */
  public Optional<Identity> identity(String token, String audience) {
    Instant now = clock.instant();
    String key = hash(audience + "\n" + token);
    Answer known = answers.get(key);
    if (known != null && now.isBefore(known.until())) {
      metrics.tokenReviewed(true);
      return known.identity();
    }
    metrics.tokenReviewed(false);
    Optional<Identity> identity;
    try {
      identity = review(token, audience);
    } catch (KubernetesClientException e) {
      // Those who train must hear from us above all while nobody can be asked who they are.
      if (known != null && known.identity().isPresent() && now.isBefore(known.bestBefore())) {
        return known.identity();
      }
      throw e;
    }
    if (answers.size() >= MOST_REMEMBERED) {
      answers.values().removeIf(old -> !now.isBefore(old.bestBefore()));
    }
    if (answers.size() < MOST_REMEMBERED) {
      answers.put(
          key,
          new Answer(
              identity,
              until(token, identity.isPresent() ? GOOD_FOR : BAD_FOR, now),
              until(token, identity.isPresent() ? OUTAGE : BAD_FOR, now)));
    }
    return identity;
  }

  /** How long an answer holds: never longer than the token itself. */
  private static Instant until(String token, Duration longest, Instant now) {
    Instant latest = now.plus(longest);
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) {
      return latest;
    }
    try {
      JsonNode expires = JSON.readTree(Base64.getUrlDecoder().decode(parts[1])).path("exp");
      Instant end = expires.isNumber() ? Instant.ofEpochSecond(expires.asLong()) : latest;
      return end.isBefore(latest) ? end : latest;
    } catch (IOException | IllegalArgumentException e) {
      // The API server accepts it, whatever it is.
      return latest;
    }
  }

  private Optional<Identity> review(String token, String audience) {
    TokenReview review =
        client
            .tokenReviews()
            .create(
                new TokenReviewBuilder()
                    .withNewSpec()
                    .withToken(token)
                    .withAudiences(audience)
                    .endSpec()
                    .build());
    TokenReviewStatus status = review.getStatus();
    if (status == null
        || !Boolean.TRUE.equals(status.getAuthenticated())
        || !status.getAudiences().contains(audience)) {
      return Optional.empty();
    }
    String user = status.getUser().getUsername();
    Map<String, List<String>> extra = status.getUser().getExtra();
    @Nullable List<String> pods = extra == null ? null : extra.get(POD_NAME);
    if (user == null || !user.startsWith(PREFIX) || pods == null || pods.size() != 1) {
      return Optional.empty();
    }
    String namespace = user.substring(PREFIX.length(), user.lastIndexOf(':'));
    return Optional.of(new Identity(namespace, pods.getFirst()));
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
