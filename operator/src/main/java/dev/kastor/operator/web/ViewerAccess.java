package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.api.BearerToken;
import dev.kastor.operator.api.ShortMemory;
import dev.kastor.operator.api.TokenReviews;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a caller of the page's API may see: with {@code kastor.web.authorize} what the
 * cluster's own rules let the owner of his token list and get, else everything.
 *
 * <p>Answers of the API server are believed for half a minute, so a right that is taken away ends
 * within that time.
 */
@Singleton
final class ViewerAccess {
  /** Audience of tokens that are good for this page and nothing else. */
  static final String AUDIENCE = "kastor";

  private static final Duration BELIEVED_FOR = Duration.ofSeconds(30);
  private static final int MOST_ANSWERS = 20_000;
  private static final String ALL = "";

  private final KubernetesClient client;
  private final TokenReviews reviews;
  private final ShortMemory<Boolean> answers;
  private final boolean authorize;

  ViewerAccess(
      KubernetesClient client,
      TokenReviews reviews,
      InstantSource clock,
      @ConfigProperty(name = "kastor.web.authorize", defaultValue = "false") boolean authorize) {
    this.client = client;
    this.reviews = reviews;
    this.authorize = authorize;
    answers = new ShortMemory<>(clock, BELIEVED_FOR, MOST_ANSWERS);
  }

  /**
   * The viewer behind a request.
   *
   * @param remote address that it came from
   * @throws ApiException if it must say who it is and does not, or says so too often in vain
   */
  Viewer viewer(@Nullable String authorization, String remote) throws ApiException {
    if (!authorize) {
      return Viewer.ANYONE;
    }
    String token = BearerToken.of(authorization);
    String audience =
        BearerToken.claimsAudience(token, AUDIENCE::equals) ? AUDIENCE : TokenReviews.API_SERVER;
    TokenReviews.User user =
        reviews
            .user(token, audience, remote)
            .orElseThrow(() -> ApiException.unauthorized("the token is not valid, or no longer"));
    return new Reviewed(user);
  }

  /**
   * Refuses whoever may not know of all jobs.
   *
   * @param what is asked for, as a sentence begins
   * @throws ApiException if the caller does not say who it is, or may not
   */
  void checkSeesAll(@Nullable String authorization, String remote, String what)
      throws ApiException {
    if (!viewer(authorization, remote).seesAll()) {
      throw ApiException.forbidden(
          what
              + " is for who may list TrainingJobs in all namespaces: what becomes of a job"
              + " depends on the jobs of others");
    }
  }

  /** A user, asked about as questions come up. */
  private final class Reviewed implements Viewer {
    private final TokenReviews.User user;

    private Reviewed(TokenReviews.User user) {
      this.user = user;
    }

    @Override
    public boolean seesAll() {
      return may("list", ALL);
    }

    @Override
    public boolean lists(String namespace) {
      return seesAll() || may("list", namespace);
    }

    @Override
    public boolean gets(String namespace) {
      return may("get", ALL) || may("get", namespace);
    }

    private boolean may(String verb, String namespace) {
      String key = ShortMemory.key(verb + " " + namespace, user.toString());
      return answers
          .get(key)
          .orElseGet(() -> {
            boolean allowed = ask(verb, namespace);
            answers.put(key, allowed);
            return allowed;
          });
    }

    private boolean ask(String verb, String namespace) {
      SubjectAccessReview review =
          client
              .authorization()
              .v1()
              .subjectAccessReview()
              .create(
                  new SubjectAccessReviewBuilder()
                      .withNewSpec()
                      .withUser(user.name())
                      .withUid(user.uid())
                      .withGroups(user.groups())
                      .withExtra(user.extra())
                      .withNewResourceAttributes()
                      .withGroup(TrainingJob.GROUP)
                      .withResource("trainingjobs")
                      .withVerb(verb)
                      .withNamespace(namespace)
                      .endResourceAttributes()
                      .endSpec()
                      .build());
      return review.getStatus() != null
          && Boolean.TRUE.equals(review.getStatus().getAllowed())
          && !Boolean.TRUE.equals(review.getStatus().getDenied());
    }
  }
}
