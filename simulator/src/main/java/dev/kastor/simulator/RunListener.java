package dev.kastor.simulator;

/** Told how far many replays are; called from several threads at once. */
public interface RunListener {
  /** Hears nothing. */
  RunListener NONE =
      new RunListener() {
        @Override
        public void at(int run, double seconds, int done, int all) {}

        @Override
        public void finished(int run, Outcome outcome) {}
      };

  /** {@code done} of {@code all} jobs of a run are finished at {@code seconds} of virtual time. */
  void at(int run, double seconds, int done, int all);

  /** A run has ended. */
  void finished(int run, Outcome outcome);
}
