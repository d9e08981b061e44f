package dev.kastor.scheduler.policy.pollux;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.support.BlindType;
import dev.kastor.scheduler.policy.support.GoodputMemo;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * One round's allocation problem as flat arrays: jobs in genome order, nodes by index, and what an
 * allocation matrix is worth (Pollux, OSDI 2021, section 4.2).
 *
 * <p>A genome holds the slots of job j on node n, of whole replicas, at {@code j * nodes + n}, or
 * packed by {@link NodeLanes}. Pinned jobs are not in it: their slots are taken off the nodes and
 * they count only in the fair share. Speedups are memoised by (job, nodes, slots); used by one
 * thread.
 *
 * <p>Pollux knows one kind of GPU. A job that is not alike on all types is judged as on one of them
 * ({@link BlindType}) and gets nodes of one type in the end.
 */
final class PolluxProblem {
  private static final double EPSILON = 1e-3;

  final int jobs;
  final int nodes;

  /** Slots by node that are not held by pinned jobs. */
  final int[] capacity;

  /** What the jobs hold today, as far as the nodes still exist. */
  final int[] current;

  /** How rows are packed. */
  final NodeLanes lanes;

  /** {@link #current}, packed; a job that cannot keep what it holds differs from every row. */
  final long[] packedCurrent;

  /** {@link #capacity}, packed. */
  final long[] packedCapacity;

  /** For each job, lanes full of ones for the nodes that suit it. */
  final long[] packedSuits;

  /** Whether some node does not suit some job. */
  final boolean choosy;

  /** Slots of every node if all have the same, else 0. */
  final int equalSlots;

  private final List<JobState> states;
  private final List<Node> nodeList;
  private final boolean faithful;
  private final GoodputMemo memo;
  private final int totalSlots;
  private final int fairShare;
  private final double nodesPerSlot;
  private final BlindType[] types;
  private final int[] maxSlots;
  private final boolean[] anyCount;
  private final boolean[] intact;
  private final boolean[] suits;
  private final double[] factor;
  private final double[] fairGoodput;
  private final double[][] speedups;

  PolluxProblem(Snapshot snapshot, boolean faithful, GoodputMemo memo) {
    this.faithful = faithful;
    this.memo = memo;
    states =
        snapshot.jobs().stream()
            .filter(job -> !job.pinned())
            .sorted(
                Comparator.comparingDouble(JobState::attainedService)
                    .thenComparing(job -> job.spec().submitted())
                    .thenComparing(JobState::id))
            .toList();
    memo.retain(states);
    nodeList = snapshot.nodes();
    jobs = states.size();
    nodes = nodeList.size();
    totalSlots = snapshot.totalSlots();
    nodesPerSlot = totalSlots == 0 ? 0 : (double) nodes / totalSlots;
    fairShare = Math.max(1, Math.ceilDiv(totalSlots, Math.max(1, snapshot.jobs().size())));
    capacity = nodeList.stream().mapToInt(Node::slots).toArray();
    int most = Arrays.stream(capacity).max().orElse(0);
    equalSlots = Arrays.stream(capacity).allMatch(slots -> slots == most) ? most : 0;
    lanes = new NodeLanes(nodes, most);
    Map<String, Integer> index = new HashMap<>();
    for (int n = 0; n < nodes; n++) {
      index.put(nodeList.get(n).name(), n);
    }
    for (JobState job : snapshot.jobs()) {
      Allocation held = job.allocation();
      for (int i = 0; job.pinned() && i < held.nodes(); i++) {
        Integer n = index.get(held.node(i));
        if (n != null) {
          capacity[n] = Math.max(0, capacity[n] - held.slots(i));
        }
      }
    }
    current = new int[jobs * nodes];
    types = new BlindType[jobs];
    maxSlots = new int[jobs];
    anyCount = new boolean[jobs];
    intact = new boolean[jobs];
    suits = new boolean[jobs * nodes];
    factor = new double[jobs];
    fairGoodput = new double[jobs];
    speedups = new double[jobs][];
    packedCurrent = new long[jobs * lanes.words];
    packedCapacity = new long[lanes.words];
    packedSuits = new long[jobs * lanes.words];
    boolean someDoNotSuit = false;
    for (int j = 0; j < jobs; j++) {
      JobState job = states.get(j);
      BlindType type = BlindType.of(job);
      types[j] = type;
      maxSlots[j] = Math.min(maxReplicas(job) * type.slotsPerReplica(), totalSlots);
      anyCount[j] =
          type.slotsPerReplica() == 1
              && job.spec().elasticity().min() == 1
              && job.spec().elasticity().allowed() instanceof AllowedReplicas.Any;
      factor[j] = reallocationFactor(job);
      fairGoodput[j] = fairGoodput(j);
      for (int n = 0; n < nodes; n++) {
        suits[j * nodes + n] = type.suits(nodeList.get(n).gpuType());
        someDoNotSuit |= !suits[j * nodes + n];
      }
      takeCurrent(j, index);
      packSuits(j);
    }
    choosy = someDoNotSuit;
    lanes.pack(capacity, 0, packedCapacity, 0);
  }

  private void takeCurrent(int j, Map<String, Integer> index) {
    Allocation held = states.get(j).allocation();
    intact[j] = true;
    for (int i = 0; i < held.nodes(); i++) {
      Integer n = index.get(held.node(i));
      if (n == null || !suits[j * nodes + n] || held.slots(i) > nodeList.get(n).slots()) {
        intact[j] = false;
      }
      if (n != null && suits[j * nodes + n]) {
        current[j * nodes + n] = held.slots(i);
      }
    }
    lanes.pack(current, j * nodes, packedCurrent, j * lanes.words);
  }

  private void packSuits(int j) {
    for (int n = 0; n < nodes; n++) {
      if (suits[j * nodes + n]) {
        packedSuits[j * lanes.words + lanes.word(n)] |= lanes.full(lanes.at(lanes.shift(n), 1));
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
  private double fairGoodput(int j) {
    int share = Math.max(1, fairShare / slotsPerReplica(j));
    return goodputOf(j, 1, Math.min(share, BatchChoice.maxReplicas(states.get(j).spec())));
  }

  private double goodputOf(int j, int usedNodes, int replicas) {
    return memo.goodput(states.get(j).id(), usedNodes, replicas, types[j].gpuType());
  }

  /** Predicted examples per second of so many slots; 0 for none and without a model. */
  double goodput(int j, int usedNodes, int slots) {
    int replicas = slots / slotsPerReplica(j);
    return replicas == 0 ? 0 : goodputOf(j, Math.min(usedNodes, replicas), replicas);
  }

  JobState job(int j) {
    return states.get(j);
  }

  /** Slots of one replica, all of which are on one node. */
  int slotsPerReplica(int j) {
    return types[j].slotsPerReplica();
  }

  int fairShare() {
    return fairShare;
  }

  /** Most slots that a job may get in this round. */
  int maxSlots(int j) {
    return maxSlots[j];
  }

  /** Slots of a node, pinned ones included. */
  int slots(int n) {
    return nodeList.get(n).slots();
  }

  /** Whether a job may have every count of slots up to its maximum. */
  boolean allowsAnyCount(int j) {
    return anyCount[j];
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

  /** Whether the job may run with this many slots now; 0 is always allowed. */
  boolean allows(int j, int slots) {
    return slots == 0 || (slots <= maxSlots[j] && types[j].allows(slots));
  }

  /** Slots of a job on all nodes together. */
  int slots(int[] genome, int j) {
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

  private boolean differs(int[] genome, int j) {
    int from = j * nodes;
    return !Arrays.equals(genome, from, from + nodes, current, from, from + nodes);
  }

  /** Goodput relative to that of a fair share (equation 13's SPEEDUP with the fair baseline). */
  double speedup(int j, int usedNodes, int slots) {
    if (slots == 0) {
      return 0;
    }
    double[] known = speedups[j];
    int width = maxSlots[j] + 1;
    if (known == null) {
      known = new double[(Math.min(nodes, maxSlots[j]) + 1) * width];
      Arrays.fill(known, Double.NaN);
      speedups[j] = known;
    }
    int at = usedNodes * width + slots;
    // A job may hold more than it may be given next, until the next plan shrinks it.
    if (slots >= width || at >= known.length) {
      return computeSpeedup(j, usedNodes, slots);
    }
    double speedup = known[at];
    if (Double.isNaN(speedup)) {
      speedup = computeSpeedup(j, usedNodes, slots);
      known[at] = speedup;
    }
    return speedup;
  }

  private double computeSpeedup(int j, int usedNodes, int slots) {
    return fairGoodput[j] > 0
        ? goodput(j, usedNodes, slots) / fairGoodput[j]
        : (double) slots / fairShare;
  }

  /** A job's term of the fitness: its speedup, less what a change costs it. */
  double worth(int[] genome, int j) {
    double speedup = speedup(j, nodesOf(genome, j), slots(genome, j));
    return worth(j, speedup, differs(genome, j));
  }

  /** The same for a speedup, and whether the row differs from today's. */
  double worth(int j, double speedup, boolean differs) {
    double worth = speedup * nodesPerSlot;
    return differs || !intact[j] ? worth * factor[j] : worth;
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

  /** A genome's rows, packed. */
  long[] packed(int[] genome) {
    long[] cells = new long[jobs * lanes.words];
    for (int j = 0; j < jobs; j++) {
      lanes.pack(genome, j * nodes, cells, j * lanes.words);
    }
    return cells;
  }

  /** The reverse, for the packed genome that begins at {@code base}. */
  int[] unpacked(long[] cells, int base) {
    int[] genome = new int[jobs * nodes];
    for (int j = 0; j < jobs; j++) {
      lanes.unpack(cells, base + j * lanes.words, genome, j * nodes);
    }
    return genome;
  }

  /** A job's row, cut to nodes of one type where it must not mix them. */
  Allocation allocation(int[] genome, int j) {
    SequencedMap<Node, Integer> row = new LinkedHashMap<>();
    for (int n = 0; n < nodes; n++) {
      if (genome[j * nodes + n] > 0) {
        row.put(nodeList.get(n), genome[j * nodes + n]);
      }
    }
    return types[j].allocation(row);
  }
}
