package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/**
 * How long a job may wait, start, run and stay, in seconds; what is absent has no bound.
 *
 * <p>All times are counted from what the status says, so a restart of the operator changes none.
 */
public record LifecycleSpec(
    @JsonPropertyDescription(
            "Seconds after it first trained, without time in suspension, after which the job"
                + " fails.")
        @Min(1)
        @Max(LifecycleSpec.LONGEST)
        @Nullable Long activeDeadlineSeconds,
    @JsonPropertyDescription(
            "Seconds that a job which never trained may wait for slots before it fails.")
        @Min(1)
        @Max(LifecycleSpec.LONGEST)
        @Nullable Long queueDeadlineSeconds,
    @JsonPropertyDescription(
            "Seconds that a job with slots may take until it trains before it loses them and waits"
                + " again.")
        @Min(1)
        @Max(LifecycleSpec.LONGEST)
        @Default("1800")
        @Nullable Long startDeadlineSeconds,
    @JsonPropertyDescription("Starts in a row that may miss startDeadlineSeconds.")
        @Min(1)
        @Max(100)
        @Default("3")
        @Nullable Integer startAttempts,
    @JsonPropertyDescription("Seconds after its end after which the job is deleted.")
        @Min(0)
        @Max(LifecycleSpec.LONGEST)
        @Nullable Long ttlSecondsAfterFinished) {
  /** Ten years, so that no sum of times overflows. */
  static final long LONGEST = 315_360_000;

  /** A life without bounds of one's own. */
  public static final LifecycleSpec UNBOUNDED = new LifecycleSpec(null, null, null, null, null);
}
