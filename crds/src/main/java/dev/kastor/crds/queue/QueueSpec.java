package dev.kastor.crds.queue;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the platform team grants. Every field has a default. */
@ValidationRule(
    value = "!has(self.cohort) || has(self.quota)",
    message =
        "a queue of a cohort needs a quota that it can lend or exceed: set quota.gpus or take out"
            + " cohort")
@ValidationRule(
    value =
        "has(self.cohort) || !has(self.quota) || (!has(self.quota.borrowingLimit) &&"
            + " !has(self.quota.lendingLimit))",
    message =
        "quota.borrowingLimit and quota.lendingLimit mean nothing without a cohort: set cohort or"
            + " take them out")
// An API server compares a weight of 0, a whole number, with the whole part of the minimum.
@ValidationRule(
    value = "!has(self.weight) || double(self.weight) > 0.0",
    message = "weight must be above 0")
public record QueueSpec(
    @JsonPropertyDescription(
            "The jobs of two queues under the same load share what both may hold as their weights"
                + " are.")
        @Default("1")
        @Min(0.001)
        @Max(1000)
        @Nullable Double weight,
    @JsonPropertyDescription(
            "Queues of one cohort use what the others of it leave unused of their quotas.")
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
        @Size(max = 63)
        @Nullable String cohort,
    @JsonPropertyDescription("How many GPUs its jobs may hold together; no limit without it.")
        @Nullable QuotaSpec quota,
    @JsonPropertyDescription("Namespaces whose jobs may name it; all without it.")
        @Size(min = 1, max = 1000)
        @Nullable List<String> namespaces,
    @JsonPropertyDescription(
            "Hold lets no job start; HoldAndDrain also stops those that run, at a checkpoint.")
        @Default("None")
        @Nullable StopPolicyKind stopPolicy,
    @JsonPropertyDescription(
            "Highest priority that counts of its jobs; without it, the operator's setting.")
        @Min(-1000)
        @Max(1000)
        @Nullable Integer maxPriority,
    @JsonPropertyDescription(
            "WithinQuota: a pinned job keeps its GPUs within the queue's quota and from no job of a"
                + " higher priority; Always: whoever else claims them.")
        @Default("WithinQuota")
        @Nullable PinsKind pins,
    @JsonPropertyDescription(
            "How many GPU-hours its jobs may hold in a day, week or month of UTC; no limit without"
                + " it.")
        @Nullable BudgetSpec budget) {

  /** Time for which a budget is. */
  public enum PeriodKind {
    Day,
    Week,
    Month
  }

  /** Consequence for the jobs of a queue whose budget is spent. */
  public enum OnExceeded {
    Stop,
    LowerPriority
  }

  /** Whether jobs start and run. */
  public enum StopPolicyKind {
    None,
    Hold,
    HoldAndDrain
  }

  /** How far pins of jobs go. */
  public enum PinsKind {
    WithinQuota,
    Always
  }

  /** GPU-hours that the jobs of a queue may hold. */
  public record BudgetSpec(
      @JsonPropertyDescription("GPU-hours of a period.") @Required @Min(0) @Max(9_000_000)
          double gpuHours,
      @JsonPropertyDescription(
              "Day, Week (from Monday) or Month, which begin at 00:00 UTC; what is left of one is"
                  + " not carried over.")
          @Required
          PeriodKind period,
      @JsonPropertyDescription(
              "Stop: when it is spent its jobs stop at a checkpoint and wait for the next period;"
                  + " LowerPriority: they come after all others.")
          @Default("Stop")
          @Nullable OnExceeded onExceeded) {}

  /** GPUs that the jobs of a queue may hold. */
  @ValidationRule(
      value = "!has(self.lendingLimit) || self.lendingLimit <= self.gpus",
      messageExpression =
          "'quota.lendingLimit (%d) is above quota.gpus (%d): a queue cannot lend more than it has."
              + "'.format([self.lendingLimit, self.gpus])")
  public record QuotaSpec(
      @JsonPropertyDescription("GPUs that the queue is entitled to.")
          @Required
          @Min(0)
          @Max(1_000_000)
          int gpus,
      @JsonPropertyDescription(
              "Most GPUs beyond its own that it may use of what its cohort leaves unused; no limit"
                  + " without it.")
          @Min(0)
          @Max(1_000_000)
          @Nullable Integer borrowingLimit,
      @JsonPropertyDescription(
              "Most of its own GPUs that others of its cohort may use; all without it.")
          @Min(0)
          @Max(1_000_000)
          @Nullable Integer lendingLimit) {}
}
