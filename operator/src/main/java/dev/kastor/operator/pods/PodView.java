package dev.kastor.operator.pods;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.operator.kube.OwnContainers;
import dev.kastor.operator.kube.PodName;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.protocol.Outcome;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pod of a replica or a parameter server, reduced to what decisions need.
 *
 * @param name its name
 * @param number its number within the job
 * @param node the node it is on or meant for
 * @param state how far it is
 * @param deleting whether its deletion was asked for
 * @param created when it was made
 * @param finished when it ended; its creation until that is known
 * @param exitCode of its container, the first that failed of several; 0 while it runs
 * @param outcome what it wrote as its last words
 */
public record PodView(
    String name,
    long number,
    String node,
    State state,
    boolean deleting,
    Instant created,
    Instant finished,
    int exitCode,
    Optional<Outcome> outcome) {
  /** How far a pod is. */
  public enum State {
    PENDING,
    RUNNING,
    SUCCEEDED,
    FAILED
  }

  private static final int PERMANENT_EXIT_CODE = 64;
  private static final ObjectMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** Whether the replica can train or will be able to. */
  public boolean live() {
    return !deleting && !ended();
  }

  /** Whether its container ended, those that others put beside it or not. */
  public boolean ended() {
    return state == State.SUCCEEDED || state == State.FAILED;
  }

  /** Whether it ended because the declared work is done. */
  public boolean completed() {
    return state == State.SUCCEEDED && says(Outcome.Kind.COMPLETED);
  }

  /**
   * Whether it failed as a replica that has last words: who has done its part, or was told to go,
   * says so. Exit code 0 alone is no such word.
   */
  public boolean failed() {
    return state == State.FAILED || (state == State.SUCCEEDED && outcome.isEmpty());
  }

  /** Whether it failed in a way that a restart cannot help. */
  public boolean failedPermanently() {
    return state == State.FAILED
        && (exitCode == PERMANENT_EXIT_CODE || says(Outcome.Kind.FAILED_PERMANENTLY));
  }

  /** What a person should read about its failure. */
  public String failureMessage() {
    return outcome
        .map(Outcome::message)
        .filter(text -> !text.isBlank())
        .orElse(
            state == State.SUCCEEDED
                ? ("replica %s ended with exit code 0 and without an outcome: a program has to say that its work is"
                        + " done. A PyTorch script says it with job.finish() of the package kastor; a script"
                        + " without the package runs as a gang: leave out goodput (kastor run: --batch).")
                    .formatted(name)
                : "%s %s ended with exit code %d"
                    .formatted(
                        PodName.serverIndex(name).isPresent() ? "server" : "replica",
                        name,
                        exitCode));
  }

  private boolean says(Outcome.Kind kind) {
    return outcome.isPresent() && outcome.get().kind() == kind;
  }

  /** The view of a pod. */
  public static PodView of(Pod pod) {
    var meta = pod.getMetadata();
    OwnContainers own = OwnContainers.of(pod);
    ContainerStateTerminated ending = own.end().orElse(null);
    Instant created = instant(meta.getCreationTimestamp(), Instant.EPOCH);
    Integer exitCode = ending == null ? null : ending.getExitCode();
    return new PodView(
        meta.getName(),
        number(meta.getName()),
        PodPlace.meant(pod),
        state(pod, own),
        meta.getDeletionTimestamp() != null,
        created,
        instant(ending == null ? null : ending.getFinishedAt(), created),
        exitCode == null ? 0 : exitCode,
        ending == null ? Optional.empty() : outcome(ending.getMessage()));
  }

  /** The views of pods. */
  public static List<PodView> of(List<Pod> pods) {
    return pods.stream().map(PodView::of).toList();
  }

  /** A number above those of all these pods. */
  public static long free(List<PodView> pods) {
    return pods.stream().mapToLong(pod -> pod.number() + 1).max().orElse(0);
  }

  private static State state(Pod pod, OwnContainers own) {
    if (own.ended()) {
      boolean well =
          own.end().filter(end -> Integer.valueOf(0).equals(end.getExitCode())).isPresent();
      return well ? State.SUCCEEDED : State.FAILED;
    }
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    if (phase == null) {
      return State.PENDING;
    }
    return switch (phase) {
      case "Running" -> own.begun() ? State.RUNNING : State.PENDING;
      case "Succeeded" -> State.SUCCEEDED;
      case "Failed" -> State.FAILED;
      default -> State.PENDING;
    };
  }

  private static long number(String name) {
    return PodName.of(name).map(PodName::number).orElse(-1L);
  }

  private static Optional<Outcome> outcome(@Nullable String message) {
    if (message == null || message.isBlank()) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(message, Outcome.class));
    } catch (JsonProcessingException e) {
      // Whatever else ends a container may write here too.
      return Optional.empty();
    }
  }

  private static Instant instant(@Nullable String text, Instant otherwise) {
    return StoredTime.of(text).orElse(otherwise);
  }
}
