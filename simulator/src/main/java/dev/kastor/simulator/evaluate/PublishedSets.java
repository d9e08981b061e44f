package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.replay.Mode;
import dev.kastor.traces.CategoryMix;
import dev.kastor.traces.Workload.Category;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** The workload sets that Pollux's (OSDI 2021) and Sia's (SOSP 2023) artifacts were tried on. */
public final class PublishedSets {
  /** One third each (Sia, section 5.4, tries several shares). */
  private static final CategoryMix MIX =
      new CategoryMix(
          Map.of(Category.ADAPTIVE, 1.0, Category.SCALE_GPUS, 1.0, Category.RIGID, 1.0));

  /**
   * A set's workloads, and what is particular to it.
   *
   * @param folder below the traces
   * @param mix what schedulers may change about its jobs
   * @param rivals see {@link WorkloadSet}; none where their replays take many minutes, and no
   *     {@code pollux} where rigid jobs would lose GPUs under it
   * @param dissected whether it is by default
   */
  private record Published(
      String folder, Optional<CategoryMix> mix, List<String> rivals, boolean dissected) {
    private Published(String folder, List<String> rivals, boolean dissected) {
      this(folder, Optional.empty(), rivals, dissected);
    }
  }

  private static final SequencedMap<String, Published> SETS = new LinkedHashMap<>();

  static {
    List<String> pollux = List.of("pollux");
    List<String> sia = List.of("sia");
    SETS.put("pollux-1.0", new Published("pollux/workloads", sia, true));
    SETS.put("pollux-2.0", new Published("pollux/workloads-2.0", sia, false));
    SETS.put("pollux-0.5", new Published("pollux/workloads-0.5", sia, false));
    SETS.put("pollux-1.5", new Published("pollux/workloads-1.5", sia, false));
    SETS.put("sia-philly", new Published("sia/workloads/philly", pollux, true));
    SETS.put(
        "sia-mixed", new Published("sia/workloads/philly", Optional.of(MIX), List.of(), false));
    SETS.put("sia-saturn", new Published("sia/workloads/saturn", List.of(), false));
    SETS.put("sia-newtrace", new Published("sia/workloads/newtrace", List.of(), false));
  }

  private PublishedSets() {}

  /** All names; what is asked first is most telling. */
  public static List<String> names() {
    return List.copyOf(SETS.keySet());
  }

  /**
   * All sets. The parts that try many variants are asked of one of each mode only.
   *
   * @param traces folder that holds {@code pollux} and {@code sia}
   * @throws IOException if a folder cannot be listed
   */
  public static List<WorkloadSet> all(Path traces) throws IOException {
    return read(traces, names()).stream()
        .map(set -> {
          Published published = SETS.get(set.name());
          return set.dissected(published != null && published.dissected());
        })
        .toList();
  }

  /**
   * Sets of these names, each asked for all parts.
   *
   * @param traces folder that holds {@code pollux} and {@code sia}
   * @throws IllegalArgumentException if there is no such set; the message lists all
   * @throws IOException if their folder cannot be listed
   */
  public static List<WorkloadSet> read(Path traces, List<String> names) throws IOException {
    List<WorkloadSet> sets = new ArrayList<>();
    for (String name : names) {
      Published set = SETS.get(name);
      if (set == null) {
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
              files(traces.resolve(set.folder())),
              mode == Mode.SIA
                  ? OptionalDouble.empty()
                  : OptionalDouble.of(Double.parseDouble(name.substring(name.indexOf('-') + 1))),
              1,
              set.mix(),
              set.rivals(),
              true));
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
