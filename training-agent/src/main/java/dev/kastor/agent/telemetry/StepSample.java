package dev.kastor.agent.telemetry;

/**
 * One applied step as rank 0 saw it, or one of a round of local steps that were applied together.
 *
 * @param status where training stands after it
 * @param typical whether its times say what a step costs; false around changes of members
 * @param steps of the round; 1 for a step
 * @param computeSeconds mean time of one pass of the slowest replica, and the update
 * @param syncSeconds the rest of the step
 * @param loss mean loss over the examples of all of them
 */
public record StepSample(
    TrainingStatus status,
    boolean typical,
    int steps,
    double computeSeconds,
    double syncSeconds,
    double loss) {}
