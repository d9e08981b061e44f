package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** The learning rate. */
@ValidationRule(
    value = "!has(self.base) || double(self.base) > 0.0",
    messageExpression = "'learningRate.base (' + self.base + ') must be above 0'")
public record LearningRateSpec(
    @JsonPropertyDescription(
            "Learning rate at the initial batch, as a decimal string such as \"0.05\" or"
                + " \"3e-4\". Only a program needs it.")
        @Size(max = 32)
        @Pattern("^[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?$")
        @Nullable String base,
    @JsonPropertyDescription("How it follows the batch.") @Default("AdaScale")
        @Nullable Scaling scaling) {
  /** Rules that set the learning rate for a batch other than the initial one. */
  public enum Scaling {
    AdaScale,
    SquareRoot,
    Linear,
    None
  }
}
