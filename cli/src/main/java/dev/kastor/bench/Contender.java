package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;

/** A program that trains one model and does nothing between two measurements. */
public interface Contender extends AutoCloseable {
  /** What it said of itself when its first step was done. */
  Start started();

  /** Takes steps for this long, at least one. */
  Window measure(double seconds) throws BenchException;

  /** Ends the program. */
  @Override
  void close();

  /** Starts the program of one side for a model. */
  @FunctionalInterface
  interface Starter {
    Contender start(Workload workload, int threads) throws BenchException;
  }

  /**
   * A program that is ready.
   *
   * @param library its name and version
   * @param device such as {@code cpu}
   * @param parameters trained values
   * @param firstStepSeconds from the start of the process to the end of its first step
   */
  record Start(String library, String device, long parameters, double firstStepSeconds) {}

  /**
   * Some steps in a row.
   *
   * @param seconds wall time
   * @param cpuSeconds processor time of the whole process
   * @param peakBytes most memory of the process that was in RAM since its start; 0 if not known
   * @param loss of the last step
   */
  record Window(long steps, double seconds, double cpuSeconds, long peakBytes, double loss) {
    static Window of(JsonNode json) {
      return new Window(
          json.path("steps").asLong(),
          json.path("seconds").asDouble(),
          json.path("cpuSeconds").asDouble(),
          json.path("peakBytes").asLong(),
          json.path("loss").asDouble());
    }

    public double stepsPerSecond() {
      return steps / seconds;
    }

    public double cpuMillisPerStep() {
      return 1e3 * cpuSeconds / steps;
    }
  }
}
