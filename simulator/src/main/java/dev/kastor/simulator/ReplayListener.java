package dev.kastor.simulator;

/** Told how far a replay is, after each decision, on the replay's own thread. */
@FunctionalInterface
public interface ReplayListener {
  /** {@code done} of {@code all} jobs are finished at {@code seconds} of virtual time. */
  void at(double seconds, int done, int all);
}
