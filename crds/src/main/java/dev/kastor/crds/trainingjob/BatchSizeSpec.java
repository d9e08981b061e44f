package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Batch sizes in examples. */
@ValidationRule(
    value = "!has(self.max) || self.max >= self.initial",
    messageExpression =
        "'batchSize.max (%d) is below batchSize.initial (%d). Raise max or lower initial.'"
            + ".format([self.max, self.initial])")
public record BatchSizeSpec(
    @JsonPropertyDescription("Global batch the learning rate was tuned for.")
        @Required
        @Min(1)
        @Max(16777216)
        Integer initial,
    @JsonPropertyDescription("Largest global batch; 16 times the initial one by default.")
        @Min(1)
        @Max(16777216)
        @Nullable Integer max,
    @JsonPropertyDescription("Examples per replica and pass.") @Default("{\"min\":1,\"max\":256}")
        @Nullable PerDevice perDevice,
    @JsonPropertyDescription("Whether a replica may accumulate gradients over several passes.")
        @Default("true")
        @Nullable Boolean gradientAccumulation) {

  /** The same where at most so many examples fit a device in one pass; the smallest batch stays. */
  BatchSizeSpec fitting(int mostExamples) {
    Integer least = perDevice == null ? null : perDevice.min();
    Integer most = perDevice == null ? null : perDevice.max();
    int largest = Math.max(least == null ? 1 : least, mostExamples);
    return new BatchSizeSpec(
        initial,
        max,
        new PerDevice(least, most == null ? largest : Math.min(most, largest)),
        gradientAccumulation);
  }

  /** Bounds on the atomic batch size. */
  @ValidationRule(
      value = "self.min <= self.max",
      messageExpression =
          "'perDevice.min (%d) is above perDevice.max (%d). Lower min or raise max.'"
              + ".format([self.min, self.max])")
  public record PerDevice(
      @JsonPropertyDescription("Smallest batch per replica and pass.")
          @Min(1)
          @Max(16777216)
          @Default("1")
          @Nullable Integer min,
      @JsonPropertyDescription("Largest batch per replica and pass: what fits the device.")
          @Min(1)
          @Max(16777216)
          @Default("256")
          @Nullable Integer max) {}
}
