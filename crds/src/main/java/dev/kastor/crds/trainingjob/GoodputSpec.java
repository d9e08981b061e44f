package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** How the job turns replicas into progress. */
public record GoodputSpec(
    @JsonPropertyDescription(
            "Adaptive: the batch follows the gradient noise scale and the allocation. Fixed: the"
                + " global batch stays at batchSize.initial.")
        @Default("Adaptive")
        @Nullable Mode mode,
    @JsonPropertyDescription("Batch sizes in examples.") @Required BatchSizeSpec batchSize,
    @JsonPropertyDescription("The learning rate at the initial batch and how it scales.") @Required
        LearningRateSpec learningRate,
    @JsonPropertyDescription("When the job is done.") @Required WorkSpec work) {
  /** Whether the batch may change. */
  public enum Mode {
    Adaptive,
    Fixed
  }
}
