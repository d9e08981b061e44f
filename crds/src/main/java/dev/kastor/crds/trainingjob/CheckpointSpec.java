package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** How state is saved. */
public record CheckpointSpec(
    @JsonPropertyDescription("Seconds between checkpoints.") @Min(1) @Max(86400) @Default("10")
        @Nullable Integer intervalSeconds,
    @JsonPropertyDescription("How many checkpoints are kept.") @Min(2) @Max(100) @Default("3")
        @Nullable Integer keepLast) {}
