package dev.kastor.operator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.TrainingJob;
import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.job.PodTemplate;
import dev.kastor.scheduler.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides whether a caller is the replica of the job that it says it is. */
@Singleton
public final class AgentIdentity {
  private static final String BEARER = "Bearer ";
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A caller that may speak for a job. */
  public record Caller(TrainingJob job, String pod) {}

  private final TokenReviews reviews;
  private final ClusterCache cache;

  public AgentIdentity(TokenReviews reviews, ClusterCache cache) {
    this.reviews = reviews;
    this.cache = cache;
  }

  /** The caller behind a request for the job. */
  public Caller check(@Nullable String authorization, JobId id) throws ApiException {
    if (authorization == null || !authorization.startsWith(BEARER)) {
      throw ApiException.unauthorized("a bearer token is needed");
    }
    String token = authorization.substring(BEARER.length()).strip();
    String audience = PodTemplate.audience(id.namespace(), id.name());
    Optional<TokenReviews.Identity> identity = reviews.identity(token, audience);
    if (identity.isEmpty()) {
      throw isForAnotherJob(token, audience)
          ? ApiException.forbidden("the token is not for job " + id)
          : ApiException.unauthorized("the token is not valid for " + audience);
    }
    TrainingJob job =
        cache.job(id).orElseThrow(() -> ApiException.notFound("there is no job " + id));
    String pod = identity.get().pod();
    boolean ours =
        identity.get().namespace().equals(id.namespace())
            && cache.pod(id.namespace(), pod).filter(found -> belongs(found, job)).isPresent();
    if (!ours) {
      throw ApiException.forbidden("pod %s does not belong to job %s".formatted(pod, id));
    }
    return new Caller(job, pod);
  }

  private static boolean belongs(Pod pod, TrainingJob job) {
    return Labels.ours(pod) && Labels.ownedBy(pod, job.getMetadata().getUid());
  }

  /**
   * Whether a refused token claims to be for another job.
   *
   * <p>The claim is not verified; it only chooses between two ways of saying no.
   */
  private static boolean isForAnotherJob(String token, String audience) {
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) {
      return false;
    }
    try {
      JsonNode claimed = JSON.readTree(Base64.getUrlDecoder().decode(parts[1])).path("aud");
      String first = claimed.isArray() ? claimed.path(0).asText() : claimed.asText();
      return first.startsWith("kastor/") && !first.equals(audience);
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }
}
