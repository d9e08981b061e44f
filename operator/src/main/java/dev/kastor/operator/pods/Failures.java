package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The failed replicas since a job last made progress.
 *
 * <p>The failed pods themselves are the count: each is kept until the job has made progress after
 * it, so nothing is counted twice or forgotten over a restart of the operator.
 *
 * @param counted failed pods without progress since, oldest first
 * @param forgiven failed pods with progress since: they can be removed
 */
public record Failures(List<PodView> counted, List<PodView> forgiven) {
  private static final int MAX_DOUBLINGS = 20;

  public Failures {
    counted = List.copyOf(counted);
    forgiven = List.copyOf(forgiven);
  }

  /** Splits the failed pods by whether they ended before the newest progress. */
  public static Failures of(List<PodView> pods, Instant lastProgress) {
    List<PodView> failed =
        pods.stream()
            .filter(PodView::failed)
            // Who was asked to end did not fail, however it ended.
            .filter(pod -> !pod.deleting())
            .sorted(Comparator.comparing(PodView::finished).thenComparingLong(PodView::number))
            .toList();
    return new Failures(
        failed.stream().filter(pod -> !forgiven(pod, lastProgress)).toList(),
        failed.stream().filter(pod -> forgiven(pod, lastProgress)).toList());
  }

  /** Kubernetes gives whole seconds, so a second more passes before progress counts as later. */
  private static boolean forgiven(PodView pod, Instant lastProgress) {
    return lastProgress.isAfter(pod.finished().plusSeconds(1));
  }

  /** How many count. */
  public int count() {
    return counted.size();
  }

  /** One that a restart cannot help. */
  public Optional<PodView> permanent() {
    return counted.stream().filter(PodView::failedPermanently).findFirst();
  }

  /** Whether the job has to give up. */
  public boolean exhausted(FaultToleranceSpec tolerance) {
    Integer most = tolerance.maxRestarts();
    return most != null && count() > most;
  }

  /** When the next replacement may be made. */
  public Instant nextAttempt(FaultToleranceSpec tolerance) {
    if (counted.isEmpty()) {
      return Instant.MIN;
    }
    return counted.getLast().finished().plus(backoff(tolerance, count()));
  }

  /** {@code backoffSeconds * 2^(failures - 1)}, at most {@code maxBackoffSeconds}. */
  @SuppressWarnings("NullAway") // Completed specs have every field; the record says Nullable.
  public static Duration backoff(FaultToleranceSpec tolerance, int failures) {
    long doubled =
        (long) tolerance.backoffSeconds() << Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
    return Duration.ofSeconds(Math.min(doubled, tolerance.maxBackoffSeconds()));
  }
}
