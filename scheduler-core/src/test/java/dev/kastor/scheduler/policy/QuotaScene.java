package dev.kastor.scheduler.policy;

import static dev.kastor.scheduler.model.TestJob.job;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.policy.support.FreeSlots;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A snapshot drawn from a seed whose queues have quotas: some in cohorts, some limited in what they
 * borrow and lend, some held, and jobs that hold more than they may, pinned ones among them.
 */
final class QuotaScene {
  private QuotaScene() {}

  static Snapshot of(long seed) {
    return of(seed, List.of(1));
  }

  /** The same with jobs whose replicas take one slot or several. */
  static Snapshot ofSizes(long seed) {
    return of(seed, List.of(1, 2, 4, 8));
  }

  private static Snapshot of(long seed, List<Integer> sizes) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Node> nodes = new ArrayList<>();
    int each = 1 + random.nextInt(8);
    for (int n = random.nextInt(6); n >= 0; n--) {
      nodes.add(new Node("node-%02d".formatted(n), random.nextInt(3) == 0 ? "b" : "a", each));
    }
    Map<String, Queue> queues = new TreeMap<>();
    for (int q = random.nextInt(5); q >= 0; q--) {
      Queue queue = queue("q" + q, random);
      queues.put(queue.name(), queue);
    }
    FreeSlots free = new FreeSlots(nodes);
    List<JobState> jobs = new ArrayList<>();
    for (int j = random.nextInt(16); j >= 0; j--) {
      int size = sizes.size() == 1 ? 1 : sizes.get(random.nextInt(sizes.size()));
      jobs.add(one(jobs.size(), size, queues.size(), free, random));
    }
    return new Snapshot(Instant.EPOCH.plus(Duration.ofHours(1)), nodes, jobs, queues);
  }

  private static Queue queue(String name, SplittableRandom random) {
    StopPolicy stop =
        switch (random.nextInt(12)) {
          case 0 -> StopPolicy.HOLD;
          case 1 -> StopPolicy.HOLD_AND_DRAIN;
          default -> StopPolicy.NONE;
        };
    if (random.nextInt(6) == 0) {
      return new Queue(name, 1 + random.nextInt(3), "", Optional.empty(), stop);
    }
    Quota quota =
        new Quota(
            random.nextInt(12),
            random.nextBoolean() ? Quota.UNLIMITED : random.nextInt(6),
            random.nextBoolean() ? Quota.UNLIMITED : random.nextInt(6));
    String cohort = List.of("", "red", "red", "blue").get(random.nextInt(4));
    return new Queue(name, 1 + random.nextInt(3), cohort, Optional.of(quota), stop);
  }

  private static JobState one(
      int index, int slotsPerReplica, int queues, FreeSlots free, SplittableRandom random) {
    int min = 1 + random.nextInt(3);
    int max = min + random.nextInt(8);
    Elasticity elasticity =
        switch (random.nextInt(4)) {
          case 0 -> new Elasticity.Rigid(max);
          case 1 -> new Elasticity.Elastic(min, max, new AllowedReplicas.Any());
          case 2 -> new Elasticity.Adaptive(1, 8, new AllowedReplicas.PowersOfTwo());
          default -> new Elasticity.Adaptive(min, max, new AllowedReplicas.Any());
        };
    TestJob job =
        job("job-%03d".formatted(index))
            .elasticity(elasticity)
            .slotsPerReplica(slotsPerReplica)
            .queue(random.nextInt(8) == 0 ? "" : "q" + random.nextInt(queues))
            .attainedService(random.nextInt(10_000))
            .sinceChange(Duration.ofSeconds(random.nextInt(100)))
            .rescaleCost(Duration.ofMillis(random.nextInt(30_000)))
            .unsaved(Duration.ofSeconds(random.nextInt(600)));
    if (random.nextInt(3) > 0) {
      job.model(random.nextBoolean() ? TestJob.SCALABLE : TestJob.STUBBORN, elasticity.min());
    }
    if (random.nextInt(3) > 0) {
      int size =
          elasticity instanceof Elasticity.Rigid ? max : elasticity.min() + random.nextInt(4);
      if (elasticity.allows(size)) {
        free.place(job.build().spec(), size).ifPresent(job::on);
      }
    }
    if (!job.build().allocation().isEmpty() && random.nextInt(8) == 0) {
      job.pinned();
    }
    return job.build();
  }

  /** Ten minutes later, when a plan has been carried out. */
  static Snapshot after(Snapshot before, Plan plan) {
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : before.jobs()) {
      Allocation given = plan.allocation(job.id());
      Duration held =
          given.equals(job.allocation())
              ? job.sinceChange().plusSeconds(600)
              : Duration.ofMinutes(9);
      jobs.add(
          new JobState(
              job.spec(),
              given,
              job.model(),
              Math.max(job.maxProfiledReplicas(), given.replicas()),
              job.progress(),
              job.age().plusSeconds(600),
              job.attainedService() + 600.0 * given.slots(),
              job.restarts(),
              job.rescaleCost(),
              job.restartCost(),
              job.startCost(),
              held,
              job.unsaved(),
              job.pinned(),
              job.restarting(),
              job.outlook(),
              job.foresight()));
    }
    return new Snapshot(before.now().plusSeconds(600), before.nodes(), jobs, before.queues());
  }
}
