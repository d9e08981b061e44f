package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** What happens when replicas fail. */
public record FaultToleranceSpec(
    @JsonPropertyDescription(
            "Replica failures without progress in between after which the job fails.")
        @Min(0)
        @Max(1000)
        @Default("10")
        @Nullable Integer maxRestarts,
    @JsonPropertyDescription("Seconds before the first replacement; doubles with each failure.")
        @Min(0)
        @Max(3600)
        @Default("1")
        @Nullable Integer backoffSeconds,
    @JsonPropertyDescription("Longest wait between replacements in seconds.")
        @Min(1)
        @Max(3600)
        @Default("60")
        @Nullable Integer maxBackoffSeconds) {}
