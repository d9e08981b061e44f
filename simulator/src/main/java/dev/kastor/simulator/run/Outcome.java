package dev.kastor.simulator.run;

import dev.kastor.simulator.replay.Replay;

/**
 * A replay that was made.
 *
 * @param run what was asked for
 * @param replay what became of it
 * @param fairness how it treated each job
 * @param assumptions what was assumed of jobs that the workload does not tell enough of, as a
 *     sentence; empty for nothing
 */
public record Outcome(Run run, Replay replay, Fairness fairness, String assumptions) {}
