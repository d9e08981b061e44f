package dev.kastor.e2e.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Memory over time and the straight line through it. Used by one thread. */
final class MemoryLine {
  private record Sample(double minutes, double mebibytes) {}

  private final List<Sample> samples = new ArrayList<>();
  private final long begun = System.nanoTime();

  void add(double mebibytes) {
    samples.add(new Sample((System.nanoTime() - begun) / 60e9, mebibytes));
  }

  /** MiB gained in a minute, by least squares over the second half: the first warms up. */
  double slope() {
    List<Sample> late = samples.subList(samples.size() / 2, samples.size());
    double meanTime = late.stream().mapToDouble(Sample::minutes).average().orElse(0);
    double mean = late.stream().mapToDouble(Sample::mebibytes).average().orElse(0);
    double both = 0;
    double time = 0;
    for (Sample sample : late) {
      both += (sample.minutes() - meanTime) * (sample.mebibytes() - mean);
      time += (sample.minutes() - meanTime) * (sample.minutes() - meanTime);
    }
    return time == 0 ? 0 : both / time;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "first %.0f, most %.0f, last %.0f MiB, %+.2f MiB a minute in the second half",
        samples.getFirst().mebibytes(),
        samples.stream().mapToDouble(Sample::mebibytes).max().orElse(0),
        samples.getLast().mebibytes(),
        slope());
  }
}
