package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** The workload sets that Pollux's (OSDI 2021) and Sia's (SOSP 2023) artifacts were tried on. */
public final class PublishedSets {
  private static final SequencedMap<String, String> FOLDERS = new LinkedHashMap<>();

  static {
    FOLDERS.put("pollux-0.5", "pollux/workloads-0.5");
    FOLDERS.put("pollux-1.0", "pollux/workloads");
    FOLDERS.put("pollux-1.5", "pollux/workloads-1.5");
    FOLDERS.put("pollux-2.0", "pollux/workloads-2.0");
    FOLDERS.put("sia-philly", "sia/workloads/philly");
    FOLDERS.put("sia-saturn", "sia/workloads/saturn");
    FOLDERS.put("sia-newtrace", "sia/workloads/newtrace");
  }

  private PublishedSets() {}

  /** All names. */
  public static List<String> names() {
    return List.copyOf(FOLDERS.keySet());
  }

  /**
   * Sets of these names.
   *
   * @param traces folder that holds {@code pollux} and {@code sia}
   * @throws IllegalArgumentException if there is no such set; the message lists all
   * @throws IOException if their folder cannot be listed
   */
  public static List<WorkloadSet> read(Path traces, List<String> names) throws IOException {
    List<WorkloadSet> sets = new ArrayList<>();
    for (String name : names) {
      String folder = FOLDERS.get(name);
      if (folder == null) {
        throw new IllegalArgumentException(
            "there is no set '%s'. Use some of: %s".formatted(name, String.join(", ", names())));
      }
      Mode mode = name.startsWith("sia") ? Mode.SIA : Mode.POLLUX;
      sets.add(
          new WorkloadSet(
              name,
              mode,
              traces.resolve(profiles(mode)),
              WorkloadSet.publishedCluster(mode),
              files(traces.resolve(folder)),
              mode == Mode.SIA
                  ? OptionalDouble.empty()
                  : OptionalDouble.of(Double.parseDouble(name.substring(name.indexOf('-') + 1))),
              1));
    }
    return sets;
  }

  /** Where the applications of a mode's workloads are, below the folder of the traces. */
  public static String profiles(Mode mode) {
    return mode == Mode.SIA ? "sia/profiles" : "pollux/applications";
  }

  private static List<String> files(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IllegalArgumentException(
          "%s is not a folder. Name the folder of the published traces, which holds it, or workloads of your own."
              .formatted(folder));
    }
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(Path::toString).filter(name -> name.endsWith(".csv")).sorted().toList();
    }
  }
}
