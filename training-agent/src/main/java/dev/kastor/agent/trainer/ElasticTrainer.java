package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.telemetry.StepSample;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.agent.telemetry.TrainingStatus;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaState.Phase;
import dev.kastor.protocol.Switch;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Trains as one replica of a job whose members come, go and die, until the job or its part in it
 * ends.
 *
 * <p>Data-parallel synchronous steps: each replica passes its share of the global batch, the ring
 * sums, and only then does every replica apply the same update. The exchange before each update
 * carries the newest generation that a replica knows; when all know the same, they switch to it
 * right after that step. A broken ring costs the step in progress and nothing else. Now and then
 * the members compare their states before they apply a step: see {@link Comparison}. Where a job
 * has a sync policy, all of this is true of its rounds of local steps.
 */
public final class ElasticTrainer implements Training {
  private static final Logger log = LoggerFactory.getLogger(ElasticTrainer.class);

  private final String job;
  private final String pod;
  private final TrainingSettings settings;
  private final Replica replica;
  private final MembershipClient memberships;
  private final TelemetryClient telemetry;
  private final Checkpoints checkpoints;
  private final Comparison comparison;
  private final GenerationJoiner joiner;
  private final Exchanges exchanges;
  private final RingSteps steps;
  private final History history;
  private final Set<Integer> warm = new HashSet<>();
  private final ColdReplicas cold;
  private final Evaluations evaluations;
  private final Endings endings;

  private final Generations generations;

  private volatile boolean saveSoon;

  /** What we know beyond the generation we are in, and told the others with our last step. */
  private Optional<Membership> ready = Optional.empty();

  private long lastSaveNanos = System.nanoTime();

  /**
   * A trainer of a model that has not been trained yet.
   *
   * @param model closed by its owner
   */
  public ElasticTrainer(
      Surroundings around, TrainingSettings settings, Trainable model, Optimizer optimizer) {
    this.job = around.job();
    this.pod = around.pod();
    this.settings = settings;
    this.replica = new Replica(model, optimizer, settings);
    this.memberships = around.memberships();
    this.generations = new Generations(memberships, listed -> rank(listed).isPresent(), _ -> true);
    this.steps = new RingSteps(replica, RingSteps.Ear.of(memberships));
    this.exchanges = new Exchanges(settings, model.layout(), replica.gradient());
    this.telemetry = around.telemetry();
    this.cold = new ColdReplicas(around.cold());
    this.checkpoints =
        new Checkpoints(
            around.job(),
            around.checkpoints(),
            replica.state().forms(),
            around.telemetry()::saved,
            around.telemetry()::unsaved);
    this.history = new History();
    this.evaluations =
        new Evaluations(around, replica, new EvaluationPace(settings.evaluationInterval()));
    this.endings = new Endings(around, replica, checkpoints, evaluations);
    this.comparison = new Comparison(around.job(), settings.method().drift(), model.layout());
    this.joiner = new GenerationJoiner(around, replica, history, checkpoints, comparison);
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    if (warm.add(atomicBatchSize)) {
      replica.warmUp(atomicBatchSize);
    }
  }

  @Override
  public void saveSoon() {
    saveSoon = true;
  }

  @Override
  public Outcome run() throws IOException, InterruptedException {
    memberships.moved(0, Phase.READY);
    Optional<Membership> agreed = Optional.empty();
    while (true) {
      Membership target = agreed.isPresent() ? agreed.get() : generations.next();
      agreed = Optional.empty();
      OptionalInt rank = rank(target);
      if (target.action() == Action.STOP) {
        return endings.stopAlone();
      }
      if (target.action() == Action.LEAVE || rank.isEmpty()) {
        return endings.left();
      }
      history.called();
      warmUp(target.batchPlan().atomicBatchSize());
      try {
        GenerationJoiner.Joined joined =
            joiner.join(target, rank.getAsInt(), () -> generations.newest() > target.generation());
        try (Ring ring = joined.ring();
            Exchanges.OfGeneration exchange = exchanges.over(ring, nodes(target))) {
          generations.entered(target.generation());
          memberships.stepped(replica.step());
          memberships.moved(target.generation(), Phase.TRAINING);
          if (ring.rank() == 0) {
            log.info("{}: {}", job, told(joined.change(), target.batchPlan()));
            telemetry.switched(joined.change());
          }
          Result result = train(ring, exchange, target);
          switch (result) {
            case Ended ended -> {
              return ended.outcome();
            }
            case SwitchTo to -> agreed = Optional.of(to.membership());
          }
        }
      } catch (WarmStartException e) {
        return endings.ended(Outcome.Kind.FAILED_PERMANENTLY, String.valueOf(e.getMessage()));
      } catch (DriftException e) {
        return endings.differ(rank.getAsInt(), e);
      } catch (RingBrokenException e) {
        memberships.waiting(false);
        log.warn("{}: generation {}: {}", job, target.generation(), e.getMessage());
        history.broke();
        generations.broke(target.generation());
        memberships.moved(generations.current(), Phase.BROKEN);
      }
    }
  }

  /** A change for whoever reads the log; the suite on a real Kubernetes reads it as well. */
  static String told(Switch change, BatchPlan batch) {
    int replicas = change.replicasAfter();
    return String.format(
        Locale.ROOT,
        "trains with %d %s (before: %d); %s, pause of %.1f ms; batch %d = %d x %d x %d",
        replicas,
        replicas == 1 ? "replica" : "replicas",
        change.replicasBefore(),
        change.cause().name().toLowerCase(Locale.ROOT),
        change.pauseSeconds() * 1000,
        batch.globalBatchSize(replicas),
        replicas,
        batch.atomicBatchSize(),
        batch.accumulationSteps() + 1);
  }

  /** How a generation ended for us. */
  private sealed interface Result {}

  private record Ended(Outcome outcome) implements Result {}

  private record SwitchTo(Membership membership) implements Result {}

  private Result train(Ring ring, Exchanges.OfGeneration exchange, Membership membership)
      throws IOException, InterruptedException {
    BatchPlan plan = membership.batchPlan();
    if (ring.rank() == 0) {
      telemetry.reached(status(ring, membership));
    }
    cold.joined(membership, System.nanoTime());
    boolean first = true;
    long again = -1;
    while (!replica.done()) {
      RingSteps.Exchanged exchanged =
          steps.take(ring, exchange, plan, this::ready, () -> compares(ring));
      List<StepHeader> all = exchanged.all();
      // Nothing of the step is applied yet, so the states are those that the last save has.
      if (all.getFirst().compares() && compare(ring, membership)) {
        continue;
      }
      long start = System.nanoTime();
      int finite = (int) all.stream().filter(each -> each.local().finite()).count();
      if (finite > 0 && finite < all.size()) {
        if (!all.get(ring.rank()).local().finite()) {
          return new Ended(endings.notFinite(finite));
        }
        throw new RingBrokenException(
            "%s at step %d, so the others take it again without"
                .formatted(StepHeader.unfit(membership, all), replica.step()));
      }
      double loss;
      try {
        loss = replica.apply(exchanged.locals(), plan);
      } catch (DivergedException e) {
        if (again == replica.step()) {
          return new Ended(endings.diverged(ring, e, finite > 0));
        }
        again = replica.step();
        log.warn("{}: step {} is taken again: its gradient is not finite", job, again);
        continue;
      }
      exchanged.exchange().commit();
      double applySeconds = (System.nanoTime() - start) * 1e-9;
      boolean evaluated = false;
      memberships.stepped(replica.step());
      history.stepped(ring.size()).ifPresent(memberships::started);
      boolean settled =
          all.stream().allMatch(each -> each.newestGeneration() == generations.current());
      if (ring.rank() == 0) {
        double pass = exchanged.passSeconds();
        telemetry.compared(
            membership.members().stream().map(Member::pod).toList(),
            all.stream().mapToDouble(each -> each.local().passSeconds()).toArray());
        boolean usual = settled && !first && cold.warm(System.nanoTime());
        telemetry.stepped(sample(exchanged, applySeconds, status(ring, membership), usual, loss));
        saveWhenDue();
        evaluations.stepped(exchanged.seconds() + applySeconds);
        evaluated = !replica.done() && evaluations.whenDue(pass / plan.atomicBatchSize());
      }
      // The first step after a change or an evaluation does not say what a step costs.
      first = evaluated;
      Optional<Membership> next = ready;
      if (next.isPresent()
          && !replica.done()
          && all.stream().allMatch(each -> each.newestGeneration() == exchanged.known())) {
        if (next.get().action() != Action.STOP) {
          // The members of the next generation compare before they train.
          return new SwitchTo(next.get());
        }
        compare(ring, membership);
        return new Ended(endings.stop(ring));
      }
    }
    compare(ring, membership);
    return new Ended(endings.complete(ring));
  }

  private boolean compares(Ring ring) {
    return ring.rank() == 0
        && ring.size() > 1
        && comparison.isDue(replica.step(), System.nanoTime());
  }

  /** See {@link GenerationJoiner#compare}. */
  private boolean compare(Ring ring, Membership membership) throws IOException {
    if (ring.size() == 1) {
      return false;
    }
    long known = generations.newest();
    memberships.waiting(true);
    boolean changed = joiner.compare(ring, membership, () -> generations.newest() > known);
    memberships.waiting(false);
    return changed;
  }

  /** A step as rank 0 saw it, or one of a round, to which its share of the exchange is counted. */
  private static StepSample sample(
      RingSteps.Exchanged exchanged,
      double applySeconds,
      TrainingStatus status,
      boolean usual,
      double loss) {
    int steps = exchanged.steps();
    double pass = exchanged.passSeconds();
    double passes = pass * (status.batch().accumulationSteps() + 1);
    double sync = Math.max(0, exchanged.seconds() / steps - passes);
    double compute = pass + applySeconds / steps;
    return new StepSample(status, usual && compute > 0, steps, compute, sync, loss);
  }

  /** The newest generation that we are ready to switch to: the change is prepared. */
  private long ready() throws IOException {
    ready = generations.newer();
    if (ready.isPresent()) {
      prepare(ready.get());
    }
    return ready.map(Membership::generation).orElse(generations.current());
  }

  /** Pays what a change that is coming would cost the others while they waited for us. */
  private void prepare(Membership next) throws IOException {
    if (next.action() == Action.RUN && rank(next).isPresent()) {
      warmUp(next.batchPlan().atomicBatchSize());
      joiner.expect(next);
    }
  }

  private TrainingStatus status(Ring ring, Membership membership) {
    List<Member> members = membership.members();
    int nodes = (int) members.stream().map(Member::node).distinct().count();
    return new TrainingStatus(
        generations.current(),
        nodes,
        Member.gpuType(members),
        ring.size(),
        membership.batchPlan(),
        replica.gradientStats(),
        replica.progress(),
        replica.learningRate());
  }

  private void saveWhenDue() {
    long now = System.nanoTime();
    boolean due = saveSoon || now - lastSaveNanos >= settings.checkpointInterval().toNanos();
    if (due && !checkpoints.isSaving()) {
      saveSoon = false;
      lastSaveNanos = now;
      checkpoints.saveInBackground(replica.state());
      comparison.saved();
    }
  }

  /** Nodes of the members, in rank order, which is that of the members. */
  private static List<String> nodes(Membership membership) {
    return membership.members().stream().map(Member::node).toList();
  }

  private OptionalInt rank(Membership membership) {
    return membership.members().stream()
        .filter(member -> member.pod().equals(pod))
        .mapToInt(Member::rank)
        .findFirst();
  }

  @Override
  public void close() {
    checkpoints.close();
  }
}
