package dev.kastor.agent.telemetry;

/**
 * One applied step as rank 0 saw it.
 *
 * @param status where training stands after it
 * @param typical whether its times say what a step costs; false around changes of members
 * @param computeSeconds mean time of one pass of the slowest replica, and the update
 * @param syncSeconds the rest of the step
 * @param loss mean loss over the global batch
 */
public record StepSample(
    TrainingStatus status,
    boolean typical,
    double computeSeconds,
    double syncSeconds,
    double loss) {}
