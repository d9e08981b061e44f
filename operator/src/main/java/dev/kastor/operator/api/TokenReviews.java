package dev.kastor.operator.api;

import dev.kastor.operator.metrics.Metrics;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Asks the API server whose token it is, and remembers the answer for some minutes, but not longer
 * than the token is good for.
 *
 * <p>Whoever shows many bad tokens is not asked about any more for a while: each costs the API
 * server a request. Thread-safe.
 */
@Singleton
public final class TokenReviews {
  /** Whose token it is, in the API server's words; of a pod's the groups are left out. */
  public record User(
      String name, String uid, List<String> groups, Map<String, List<String>> extra) {
    public User {
      groups = List.copyOf(groups);
      extra = Map.copyOf(extra);
    }
  }

  /** The name of the pod that a token is bound to, in {@link User#extra}. */
  static final String POD_NAME = "authentication.kubernetes.io/pod-name";

  /** The same of its uid. */
  static final String POD_UID = "authentication.kubernetes.io/pod-uid";

  /** The audience of tokens that are meant for the API server itself. */
  public static final String API_SERVER = "";

  private static final Duration GOOD_FOR = Duration.ofMinutes(5);

  /**
   * A pod's token dies with it, and who speaks for a pod that is gone is refused without a review;
   * asked about more often, those of thousands of pods would be a good part of all requests.
   */
  private static final Duration PODS_GOOD_FOR = Duration.ofMinutes(15);

  /** The same while the API server does not answer. */
  private static final Duration OUTAGE = Duration.ofMinutes(30);

  /** How audiences of pods begin. */
  private static final String PODS = "kastor/";

  private static final Duration BAD_FOR = Duration.ofSeconds(3);
  private static final int MOST_GOOD = 50_000;
  private static final int MOST_BAD = 10_000;

  private final KubernetesClient client;
  private final Metrics metrics;
  private final InstantSource clock;
  private final ShortMemory<User> good;
  private final ShortMemory<User> lately;
  private final ShortMemory<Boolean> bad;
  private final ShortMemory<Boolean> subjects;
  private final GuessLimit guesses;

  public TokenReviews(KubernetesClient client, Metrics metrics, InstantSource clock) {
    this.client = client;
    this.metrics = metrics;
    this.clock = clock;
    good = new ShortMemory<>(clock, PODS_GOOD_FOR, MOST_GOOD);
    lately = new ShortMemory<>(clock, OUTAGE, MOST_GOOD);
    bad = new ShortMemory<>(clock, BAD_FOR, MOST_BAD);
    subjects = new ShortMemory<>(clock, OUTAGE, MOST_GOOD);
    guesses = new GuessLimit(clock);
  }

  /**
   * The user behind a token that was issued for the audience; empty if it is not good.
   *
   * @param remote address of who shows it
   * @throws ApiException with 429 if that address has shown too many bad ones
   */
  public Optional<User> user(String token, String audience, String remote) throws ApiException {
    String key = ShortMemory.key(audience, token);
    Optional<User> known = good.get(key);
    if (known.isPresent() || bad.get(key).isPresent()) {
      metrics.tokenReviewed(true);
      return known;
    }
    String subject = ShortMemory.key(remote, BearerToken.subject(token));
    var guess = new GuessLimit.Guess(remote, subject, subjects.get(subject).isPresent());
    if (!guesses.take(guess)) {
      throw ApiException.tooMany("guesses", "too many bad tokens from " + remote);
    }
    metrics.tokenReviewed(false);
    Optional<User> user;
    try {
      user = review(token, audience);
    } catch (KubernetesClientException e) {
      guesses.giveBack(guess);
      // Those who train must hear from us above all while nobody can be asked who they are.
      return Optional.of(lately.get(key).orElseThrow(() -> e));
    }
    if (user.isPresent()) {
      good.put(key, user.get(), goodUntil(token, audience));
      lately.put(key, user.get(), BearerToken.end(token));
      subjects.put(subject, true);
      guesses.giveBack(guess);
    } else {
      lately.remove(key);
      bad.put(key, true);
    }
    return user;
  }

  private Instant goodUntil(String token, String audience) {
    Instant end = BearerToken.end(token);
    Instant others = clock.instant().plus(GOOD_FOR);
    return audience.startsWith(PODS) || end.isBefore(others) ? end : others;
  }

  private Optional<User> review(String token, String audience) {
    List<String> audiences = audience.equals(API_SERVER) ? List.of() : List.of(audience);
    TokenReview review =
        client
            .tokenReviews()
            .create(
                new TokenReviewBuilder()
                    .withNewSpec()
                    .withToken(token)
                    .withAudiences(audiences)
                    .endSpec()
                    .build());
    TokenReviewStatus status = review.getStatus();
    if (status == null
        || !Boolean.TRUE.equals(status.getAuthenticated())
        || !status.getAudiences().containsAll(audiences)) {
      return Optional.empty();
    }
    UserInfo user = status.getUser();
    if (user == null || user.getUsername() == null) {
      return Optional.empty();
    }
    Map<String, List<String>> extra = Objects.requireNonNullElse(user.getExtra(), Map.of());
    String uid = Objects.requireNonNullElse(user.getUid(), "");
    if (audience.startsWith(PODS)) {
      // Ten thousand replicas have a handful of accounts, and only their pods tell them apart.
      Map<String, List<String>> pod = new HashMap<>(extra);
      pod.keySet().retainAll(Set.of(POD_NAME, POD_UID));
      return Optional.of(new User(user.getUsername().intern(), uid.intern(), List.of(), pod));
    }
    return Optional.of(
        new User(
            user.getUsername(),
            uid,
            Objects.requireNonNullElse(user.getGroups(), List.of()),
            extra));
  }
}
