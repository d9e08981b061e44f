package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Node;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.Snapshot;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One round's allocation problem as flat arrays: jobs in genome order, nodes by index, and what an
 * allocation matrix is worth (Pollux, OSDI 2021, section 4.2).
 *
 * <p>A genome holds the replicas of job j on node n at {@code j * nodes + n}. Pinned jobs are not
 * in it: their slots are taken off the nodes and they count only in the fair share. Speedups are
 * memoised by (job, nodes, replicas); used by one thread.
 */
final class PolluxProblem {
  private static final double EPSILON = 1e-3;

  final int jobs;
  final int nodes;

  /** Slots by node that are not held by pinned jobs. */
  final int[] capacity;

  /** What the jobs hold today, as far as the nodes still exist. */
  final int[] current;

  private final List<JobState> states;
  private final List<Node> nodeList;
  private final boolean faithful;
  private final int totalSlots;
  private final int fairShare;
  private final int[] maxReplicas;
  private final boolean[] intact;
  private final boolean[] suits;
  private final double[] factor;
  private final double[] fairGoodput;
  private final double[][] speedups;
  private final int[] nodesUsed;

  PolluxProblem(Snapshot snapshot, boolean faithful) {
    this.faithful = faithful;
    states =
        snapshot.jobs().stream()
            .filter(job -> !job.pinned())
            .sorted(
                Comparator.comparingDouble(JobState::attainedService)
                    .thenComparing(job -> job.spec().submitted())
                    .thenComparing(JobState::id))
            .toList();
    nodeList = snapshot.nodes();
    jobs = states.size();
    nodes = nodeList.size();
    totalSlots = snapshot.totalSlots();
    fairShare = Math.max(1, Math.ceilDiv(totalSlots, Math.max(1, snapshot.jobs().size())));
    capacity = nodeList.stream().mapToInt(Node::slots).toArray();
    Map<String, Integer> index = new HashMap<>();
    for (int n = 0; n < nodes; n++) {
      index.put(nodeList.get(n).name(), n);
    }
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        job.allocation()
            .replicasByNode()
            .forEach((node, replicas) -> {
              Integer n = index.get(node);
              if (n != null) {
                capacity[n] = Math.max(0, capacity[n] - replicas);
              }
            });
      }
    }
    current = new int[jobs * nodes];
    maxReplicas = new int[jobs];
    intact = new boolean[jobs];
    suits = new boolean[jobs * nodes];
    factor = new double[jobs];
    fairGoodput = new double[jobs];
    speedups = new double[jobs][];
    nodesUsed = new int[Math.max(1, nodes)];
    for (int j = 0; j < jobs; j++) {
      JobState job = states.get(j);
      maxReplicas[j] = Math.min(maxReplicas(job), totalSlots);
      factor[j] = reallocationFactor(job);
      fairGoodput[j] = fairGoodput(job);
      intact[j] = true;
      for (int n = 0; n < nodes; n++) {
        String type = job.spec().gpuType();
        suits[j * nodes + n] = type.isEmpty() || type.equals(nodeList.get(n).gpuType());
      }
      for (var entry : job.allocation().replicasByNode().entrySet()) {
        Integer n = index.get(entry.getKey());
        if (n == null || !suits[j * nodes + n]) {
          intact[j] = false;
        } else {
          current[j * nodes + n] = entry.getValue();
        }
      }
    }
  }

  /**
   * At most twice what was ever measured, so that predictions stay near to what was seen; what the
   * job holds already it may keep, measured or not (a restarted host has forgotten measurements).
   */
  private static int maxReplicas(JobState job) {
    Elasticity elasticity = job.spec().elasticity();
    int most = Math.min(elasticity.max(), BatchChoice.maxReplicas(job.spec()));
    int profiled = job.maxProfiledReplicas();
    // Where few counts are allowed, doubling may reach none of them: then the next one is open.
    int next = Math.max(profiled + 1, elasticity.min());
    while (next < most && !elasticity.allows(next)) {
      next++;
    }
    int reach = Math.max(Math.max(2 * profiled, next), job.allocation().replicas());
    return Math.max(Math.min(most, reach), elasticity.min());
  }

  /** What is left of a job's speedup when it is re-allocated: section 4.2.1, RESTART_PENALTY. */
  private double reallocationFactor(JobState job) {
    if (!faithful && job.allocation().isEmpty()) {
      return 1; // A job that does not run loses nothing by starting.
    }
    double age = seconds(job.age());
    double cost = seconds(job.rescaleCost());
    double denominator = age + cost;
    return denominator > 0 ? Math.max(age - job.restarts() * cost, 0) / denominator : 1;
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() * 1e-9;
  }

  /** Goodput of a fair share as if all its replicas sat on one node; 0 without a usable model. */
  private double fairGoodput(JobState job) {
    if (job.model().isEmpty()) {
      return 0;
    }
    int share = Math.min(fairShare, BatchChoice.maxReplicas(job.spec()));
    return BatchChoice.goodput(
        job.spec(), job.model().get(), new PlacementShape(1, share, job.spec().gpuType()));
  }

  JobState job(int j) {
    return states.get(j);
  }

  int fairShare() {
    return fairShare;
  }

  int maxReplicas(int j) {
    return maxReplicas[j];
  }

  boolean suits(int j, int n) {
    return suits[j * nodes + n];
  }

  double reallocationFactor(int j) {
    return factor[j];
  }

  List<String> nodeNames() {
    return nodeList.stream().map(Node::name).toList();
  }

  /** Whether the job may run with this many replicas now; 0 is always allowed. */
  boolean allows(int j, int replicas) {
    return replicas == 0
        || (replicas <= maxReplicas[j] && states.get(j).spec().elasticity().allows(replicas));
  }

  int replicas(int[] genome, int j) {
    int sum = 0;
    for (int i = j * nodes; i < (j + 1) * nodes; i++) {
      sum += genome[i];
    }
    return sum;
  }

  int nodesOf(int[] genome, int j) {
    int used = 0;
    for (int i = j * nodes; i < (j + 1) * nodes; i++) {
      used += genome[i] > 0 ? 1 : 0;
    }
    return used;
  }

  boolean changed(int[] genome, int j) {
    int from = j * nodes;
    return !intact[j] || !Arrays.equals(genome, from, from + nodes, current, from, from + nodes);
  }

  /** Goodput relative to that of a fair share (equation 13's SPEEDUP with the fair baseline). */
  double speedup(int j, int usedNodes, int replicas) {
    if (replicas == 0) {
      return 0;
    }
    double[] memo = speedups[j];
    int width = maxReplicas[j] + 1;
    if (memo == null) {
      memo = new double[(Math.min(nodes, maxReplicas[j]) + 1) * width];
      Arrays.fill(memo, Double.NaN);
      speedups[j] = memo;
    }
    int at = usedNodes * width + replicas;
    // A job may hold more than it may be given next, until the next plan shrinks it.
    if (replicas >= width || at >= memo.length) {
      return computeSpeedup(j, usedNodes, replicas);
    }
    if (Double.isNaN(memo[at])) {
      memo[at] = computeSpeedup(j, usedNodes, replicas);
    }
    return memo[at];
  }

  private double computeSpeedup(int j, int usedNodes, int replicas) {
    JobState job = states.get(j);
    if (job.model().isEmpty() || fairGoodput[j] <= 0) {
      return (double) replicas / fairShare;
    }
    PlacementShape shape = new PlacementShape(usedNodes, replicas, job.spec().gpuType());
    return BatchChoice.goodput(job.spec(), job.model().get(), shape) / fairGoodput[j];
  }

  /** A job's term of the fitness: its speedup, less what a change costs it. */
  double worth(int[] genome, int j) {
    int replicas = replicas(genome, j);
    double worth = speedup(j, nodesOf(genome, j), replicas) * nodes / totalSlots;
    return changed(genome, j) ? worth * factor[j] : worth;
  }

  /** What a term adds to the sum that the harmonic mean minimises. */
  static double loss(double worth) {
    return 1 / (worth + EPSILON);
  }

  /** Power mean with p = -1 of the jobs' terms (equation 14); larger is better. */
  double fitness(int[] genome) {
    double sum = 0;
    for (int j = 0; j < jobs; j++) {
      sum += loss(worth(genome, j));
    }
    return jobs == 0 ? 0 : jobs / sum;
  }

  /** Mean efficiency of the slots of nodes in use: only keeps the search diverse. */
  double utility(int[] genome) {
    Arrays.fill(nodesUsed, 0);
    double sum = 0;
    for (int j = 0; j < jobs; j++) {
      int used = 0;
      int replicas = 0;
      for (int n = 0; n < nodes; n++) {
        int here = genome[j * nodes + n];
        if (here > 0) {
          used++;
          replicas += here;
          nodesUsed[n] = 1;
        }
      }
      sum += speedup(j, used, replicas);
    }
    int slots = 0;
    for (int n = 0; n < nodes; n++) {
      slots += nodesUsed[n] * nodeList.get(n).slots();
    }
    return slots == 0 ? 0 : sum / slots;
  }

  /** Slots by node that a genome leaves. */
  int[] free(int[] genome) {
    int[] free = capacity.clone();
    for (int j = 0; j < jobs; j++) {
      for (int n = 0; n < nodes; n++) {
        free[n] -= genome[j * nodes + n];
      }
    }
    return free;
  }

  Allocation allocation(int[] genome, int j) {
    TreeMap<String, Integer> map = new TreeMap<>();
    for (int n = 0; n < nodes; n++) {
      if (genome[j * nodes + n] > 0) {
        map.put(nodeList.get(n).name(), genome[j * nodes + n]);
      }
    }
    return map.isEmpty() ? Allocation.NONE : new Allocation(map);
  }
}
