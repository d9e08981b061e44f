package dev.kastor.simulator.bench;

/**
 * What one policy's decisions at one size cost.
 *
 * @param measured the case; its decisions are those that fitted into the time for it
 * @param firstMillis the first decision ever: no job runs yet and no code is compiled
 * @param full decisions after about 2 % of the jobs have changed
 * @param fullCpu processor time of the same by the deciding thread
 * @param incremental decisions after one job has come or gone
 * @param aroundMillis mean time of what the loop does besides: the snapshot, its check against the
 *     plan, and the list of changes
 * @param meanChanges jobs that got another allocation, on average
 * @param peakBytes most memory of the process that was in RAM meanwhile; 0 if not known
 */
public record DecideResult(
    DecideCase measured,
    double firstMillis,
    Spread full,
    Spread fullCpu,
    Spread incremental,
    double aroundMillis,
    double meanChanges,
    long peakBytes) {}
