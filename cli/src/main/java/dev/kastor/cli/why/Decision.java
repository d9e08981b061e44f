package dev.kastor.cli.why;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.scheduler.model.ReasonNumber;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the scheduler decided on a job, as the operator tells it or, without numbers, the resource.
 *
 * @param at when, ISO 8601
 * @param replicas what the job is to have
 * @param reason why, as one word
 * @param message why, as a sentence
 * @param numbers what decided it; none where only the resource is known
 * @param expectedStart when it starts if all stays as it is
 * @param expectedFinish when it is done at the earliest
 * @param ahead jobs that wait and bid more
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
record Decision(
    @Nullable String at,
    int replicas,
    String reason,
    String message,
    Map<String, Double> numbers,
    @Nullable String expectedStart,
    @Nullable String expectedFinish,
    int ahead) {
  Decision {
    numbers = new LinkedHashMap<>(numbers);
  }

  static Decision of(JsonNode answer) {
    return new ObjectMapper().convertValue(answer, Decision.class);
  }

  /** What the resource itself says; empty before the first decision. */
  static Optional<Decision> of(TrainingJob job) {
    var status = job.getStatus();
    var allocation = status == null ? null : status.allocation();
    Optional<Decision> waits = waits(job);
    if (allocation == null || (allocation.replicas() == 0 && waits.isPresent())) {
      return waits;
    }
    var training = status.training();
    return Optional.of(
        new Decision(
            allocation.since(),
            allocation.replicas(),
            allocation.reason(),
            allocation.message(),
            Map.of(),
            null,
            training == null ? null : training.eta(),
            0));
  }

  /** What the condition Queued says of a job that waits. */
  private static Optional<Decision> waits(TrainingJob job) {
    var status = job.getStatus();
    if (status == null || status.conditions() == null) {
      return Optional.empty();
    }
    return status.conditions().stream()
        .filter(c -> c.getType().equals("Queued") && c.getStatus().equals("True"))
        .map(c ->
            new Decision(
                c.getLastTransitionTime(),
                0,
                c.getReason(),
                c.getMessage(),
                Map.of(),
                null,
                null,
                0))
        .findFirst();
  }

  Optional<Double> number(ReasonNumber number) {
    return Optional.ofNullable(numbers.get(number.key()));
  }
}
