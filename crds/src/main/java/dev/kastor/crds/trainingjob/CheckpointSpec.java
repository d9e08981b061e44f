package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** Checkpoints of a job: how often, how many, and whose parameters the job begins with. */
public record CheckpointSpec(
    @JsonPropertyDescription("Seconds between checkpoints.") @Min(1) @Max(86400) @Default("10")
        @Nullable Integer intervalSeconds,
    @JsonPropertyDescription("How many checkpoints are kept.") @Min(2) @Max(100) @Default("3")
        @Nullable Integer keepLast,
    @JsonPropertyDescription(
            "Begin with the parameters of another job's checkpoint instead of fresh ones. Steps,"
                + " work, the optimizer's state and the learning rate begin as ever; a restart goes"
                + " on from the job's own checkpoint.")
        @Nullable WarmStartSpec warmStart) {
  /** A job that begins with fresh parameters. */
  public CheckpointSpec(@Nullable Integer intervalSeconds, @Nullable Integer keepLast) {
    this(intervalSeconds, keepLast, null);
  }
}
