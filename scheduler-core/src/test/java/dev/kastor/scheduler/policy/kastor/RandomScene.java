package dev.kastor.scheduler.policy.kastor;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * A snapshot drawn from a seed, with all that a cluster may hold: nodes of several types and sizes,
 * some full of strangers, racked, priced or preemptible; jobs of every elasticity, pipelines among
 * them, measured or not, running well or badly placed, on lost and on shrunken nodes, pinned, in
 * queues and of priorities.
 */
final class RandomScene {
  private static final List<String> TYPES = List.of("a", "b", "c");

  private final SplittableRandom random;
  private final List<Node> nodes = new ArrayList<>();
  private final int[] free;

  private RandomScene(long seed) {
    random = new SplittableRandom(seed);
    boolean mixed = random.nextInt(3) > 0;
    boolean uneven = random.nextInt(3) == 0;
    boolean racked = random.nextBoolean();
    boolean priced = random.nextInt(4) == 0;
    int even = 1 << random.nextInt(4);
    int count = 1 + random.nextInt(9);
    for (int n = 0; n < count; n++) {
      nodes.add(
          new Node(
              "node-%02d".formatted(n),
              mixed ? TYPES.get(random.nextInt(3)) : "a",
              uneven ? random.nextInt(9) : even,
              racked ? "rack-" + random.nextInt(3) : "",
              priced && random.nextBoolean(),
              priced ? 1 + random.nextInt(2) : 0));
    }
    free = nodes.stream().mapToInt(Node::slots).toArray();
  }

  static Snapshot of(long seed) {
    return new RandomScene(seed).snapshot();
  }

  /** A minute later, when a plan has been carried out. */
  static Snapshot after(Snapshot before, Plan plan) {
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : before.jobs()) {
      Allocation given = plan.allocation(job.id());
      Duration held =
          given.equals(job.allocation()) ? job.sinceChange().plusSeconds(60) : Duration.ZERO;
      jobs.add(
          new JobState(
              job.spec(),
              given,
              job.model(),
              Math.max(job.maxProfiledReplicas(), given.isEmpty() ? 0 : 1),
              job.progress(),
              job.age().plusSeconds(60),
              job.attainedService() + 60.0 * given.slots(),
              job.restarts(),
              job.rescaleCost(),
              job.restartCost(),
              held,
              job.pinned(),
              job.restarting(),
              job.outlook(),
              job.foresight()));
    }
    return new Snapshot(before.now().plusSeconds(60), before.nodes(), jobs, before.queues());
  }

  private Snapshot snapshot() {
    List<JobState> jobs = new ArrayList<>();
    int count = 1 + random.nextInt(14);
    for (int j = 0; j < count; j++) {
      jobs.add(job("job-%02d".formatted(j)));
    }
    List<Node> now = new ArrayList<>();
    for (Node node : nodes) {
      // Strangers take slots from under those who run, and nodes go.
      int slots = random.nextInt(15) == 0 ? random.nextInt(node.slots() + 1) : node.slots();
      if (random.nextInt(25) > 0) {
        now.add(
            new Node(
                node.name(),
                node.gpuType(),
                slots,
                node.rack(),
                node.preemptible(),
                node.pricePerHour()));
      }
    }
    return new Snapshot(
        Instant.EPOCH.plus(Duration.ofDays(1)),
        now,
        jobs,
        Map.of("research", new Queue("research", 3), "night", new Queue("night", 0.5)));
  }

  private JobState job(String name) {
    JobSpec spec = spec(name);
    Allocation held = random.nextBoolean() ? place(spec) : Allocation.NONE;
    Optional<GoodputModel> model = random.nextInt(4) == 0 ? Optional.empty() : Optional.of(model());
    Duration rescale = Duration.ofMillis(random.nextInt(4) == 0 ? 0 : random.nextInt(120_000));
    return new JobState(
        spec,
        held,
        model,
        model.isEmpty() ? 0 : Math.max(1, held.replicas()),
        progress(),
        Duration.ofSeconds(random.nextInt(100_000)),
        random.nextInt(50_000),
        random.nextInt(5),
        rescale,
        rescale.multipliedBy(1 + random.nextInt(3)),
        Duration.ofSeconds(random.nextBoolean() ? random.nextInt(20) : random.nextInt(10_000)),
        random.nextInt(10) == 0,
        random.nextInt(10) == 0,
        Outlook.NONE,
        Optional.empty());
  }

  private JobSpec spec(String name) {
    SequencedMap<String, GpuTraits> byType = new LinkedHashMap<>();
    if (random.nextInt(3) == 0) {
      boolean pipeline = random.nextBoolean();
      for (String type : TYPES) {
        if (random.nextInt(3) > 0) {
          int each = pipeline ? 1 << random.nextInt(3) : 1;
          byType.put(type, new GpuTraits(limits(), each, random.nextInt(3) * 50));
        }
      }
    }
    String only = byType.isEmpty() && random.nextInt(5) == 0 ? TYPES.get(random.nextInt(3)) : "";
    Elasticity elasticity = elasticity();
    return new JobSpec(
            new JobId("test", name),
            Instant.EPOCH,
            "",
            elasticity,
            elasticity.min(),
            limits(),
            only,
            byType)
        .withSlotsPerReplica(random.nextInt(3) == 0 ? 1 << random.nextInt(4) : 1)
        .queued(List.of("", "research", "night").get(random.nextInt(3)), random.nextInt(-1, 3));
  }

  private BatchLimits limits() {
    int least = 1 << random.nextInt(4);
    return new BatchLimits(
        64, 64 << random.nextInt(6), least, least << random.nextInt(6), random.nextInt(5) > 0);
  }

  private Elasticity elasticity() {
    int min = 1 + random.nextInt(4);
    int max = min + random.nextInt(16);
    AllowedReplicas allowed =
        switch (random.nextInt(4)) {
          case 0 -> new AllowedReplicas.PowersOfTwo();
          case 1 -> new AllowedReplicas.Listed(List.of(max, min + (max - min) / 2));
          default -> new AllowedReplicas.Any();
        };
    return switch (random.nextInt(4)) {
      case 0 -> new Elasticity.Rigid(random.nextBoolean() ? min : max);
      case 1 -> new Elasticity.Elastic(min, max, allowed);
      default -> new Elasticity.Adaptive(min, max, allowed);
    };
  }

  private GoodputModel model() {
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    if (random.nextBoolean()) {
      params.put("", params());
    } else {
      params.put(TYPES.get(random.nextInt(3)), params());
      params.put(TYPES.get(random.nextInt(3)), params());
    }
    return new GoodputModel(
        params, new GradientStats(1, Math.exp(random.nextDouble() * 8 - 2), 64));
  }

  private ThroughputParams params() {
    double sync = Math.exp(random.nextDouble() * 6 - 6);
    return new ThroughputParams(
        0.01 + random.nextDouble() * 0.05,
        Math.exp(random.nextDouble() * 4 - 8),
        sync,
        sync * random.nextDouble() * 0.1,
        sync / 4,
        sync * random.nextDouble() * 0.02,
        1 + random.nextDouble() * 9);
  }

  private Optional<Progress> progress() {
    double done = Math.exp(random.nextDouble() * 10);
    return switch (random.nextInt(4)) {
      case 0 -> Optional.empty();
      case 1 -> Optional.of(new Progress((long) done, done, 0, 0, 0));
      default ->
          Optional.of(new Progress((long) done, done, done * (1 + 10 * random.nextDouble()), 0, 0));
    };
  }

  /** An allowed size, on nodes as they come: often not as tightly as it could be. */
  private Allocation place(JobSpec spec) {
    Elasticity elasticity = spec.elasticity();
    int replicas = random.nextInt(elasticity.min(), elasticity.max() + 1);
    String type = nodes.get(random.nextInt(nodes.size())).gpuType();
    if (!elasticity.allows(replicas) || !spec.runsOn(type)) {
      return Allocation.NONE;
    }
    int each = spec.slotsPerReplica(type);
    int left = replicas * each;
    SequencedMap<String, Integer> taken = new LinkedHashMap<>();
    for (int n = 0; n < free.length && left > 0; n++) {
      int here = Math.min(left, free[n] / each * each);
      if (here > 0 && nodes.get(n).gpuType().equals(type) && random.nextInt(4) > 0) {
        taken.put(nodes.get(n).name(), here);
        left -= here;
      }
    }
    if (left > 0) {
      return Allocation.NONE;
    }
    for (int n = 0; n < free.length; n++) {
      free[n] -= taken.getOrDefault(nodes.get(n).name(), 0);
    }
    return Allocation.ofSlots(taken, each);
  }
}
