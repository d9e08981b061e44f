package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.NamespaceQuotas;
import dev.kastor.operator.kube.Refusal;
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
import org.jspecify.annotations.Nullable;

/**
 * Check whether the API server takes the pods of a job: by the ResourceQuotas of its namespace, by
 * a dry run before a job whose pods a template or a profile shapes is given anything, and by what
 * it said when pods were made. After a refusal of real pods a job gets no more of them until its
 * wait is over, which doubles each time, and a dry run is taken.
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

  /**
   * What is known of a job.
   *
   * @param again when a verdict that it cannot have pods now is to be asked for again
   * @param refusals refusals of real pods since all could be made
   * @param words of the last of them; empty if there were none
   * @param most replicas that the job was left with after the last
   */
  private record Asked(
      String namespace,
      String profile,
      Verdict verdict,
      Instant again,
      int refusals,
      String words,
      int most) {}

  /**
   * How long a job has been refused.
   *
   * @param since when that began; null while it is not
   */
  private record Refused(Duration before, @Nullable Instant since) {
    Refused at(Instant now, boolean refused) {
      if (refused == (since != null)) {
        return this;
      }
      return since == null ? new Refused(before, now) : new Refused(until(now), null);
    }

    Duration until(Instant now) {
      return since == null ? before : before.plus(Duration.between(since, now));
    }
  }

  /** Names of labels and quotas change rarely, but they do change. */
  public static final Duration AGAIN = Duration.ofSeconds(30);

  /** Doublings of that after refusals of real pods, which others' slots are spent on. */
  private static final int MOST_DOUBLINGS = 5;

  private static final PodNode ANY_NODE = new PodNode("dry-run", "dry-run");

  private final KubernetesClient client;
  private final NamespaceQuotas quotas;
  private final GangTemplate gangs;
  private final PodTemplate agents;
  private final InstantSource clock;
  private final Map<String, Asked> asked;
  private final Map<String, Refused> refused;

  public PodCheck(
      JobRecords records,
      KubernetesClient client,
      NamespaceQuotas quotas,
      OperatorConfig config,
      InstantSource clock) {
    asked = records.part();
    refused = records.part();
    this.client = client;
    this.quotas = quotas;
    gangs = new GangTemplate(config);
    agents = new PodTemplate(config);
    this.clock = clock;
    quotas.onLimits(this::askAgain);
  }

  /** The verdict as far as it is known; a job that nothing shapes needs none. */
  public Optional<Verdict> known(TrainingJob job, ProfileStore.Applied profile) {
    Optional<Verdict> small = tooSmall(job);
    if (small.isPresent()) {
      return small;
    }
    Asked last = asked.get(job.getMetadata().getUid());
    if (last != null && last.profile().equals(profile.version())) {
      return Optional.of(last.verdict());
    }
    return job.getSpec().template() == null && profile.name().isEmpty()
        ? Optional.of(new Verdict.Good())
        : Optional.empty();
  }

  /** The verdict, asked for if it is not known or may have changed. */
  public Verdict check(TrainingJob job, ProfileStore.Applied profile) {
    Verdict verdict = verdict(job, profile);
    count(job, verdict instanceof Verdict.NotNow);
    return verdict;
  }

  private Verdict verdict(TrainingJob job, ProfileStore.Applied profile) {
    Instant now = clock.instant();
    Optional<Verdict> small = tooSmall(job);
    if (small.isPresent()) {
      return small.get();
    }
    Asked last = asked.get(job.getMetadata().getUid());
    Optional<Verdict> known = known(job, profile);
    boolean old = last != null && !now.isBefore(last.again());
    if (known.isPresent() && !(known.get() instanceof Verdict.NotNow && old)) {
      return known.get();
    }
    Verdict verdict = ask(job, profile);
    asked.put(
        job.getMetadata().getUid(),
        new Asked(
            job.getMetadata().getNamespace(),
            profile.version(),
            verdict,
            now.plus(AGAIN),
            last == null ? 0 : last.refusals(),
            last == null ? "" : last.words(),
            last == null ? 0 : last.most()));
    return verdict;
  }

  /**
   * Notes that the API server refused a pod of the job, or what its pods need.
   *
   * @param most replicas that it is left with
   */
  public void refused(TrainingJob job, ProfileStore.Applied profile, String words, int most) {
    asked.compute(
        job.getMetadata().getUid(),
        (uid, last) -> {
          int refusals = 1 + (last == null ? 0 : last.refusals());
          Duration wait = AGAIN.multipliedBy(1L << Math.min(refusals - 1, MOST_DOUBLINGS));
          return new Asked(
              job.getMetadata().getNamespace(),
              profile.version(),
              new Verdict.NotNow(words),
              clock.instant().plus(wait),
              refusals,
              words,
              most);
        });
    count(job, true);
  }

  /**
   * Notes that the job trains with all the replicas that it was to have: once these are more than a
   * refusal left it with, nothing is in the way any more.
   */
  public void trains(TrainingJob job, int replicas) {
    String uid = job.getMetadata().getUid();
    Asked last = asked.get(uid);
    if (last != null && last.refusals() > 0 && replicas > last.most()) {
      asked.put(
          uid, new Asked(last.namespace(), last.profile(), last.verdict(), last.again(), 0, "", 0));
    }
    if (last == null || last.refusals() == 0 || replicas > last.most()) {
      refused.remove(uid);
    }
  }

  /**
   * The words with which pods of the job are refused, or were and after which not all were made.
   */
  public Optional<String> refusal(TrainingJob job) {
    Asked last = asked.get(job.getMetadata().getUid());
    if (last != null && !last.words().isEmpty()) {
      return Optional.of(last.words());
    }
    return tooSmall(job)
        .or(() -> Optional.ofNullable(last).map(Asked::verdict))
        .flatMap(verdict ->
            verdict instanceof Verdict.NotNow(String message)
                ? Optional.of(message)
                : Optional.empty());
  }

  /** Whether the job gets no more pods for now because real ones were refused. */
  public boolean bounded(TrainingJob job) {
    Asked last = asked.get(job.getMetadata().getUid());
    return last != null && last.refusals() > 0 && last.verdict() instanceof Verdict.NotNow;
  }

  /** How long in all the API server refused the job's pods since all could be made. */
  public Duration refusedFor(TrainingJob job) {
    Refused time = refused.get(job.getMetadata().getUid());
    return time == null ? Duration.ZERO : time.until(clock.instant());
  }

  private void count(TrainingJob job, boolean refusedNow) {
    boolean no = refusedNow && !job.getSpec().suspended();
    String uid = job.getMetadata().getUid();
    Refused time = refused.get(uid);
    if (no || time != null) {
      Refused before = time == null ? new Refused(Duration.ZERO, null) : time;
      refused.put(uid, before.at(clock.instant(), no));
    }
  }

  /** A quota of the namespace has other limits than before: nobody has to wait for longer. */
  private void askAgain(String namespace) {
    asked.replaceAll((uid, last) ->
        last.namespace().equals(namespace)
            ? new Asked(
                namespace,
                last.profile(),
                last.verdict(),
                Instant.MIN,
                last.refusals(),
                last.words(),
                last.most())
            : last);
  }

  private Optional<Verdict> tooSmall(TrainingJob job) {
    String namespace = job.getMetadata().getNamespace();
    if (!quotas.any(namespace)) {
      return Optional.empty();
    }
    int least = least(job);
    return quotas
        .tooSmall(namespace, least, job.getSpec().slotsPerReplica())
        .<Verdict>map(words ->
            new Verdict.NotNow("%s; the job needs %d replicas at least.".formatted(words, least)));
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
      boolean byRule = Refusal.byRule(e);
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT && !byRule) {
        // It is there already: a real pod was taken.
        return new Verdict.Good();
      }
      return switch (e.getCode()) {
        case Refusal.UNPROCESSABLE, HttpURLConnection.HTTP_BAD_REQUEST ->
            template && profile.name().isEmpty() && !byRule
                ? new Verdict.Bad(message(e, "spec.template."))
                : new Verdict.NotNow(
                    message(e, template ? "spec.template (with the profile) " : "pod "));
        default -> {
          if (!Refusal.is(e)) {
            throw e;
          }
          yield new Verdict.NotNow(Refusal.words(e));
        }
      };
    }
  }

  private Pod pod(TrainingJob job, ProfileSpec profile) throws InvalidTemplate {
    if (!job.getSpec().gang()) {
      return agents.pod(job, profile, 0, ANY_NODE);
    }
    return gangs.pod(job, profile, 0, 0, least(job), ANY_NODE);
  }

  /** Fewest replicas of the job. */
  @SuppressWarnings("NullAway") // Completed specs have every field; the records say Nullable.
  public static int least(TrainingJob job) {
    return SpecDefaults.complete(job.getSpec()).elastic().minReplicas();
  }

  /** Most replicas of the job. */
  @SuppressWarnings("NullAway") // As above.
  public static int most(TrainingJob job) {
    return SpecDefaults.complete(job.getSpec()).elastic().maxReplicas();
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
        ? Refusal.words(e).replaceAll("unknown field \"spec", "unknown field \"" + prefix + "spec")
        : fields;
  }
}
