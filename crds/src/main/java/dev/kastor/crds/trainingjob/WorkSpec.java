package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * The declared work: exactly one of the three, each converted to scale-invariant steps, the steps
 * that training at the initial batch would take. A larger batch takes fewer steps and more examples
 * for the same work.
 */
@ValidationRule(
    value =
        "(has(self.epochs) ? 1 : 0) + (has(self.examples) ? 1 : 0) + (has(self.steps) ? 1 : 0) =="
            + " 1",
    message = "work needs exactly one of epochs, examples and steps")
public record WorkSpec(
    @JsonPropertyDescription("Passes over the training data at the initial batch.")
        @Min(1)
        @Max(1_000_000)
        @Nullable Long epochs,
    @JsonPropertyDescription("Examples at the initial batch.") @Min(1) @Max(1_000_000_000_000L)
        @Nullable Long examples,
    @JsonPropertyDescription("Optimizer steps at the initial batch.") @Min(1) @Max(1_000_000_000)
        @Nullable Long steps) {}
