package dev.kastor.agent.telemetry;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import java.util.Optional;

/**
 * Where training stands, as rank 0 sees it.
 *
 * @param generation membership generation
 * @param nodes distinct nodes of the members
 * @param gpuType GPU type of those nodes; empty where they have none
 * @param replicas members
 * @param batch batch plan in force
 * @param gradient noise statistics, once known
 * @param progress after the last step
 * @param learningRate of the last step; empty before the first
 */
public record TrainingStatus(
    long generation,
    int nodes,
    String gpuType,
    int replicas,
    BatchPlan batch,
    Optional<GradientStats> gradient,
    Progress progress,
    Optional<Double> learningRate) {}
