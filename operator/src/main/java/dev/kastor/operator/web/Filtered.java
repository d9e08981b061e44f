package dev.kastor.operator.web;

import dev.kastor.operator.web.HistoryView.TimelineView;
import dev.kastor.operator.web.Overview.ClusterRow;
import java.util.List;

/** The part of what the operator knows that a viewer may see. */
final class Filtered {
  private Filtered() {}

  /**
   * The overview with the jobs that he may list.
   *
   * <p>Nodes and advice on them are for who sees all jobs; how many slots there are and are taken
   * is for everybody.
   */
  static Overview overview(Overview all, Viewer viewer) {
    if (viewer.seesAll()) {
      return all;
    }
    ClusterRow cluster = all.cluster();
    return new Overview(
        new ClusterRow(
            cluster.policy(), cluster.slotsUsed(), cluster.slotsTotal(), List.of(), List.of()),
        all.jobs().stream().filter(job -> viewer.lists(job.namespace())).toList());
  }

  /** The timelines of the jobs that he may list. */
  static List<TimelineView> timelines(List<TimelineView> all, Viewer viewer) {
    return viewer.seesAll()
        ? all
        : all.stream().filter(line -> viewer.lists(line.namespace())).toList();
  }
}
