package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.view.EventView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Failures of the replicas of one job while it goes on, each told once. */
final class ReplicaFailures {
  private static final String REASON = "ReplicaFailed";

  /** An event comes after the status that counts its failure; one that is lost never comes. */
  private static final int MOST_REQUESTS = 20;

  private final Set<String> told = new HashSet<>();
  private int counted;
  private int requests;

  /** What failed since the last call, and the first time what becomes of it. */
  List<String> news(Cluster cluster, TrainingJob job) {
    int now = count(job);
    if (now > counted) {
      requests = MOST_REQUESTS;
    }
    counted = now;
    if (requests == 0) {
      return List.of();
    }
    requests--;
    String name = job.getMetadata().getName();
    List<String> lines = new ArrayList<>();
    for (EventView event : cluster.eventsOf(job, REASON)) {
      if (told.add(event.message())) {
        lines.add(event.message());
      }
    }
    if (!lines.isEmpty()) {
      requests = 0;
      if (told.size() == lines.size()) {
        lines.add(
            "Failed replicas are replaced, after pauses that grow. End the job with: kastor stop "
                + name);
      }
    }
    return lines;
  }

  private static int count(TrainingJob job) {
    Integer failures = job.getStatus() == null ? null : job.getStatus().failuresSinceProgress();
    return failures == null ? 0 : failures;
  }
}
