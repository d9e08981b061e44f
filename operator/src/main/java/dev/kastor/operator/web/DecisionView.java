package dev.kastor.operator.web;

import dev.kastor.operator.scheduling.Decisions.Decision;
import dev.kastor.scheduler.model.JobId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the newest round decided on a job; {@code GET /api/v1/jobs/{namespace}/{name}/decision}.
 *
 * @param at when it was decided
 * @param replicas what the job is to have
 * @param reason why, as one word
 * @param message why, as a sentence
 * @param numbers what decided it; {@code docs/policy.md} says what each means
 * @param expectedStart when it starts if all stays as it is; null while it runs or if not known
 * @param expectedFinish when it is done, at the earliest where it does not train yet; null if not
 *     known
 * @param ahead jobs that wait and bid more
 */
public record DecisionView(
    String namespace,
    String name,
    Instant at,
    int replicas,
    String reason,
    String message,
    Map<String, Double> numbers,
    @Nullable Instant expectedStart,
    @Nullable Instant expectedFinish,
    int ahead) {
  /**
   * As the page and {@code kastor why} tell it.
   *
   * @param end when a job that trains will be done, as its status says
   */
  static DecisionView of(JobId job, Decision decision, Optional<Instant> end) {
    return new DecisionView(
        job.namespace(),
        job.name(),
        decision.at(),
        decision.replicas(),
        decision.reason().code(),
        decision.reason().message(),
        finite(decision.reason().numbers()),
        decision.forecast().start().orElse(null),
        end.or(() -> decision.forecast().finish()).orElse(null),
        decision.forecast().ahead());
  }

  /** JSON has neither NaN nor infinity. */
  private static Map<String, Double> finite(Map<String, Double> numbers) {
    Map<String, Double> finite = new java.util.LinkedHashMap<>(numbers);
    finite.values().removeIf(value -> !Double.isFinite(value));
    return finite;
  }
}
