package dev.kastor.simulator.evaluate;

import dev.kastor.scheduler.policy.kastor.KastorPlugin;
import dev.kastor.simulator.report.LoadChart;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** All policies over the loads of an evaluation as a picture. */
public final class LoadPicture {
  private static final double HOUR = 3600;

  private LoadPicture() {}

  /** Whether an evaluation has what a picture shows: {@link Part#LOADS} at two loads or more. */
  public static boolean possible(Evaluation evaluation) {
    return evaluation.parts().contains(Part.LOADS)
        && Evaluation.byLoad(evaluation.sets()).size() > 1;
  }

  /** Draws it. */
  public static void write(Evaluation evaluation, Path file) throws IOException {
    List<WorkloadSet> sets = Evaluation.byLoad(evaluation.sets());
    double[] loads = sets.stream().mapToDouble(set -> set.load().orElseThrow()).toArray();
    SequencedMap<String, double[]> hours = new LinkedHashMap<>();
    for (Contender contender : evaluation.tried(sets)) {
      hours.put(
          contender.name(),
          sets.stream()
              .mapToDouble(set ->
                  evaluation.contenders(Part.LOADS, set).contains(contender)
                      ? evaluation.of(set, contender).meanSeconds() / HOUR
                      : Double.NaN)
              .toArray());
    }
    WorkloadSet first = sets.getFirst();
    LoadChart.write(
        file,
        "Mean completion time, %s, mode %s, %s"
            .formatted(
                first.cluster(),
                first.mode().label(),
                first.workloads().size() == 1
                    ? "one workload"
                    : "mean of %d workloads".formatted(first.workloads().size())),
        loads,
        hours,
        (int) hours.keySet().stream().filter(name -> name.startsWith(KastorPlugin.NAME)).count());
  }
}
