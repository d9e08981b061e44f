package dev.kastor.crds;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** What the researcher asks for. Only {@code program} and {@code goodput} are required. */
@ValidationRule(
    value = "self.program == oldSelf.program",
    message = "program cannot change after creation: submit a new job")
@ValidationRule(
    value = "self.goodput == oldSelf.goodput",
    message = "goodput cannot change after creation: submit a new job")
@ValidationRule(
    value =
        "has(self.family) == has(oldSelf.family) && (!has(self.family) || self.family =="
            + " oldSelf.family)",
    message = "family cannot change after creation: submit a new job")
@ValidationRule(
    value =
        "self.goodput.batchSize.gradientAccumulation || self.goodput.batchSize.initial <="
            + " self.elastic.minReplicas * self.goodput.batchSize.perDevice.max",
    messageExpression =
        "'batchSize.initial (%d) does not fit minReplicas (%d) times perDevice.max (%d). Allow"
            + " gradientAccumulation or raise one of them.'.format([self.goodput.batchSize.initial,"
            + " self.elastic.minReplicas, self.goodput.batchSize.perDevice.max])")
@ValidationRule(
    value =
        "self.elastic.minReplicas * self.goodput.batchSize.perDevice.min <="
            + " (self.goodput.mode == 'Fixed' ? self.goodput.batchSize.initial :"
            + " has(self.goodput.batchSize.max) ? self.goodput.batchSize.max : 16 *"
            + " self.goodput.batchSize.initial)",
    messageExpression =
        "'minReplicas (%d) times perDevice.min (%d) exceeds the largest global batch. Lower one of"
            + " them or raise batchSize.'.format([self.elastic.minReplicas,"
            + " self.goodput.batchSize.perDevice.min])")
public record TrainingJobSpec(
    @JsonPropertyDescription("Stop at a checkpoint and release all replicas until set to false.")
        @Default("false")
        @Nullable Boolean suspend,
    @JsonPropertyDescription(
            "Queue that the job belongs to. Queues share the cluster by their weights.")
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
        @Size(max = 63)
        @Nullable String queue,
    @JsonPropertyDescription("Jobs of a higher priority come before jobs of a lower one.")
        @Min(-1000)
        @Max(1000)
        @Default("0")
        @Nullable Integer priority,
    @JsonPropertyDescription(
            "Jobs of one family train the same model on the same data: a later one begins with what"
                + " earlier ones learnt. Without it, jobs of one image and program are one family.")
        @Pattern("^[a-z0-9]([-._a-z0-9]*[a-z0-9])?$")
        @Size(max = 63)
        @Nullable String family,
    @JsonPropertyDescription("How many replicas the job may run with.")
        @Default("{\"minReplicas\":1,\"maxReplicas\":1,\"allowedReplicas\":\"Any\"}")
        @Nullable ElasticSpec elastic,
    @JsonPropertyDescription("Batch sizes, learning rate and declared work.") @Required
        GoodputSpec goodput,
    @JsonPropertyDescription("How often state is saved and how much of it is kept.") @Default("{}")
        @Nullable CheckpointSpec checkpoint,
    @JsonPropertyDescription("What happens when replicas fail.") @Default("{}")
        @Nullable FaultToleranceSpec faultTolerance,
    @JsonPropertyDescription("The training program that every replica runs.") @Required
        ProgramSpec program) {

  /** Whether the job should hold no replicas. */
  public boolean suspended() {
    return Boolean.TRUE.equals(suspend);
  }
}
