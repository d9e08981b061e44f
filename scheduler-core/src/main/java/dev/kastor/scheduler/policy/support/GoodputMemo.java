package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Goodputs, predicted, by job and placement shape, kept from round to round while a job's model
 * stays the same. Owned by a policy.
 */
public final class GoodputMemo {
  private static final int MOST_REPLICAS = 128;

  private Map<JobId, Entry> entries = new HashMap<>();

  /** Forgets all jobs but these, and of these the goodputs that no longer hold. */
  public void retain(List<JobState> jobs) {
    Map<JobId, Entry> kept = new HashMap<>();
    for (JobState job : jobs) {
      if (job.model().isPresent()) {
        GoodputModel model = job.model().get();
        Entry known = entries.get(job.id());
        boolean holds = known != null && known.model.equals(model) && known.spec.equals(job.spec());
        kept.put(job.id(), holds ? known : new Entry(job.spec(), model));
      }
    }
    entries = kept;
  }

  /** Goodput of a retained job; 0 without a model or where no batch fits. */
  public double goodput(JobId job, int nodes, int replicas, String gpuType) {
    Entry entry = entries.get(job);
    return entry == null ? 0 : entry.goodput(nodes, replicas, gpuType);
  }

  private static final class Entry {
    private final JobSpec spec;
    private final GoodputModel model;

    /** By shape: for r replicas on n nodes at {@code r (r - 1) / 2 + n - 1}; NaN if unknown. */
    private double[] goodputs = new double[0];

    Entry(JobSpec spec, GoodputModel model) {
      this.spec = spec;
      this.model = model;
    }

    double goodput(int nodes, int replicas, String gpuType) {
      if (replicas > MOST_REPLICAS) {
        return compute(nodes, replicas, gpuType);
      }
      int at = replicas * (replicas - 1) / 2 + nodes - 1;
      if (at >= goodputs.length) {
        int before = goodputs.length;
        goodputs = Arrays.copyOf(goodputs, replicas * (replicas + 1) / 2);
        Arrays.fill(goodputs, before, goodputs.length, Double.NaN);
      }
      if (Double.isNaN(goodputs[at])) {
        goodputs[at] = compute(nodes, replicas, gpuType);
      }
      return goodputs[at];
    }

    private double compute(int nodes, int replicas, String gpuType) {
      return BatchChoice.goodput(spec, model, new PlacementShape(nodes, replicas, gpuType));
    }
  }
}
