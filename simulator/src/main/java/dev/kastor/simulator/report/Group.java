package dev.kastor.simulator.report;

import dev.kastor.simulator.run.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Outcomes that are shown in one picture: one workload and seed under several policies.
 *
 * @param title for people
 * @param folder a name for files, unique among the groups
 * @param outcomes in the order in which they were asked for
 */
record Group(String title, String folder, List<Outcome> outcomes) {
  Group {
    outcomes = List.copyOf(outcomes);
  }

  static List<Group> of(List<Outcome> outcomes) {
    Map<List<String>, List<Outcome>> members = new LinkedHashMap<>();
    for (Outcome outcome : outcomes) {
      List<String> key = List.of(outcome.run().workload(), Long.toString(outcome.run().seed()));
      members.computeIfAbsent(key, none -> new ArrayList<>()).add(outcome);
    }
    boolean seeds = outcomes.stream().map(o -> o.run().seed()).distinct().count() > 1;
    List<String> workloads = outcomes.stream().map(o -> o.run().workload()).distinct().toList();
    boolean stemsClash =
        workloads.stream().map(w -> stem(w, false)).distinct().count() < workloads.size();
    List<Group> groups = new ArrayList<>();
    Set<String> folders = new HashSet<>();
    members.forEach((key, group) -> {
      String seed = key.getLast();
      String title = key.getFirst() + (seeds ? ", seed " + seed : "");
      String stem = stem(key.getFirst(), stemsClash) + (seeds ? "-seed-" + seed : "");
      String folder = stem;
      for (int n = 2; !folders.add(folder); n++) {
        folder = stem + "-" + n;
      }
      groups.add(new Group(title, folder, group));
    });
    return groups;
  }

  /** The last completion of all its replays, in seconds from their start. */
  double endSeconds() {
    return outcomes.stream()
        .flatMap(outcome -> outcome.replay().jobs().stream())
        .mapToDouble(job -> job.finishSeconds())
        .max()
        .orElseThrow();
  }

  /** The file's name without its ending, behind its folder's name where that tells more. */
  private static String stem(String workload, boolean withFolder) {
    Path path = Path.of(workload);
    String stem =
        String.valueOf(path.getFileName()).replaceFirst("(?<=.)\\.(csv|swf|json)(\\.gz)?$", "");
    Path parent = path.getParent();
    String folder =
        withFolder && parent != null && parent.getFileName() != null
            ? parent.getFileName() + "-"
            : "";
    return (folder + stem).replaceAll("[^A-Za-z0-9._-]", "_");
  }
}
