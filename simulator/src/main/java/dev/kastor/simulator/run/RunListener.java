package dev.kastor.simulator.run;

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

  /**
   * A run could not be made to its end.
   *
   * @return whether the others go on; if not, the failure ends them all
   */
  default boolean failed(int run, RuntimeException why) {
    return false;
  }
}
