package dev.kastor.operator.api;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodName;
import dev.kastor.operator.pods.PodTemplate;
import dev.kastor.scheduler.model.JobId;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Decides whether a caller is the replica of the job that it says it is. */
@Singleton
public final class AgentIdentity {
  private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");
  private static final String ACCOUNT = "system:serviceaccount:";

  /** How many seconds' worth of requests a replica may make at once. */
  private static final int BURST_SECONDS = 4;

  /**
   * A caller that may speak for a job. The name of its pod says whether it is a replica or a
   * parameter server.
   */
  public record Caller(TrainingJob job, String pod) {
    /** Whether its reports are those of the job: of any replica, or of the first server. */
    boolean reports() {
      return JobServers.count(job) == 0 || PodName.serverIndex(pod).equals(OptionalInt.of(0));
    }
  }

  private final TokenReviews reviews;
  private final ClusterCache cache;
  private final Pace pace;

  public AgentIdentity(
      TokenReviews reviews, ClusterCache cache, OperatorConfig config, InstantSource clock) {
    this.reviews = reviews;
    this.cache = cache;
    int rate = config.agent().requestsPerSecond();
    pace = new Pace(clock, rate, BURST_SECONDS * (double) rate);
  }

  /**
   * The replica behind a request for the job, which is no gang.
   *
   * @param remote address that it came from
   */
  public Caller replica(@Nullable String authorization, JobId id, String remote)
      throws ApiException {
    return check(
        authorization,
        id,
        remote,
        spec -> !spec.gang(),
        "is a gang: its pods have no membership and send no telemetry");
  }

  /**
   * The pod behind a request for the job, which is a gang whose size changes.
   *
   * @param remote address that it came from
   */
  public Caller gangPod(@Nullable String authorization, JobId id, String remote)
      throws ApiException {
    return check(
        authorization,
        id,
        remote,
        TrainingJobSpec::restartsToRescale,
        "counts no steps: only a gang with elastic.rescale: Restart does");
  }

  private Caller check(
      @Nullable String authorization,
      JobId id,
      String remote,
      Predicate<TrainingJobSpec> may,
      String why)
      throws ApiException {
    if (!NAMESPACE.matcher(id.namespace()).matches() || !NAME.matcher(id.name()).matches()) {
      throw ApiException.notFound("no job can have that name");
    }
    String token = BearerToken.of(authorization);
    String audience = PodTemplate.audience(id.namespace(), id.name());
    Optional<TokenReviews.User> user = reviews.user(token, audience, remote);
    if (user.isEmpty()) {
      throw BearerToken.claimsAudience(
              token, claimed -> claimed.startsWith("kastor/") && !claimed.equals(audience))
          ? ApiException.forbidden("the token is not for job " + id)
          : ApiException.unauthorized("the token is not valid for " + audience);
    }
    TrainingJob job =
        cache.job(id).orElseThrow(() -> ApiException.notFound("there is no job " + id));
    if (!may.test(job.getSpec())) {
      throw ApiException.forbidden("job %s %s".formatted(id, why));
    }
    String pod =
        pod(user.get(), job)
            .orElseThrow(
                () -> ApiException.forbidden("the token is of no pod that belongs to job " + id));
    if (!pace.take(id.namespace() + "/" + pod)) {
      throw ApiException.tooMany("pace", "pod %s asks too often".formatted(pod));
    }
    return new Caller(job, pod);
  }

  /** The pod that a token is bound to, if it is alive and belongs to the job. */
  private Optional<String> pod(TokenReviews.User user, TrainingJob job) {
    String namespace = job.getMetadata().getNamespace();
    boolean local = user.name().startsWith(ACCOUNT + namespace + ":");
    String name = only(user.extra().get(TokenReviews.POD_NAME));
    String uid = only(user.extra().get(TokenReviews.POD_UID));
    return local && !name.isEmpty() && !uid.isEmpty()
        ? cache
            .pod(namespace, name)
            .filter(pod -> uid.equals(pod.getMetadata().getUid()))
            .filter(pod -> cache.maker(pod).filter(made -> Labels.sameUid(made, job)).isPresent())
            .map(pod -> name)
        : Optional.empty();
  }

  private static String only(@Nullable List<String> values) {
    return values == null || values.size() != 1 ? "" : values.getFirst();
  }
}
