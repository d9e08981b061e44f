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
    @JsonPropertyDescription(
            "The learning rate at the initial batch and how it scales. Beside a template the"
                + " optimizer has the rate, and without this it scales by SquareRoot for Adam and"
                + " its like, else by AdaScale.")
        @Nullable LearningRateSpec learningRate,
    @JsonPropertyDescription("When the job is done. Beside a template the script may say it.")
        @Nullable WorkSpec work) {
  /** Whether the batch may change. */
  public enum Mode {
    Adaptive,
    Fixed
  }
}
