package dev.kastor.cli.demo;

import dev.kastor.cli.view.JobView;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The sizes and batches that a job was seen with, each change once. */
final class SizeTrack {
  private static final int SHOWN = 12;

  private final List<Integer> replicas = new ArrayList<>();
  private final List<Integer> batches = new ArrayList<>();

  void add(JobView view) {
    if (view.ended()) {
      return;
    }
    if (view.replicas() > 0) {
      append(replicas, view.replicas());
    }
    if (view.globalBatch() != null && view.globalBatch() > 0) {
      append(batches, view.globalBatch());
    }
  }

  List<Integer> replicas() {
    return List.copyOf(replicas);
  }

  List<Integer> batches() {
    return List.copyOf(batches);
  }

  static String path(List<Integer> values) {
    String shown =
        values.stream().limit(SHOWN).map(String::valueOf).collect(Collectors.joining(" > "));
    return values.isEmpty() ? "-" : values.size() > SHOWN ? shown + " > ..." : shown;
  }

  private static void append(List<Integer> values, int value) {
    if (values.isEmpty() || values.getLast() != value) {
      values.add(value);
    }
  }
}
