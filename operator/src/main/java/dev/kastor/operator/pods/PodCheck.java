package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.JobRecords;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Check, by a dry run, whether the API server would take the pods of a job that a template or a
 * profile shapes, before the job is given anything.
 */
@Singleton
public final class PodCheck {
  /** What the API server said. */
  public sealed interface Verdict {
    /** It takes such pods. */
    record Good() implements Verdict {}

    /** It never will; the message names the field. */
    record Bad(String message) implements Verdict {}

    /** It does not now: the namespace's rules or quota are in the way. */
    record NotNow(String message) implements Verdict {}
  }

  private record Asked(String profile, Verdict verdict, Instant at) {}

  private static final int UNPROCESSABLE = 422;

  /** Names of labels and quotas change rarely, but they do change. */
  public static final Duration AGAIN = Duration.ofSeconds(30);

  private static final PodNode ANY_NODE = new PodNode("dry-run", "dry-run");

  private final KubernetesClient client;
  private final GangTemplate gangs;
  private final PodTemplate agents;
  private final InstantSource clock;
  private final Map<String, Asked> asked;

  public PodCheck(
      JobRecords records, KubernetesClient client, OperatorConfig config, InstantSource clock) {
    asked = records.part();
    this.client = client;
    gangs = new GangTemplate(config);
    agents = new PodTemplate(config);
    this.clock = clock;
  }

  /** The verdict as far as it is known; a job that nothing shapes needs none. */
  public Optional<Verdict> known(TrainingJob job, ProfileStore.Applied profile) {
    if (job.getSpec().template() == null && profile.name().isEmpty()) {
      return Optional.of(new Verdict.Good());
    }
    Asked last = asked.get(job.getMetadata().getUid());
    return last == null || !last.profile().equals(profile.version())
        ? Optional.empty()
        : Optional.of(last.verdict());
  }

  /** The verdict, asked for if it is not known or may have changed. */
  public Verdict check(TrainingJob job, ProfileStore.Applied profile) {
    Instant now = clock.instant();
    Asked last = asked.get(job.getMetadata().getUid());
    Optional<Verdict> known = known(job, profile);
    boolean old = last != null && !now.isBefore(last.at().plus(AGAIN));
    if (known.isPresent() && !(known.get() instanceof Verdict.NotNow && old)) {
      return known.get();
    }
    Verdict verdict = ask(job, profile);
    asked.put(job.getMetadata().getUid(), new Asked(profile.version(), verdict, now));
    return verdict;
  }

  private Verdict ask(TrainingJob job, ProfileStore.Applied profile) {
    Pod pod;
    try {
      pod = pod(job, profile.spec());
    } catch (InvalidTemplate e) {
      return new Verdict.Bad(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      return new Verdict.NotNow(
          "ClusterTrainingProfile %s: %s".formatted(profile.name(), e.getMessage()));
    }
    try {
      client
          .pods()
          .inNamespace(job.getMetadata().getNamespace())
          .resource(pod)
          .dryRun()
          .fieldValidation(Validation.STRICT)
          .create();
      return new Verdict.Good();
    } catch (KubernetesClientException e) {
      boolean template = job.getSpec().template() != null;
      return switch (e.getCode()) {
        case UNPROCESSABLE, HttpURLConnection.HTTP_BAD_REQUEST ->
            template && profile.name().isEmpty()
                ? new Verdict.Bad(message(e, "spec.template."))
                : new Verdict.NotNow(
                    message(e, template ? "spec.template (with the profile) " : "pod "));
        case HttpURLConnection.HTTP_FORBIDDEN -> new Verdict.NotNow(status(e));
        // It is there already: a real pod was taken.
        case HttpURLConnection.HTTP_CONFLICT -> new Verdict.Good();
        default -> throw e;
      };
    }
  }

  @SuppressWarnings("NullAway") // Completed specs have every field; the records say Nullable.
  private Pod pod(TrainingJob job, ProfileSpec profile) throws InvalidTemplate {
    if (!job.getSpec().gang()) {
      return agents.pod(job, profile, 0, ANY_NODE);
    }
    int size = SpecDefaults.complete(job.getSpec()).elastic().minReplicas();
    return gangs.pod(job, profile, 0, 0, size, ANY_NODE);
  }

  private static String message(KubernetesClientException e, String prefix) {
    List<StatusCause> causes =
        Optional.ofNullable(e.getStatus())
            .map(Status::getDetails)
            .map(details -> details.getCauses())
            .orElse(List.of());
    String fields =
        causes.stream()
            .filter(cause -> Objects.nonNull(cause.getField()))
            .map(cause -> prefix + cause.getField() + ": " + cause.getMessage())
            .collect(Collectors.joining("; "));
    // Unknown fields are not causes but named in the text, with the path within the pod.
    return fields.isEmpty()
        ? status(e).replaceAll("unknown field \"spec", "unknown field \"" + prefix + "spec")
        : fields;
  }

  private static String status(KubernetesClientException e) {
    return Optional.ofNullable(e.getStatus())
        .map(Status::getMessage)
        .orElseGet(() -> String.valueOf(e.getMessage()));
  }
}
