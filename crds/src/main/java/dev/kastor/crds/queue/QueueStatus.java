package dev.kastor.crds.queue;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the operator reports of a queue, at most every few seconds. */
public record QueueStatus(
    @JsonPropertyDescription("Generation of the spec that this status answers.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription("Jobs that want to run and hold no GPUs.")
        @Nullable Integer pendingJobs,
    @JsonPropertyDescription("Jobs that hold GPUs.") @Nullable Integer runningJobs,
    @JsonPropertyDescription("GPUs that its jobs hold.") @Nullable Integer gpusUsed,
    @JsonPropertyDescription("Of those, GPUs beyond its quota.") @Nullable Integer gpusBorrowed,
    @JsonPropertyDescription("GPUs of its quota that others of its cohort hold.")
        @Nullable Integer gpusLent,
    @JsonPropertyDescription("Percent of its budget that is used; absent without a budget.")
        @Nullable Integer budgetUsedPercent,
    @JsonPropertyDescription("When the next period of its budget begins.")
        @Nullable String budgetUntil,
    @JsonPropertyDescription("Typed conditions with typed reasons.")
        @Nullable List<Condition> conditions) {}
