package dev.kastor.agent.trainer;

import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.ShardPlan;
import dev.kastor.agent.servers.Wire;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaState.Phase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Server 0: it alone has the job's progress and its place in the sequence of examples, deals shares
 * to workers, says which results make the next update, saves checkpoints and reports.
 *
 * <p>Between two updates the state is whole. Where updates are asynchronous, examples behind a
 * missing share may have been trained by then: before a checkpoint no more shares are dealt until
 * none is missing. One thread owns it but for what workers do.
 */
final class CoordinatorRole implements ServerRole {
  private static final Logger log = LoggerFactory.getLogger(CoordinatorRole.class);
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration MOVE_LIMIT = Duration.ofSeconds(1);
  private static final Duration END_LIMIT = Duration.ofSeconds(30);

  private final Surroundings around;
  private final String job;
  private final TrainingSettings settings;
  private final ServerPlan plan;
  private final ShardPlan shards;
  private final Shard own;
  private final Generations generations;
  private final ServedModel served;
  private final Replica replica;
  private final UpdateReports reports;
  private final Checkpoints checkpoints;
  private final Evaluations evaluations;
  private final Endings endings;
  private final Beginning beginning;
  private volatile boolean saveSoon;

  /** Null while we have no state, or one of no use. */
  private @Nullable Desk desk;

  /** Number of the start that the state of all shards comes from; 0 where they may differ. */
  private long line;

  private boolean draining;
  private long droppedBefore;
  private volatile boolean broke;
  private long lastSaveNanos = System.nanoTime();

  CoordinatorRole(
      Surroundings around,
      TrainingSettings settings,
      ServerPlan plan,
      Trainable model,
      Optimizer optimizer,
      ShardPlan shards,
      Shard own,
      Generations generations) {
    this.around = around;
    this.job = around.job();
    this.settings = settings;
    this.plan = plan;
    this.shards = shards;
    this.own = own;
    this.generations = generations;
    this.served = new ServedModel(model, shards, own, this::evaluate, this::saveSoon);
    this.replica = new Replica(served, optimizer, settings);
    this.reports = new UpdateReports(around.telemetry(), replica, new ColdReplicas(around.cold()));
    this.checkpoints =
        new Checkpoints(
            job,
            around.checkpoints(),
            replica.state().forms(),
            around.telemetry()::saved,
            around.telemetry()::unsaved);
    this.evaluations =
        new Evaluations(around, replica, new EvaluationPace(settings.evaluationInterval()));
    this.endings = new Endings(around, replica, checkpoints, evaluations);
    this.beginning = new Beginning(job, replica, checkpoints, around.warmStart());
  }

  @Override
  public void saveSoon() {
    saveSoon = true;
  }

  @Override
  public Optional<Outcome> serve(Membership membership, PeerLink.Place place)
      throws IOException, InterruptedException {
    List<Wire> others = new ArrayList<>();
    try {
      List<InetSocketAddress> servers = Addresses.servers(membership);
      for (int server = 1; server < servers.size(); server++) {
        PeerLink.End end = new PeerLink.End(true, server);
        others.add(
            new Wire(PeerLink.accept(place, end, servers.get(server), place.limits().connect())));
      }
      served.reach(others);
      agree(others);
      return train(membership, place, others);
    } catch (UncheckedIOException e) {
      broke = true;
      if (e.getCause() instanceof RingBrokenException broken) {
        throw broken;
      }
      throw e;
    } catch (RingBrokenException e) {
      broke = true;
      throw e;
    } finally {
      served.reach(List.of());
      others.forEach(Wire::close);
    }
  }

  /** All servers come to the same state: what they have, or else the newest checkpoint. */
  private void agree(List<Wire> others) throws IOException {
    boolean same = line != 0;
    for (Wire other : others) {
      Message.Hello has = other.receive(Message.Hello.class);
      same &= has.line() == line && has.updates() == own.version();
    }
    if (same) {
      for (Wire other : others) {
        other.send(new Message.Answer(true));
      }
      return;
    }
    line = 0;
    if (desk != null) {
      droppedBefore += desk.dropped();
      desk = null;
    }
    load();
    long next = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    served.distribute(next, replica.step());
    line = next;
  }

  private void load() throws IOException {
    served.abandon();
    Optional<CheckpointStore.Loaded> newest = beginning.newest();
    if (newest.isPresent()) {
      replica.restore(newest.get().state());
      log.info("{}: starts from the checkpoint of step {}", job, replica.step());
    } else if (replica.hasState()) {
      throw new IOException(
          "a server was lost, and the checkpoint that there was to go back to is gone");
    } else {
      replica.startFresh();
      log.info("{}: starts from the initial parameters", job);
      if (shards.shards() > 1) {
        // What the others have is lost with one of them: then all begin here again.
        checkpoints.save(replica.state());
      }
    }
  }

  private Optional<Outcome> train(Membership membership, PeerLink.Place place, List<Wire> others)
      throws IOException, InterruptedException {
    int workers = membership.members().size();
    BatchPlan batch = membership.batchPlan();
    Desk now = desk;
    if (now == null) {
      long position = replica.progress().examples();
      now = new Desk(plan, workers, batch, replica.step(), position, System::nanoTime);
      desk = now;
      draining = false;
    }
    now.moved(workers, batch);
    around.memberships().stepped(replica.step());
    around.memberships().moved(membership.generation(), Phase.TRAINING);
    reports.began(membership, broke);
    broke = false;
    Desk of = now;
    try (Workers _ =
        Workers.open(
            job,
            place,
            Addresses.members(membership),
            new DeskService(
                of, own, served, () -> broke |= generations.newest() <= membership.generation()))) {
      try {
        return train(of, membership, others);
      } finally {
        of.release();
      }
    }
  }

  private Optional<Outcome> train(Desk at, Membership membership, List<Wire> others)
      throws IOException, InterruptedException {
    int workers = membership.members().size();
    boolean usual = false;
    long again = -1;
    while (true) {
      List<Desk.Arrived> results;
      try {
        results = replica.done() && !draining ? List.of() : await(at);
      } catch (DivergedException e) {
        return Optional.of(ended(at, others, diverged(e)));
      }
      // Results may be those of workers of the generation before.
      int connected = at.connected();
      if (connected > 0 && (!results.isEmpty() || connected == workers)) {
        reports
            .joined()
            .ifPresent(change ->
                log.info("{}: {}", job, ElasticTrainer.told(change, membership.batchPlan())));
      }
      if (!results.isEmpty()) {
        long step = replica.step();
        try {
          usual = update(at, results, usual);
        } catch (DivergedException e) {
          if (plan.asynchronous() || again == step) {
            return Optional.of(
                ended(
                    at,
                    others,
                    uncounted(endings.ended(Outcome.Kind.FAILED, String.valueOf(e.getMessage())))));
          }
          again = step;
          log.warn("{}: step {} is taken again: its gradient is not finite", job, again);
          at.restart();
        }
      }
      Optional<Membership> newer = generations.newer();
      Action action = newer.map(Membership::action).orElse(Action.WAIT);
      if (action == Action.LEAVE) {
        saveBeforeLeaving();
        return Optional.of(new Outcome(Outcome.Kind.LEFT, null, null, null, 0, "no longer needed"));
      }
      boolean stop = action == Action.STOP;
      boolean due = isSaveDue();
      if (plan.asynchronous() && !draining && (stop || due || replica.done())) {
        draining = true;
        at.drain();
      }
      if (!plan.asynchronous() || (draining && at.isDrained())) {
        // Where nobody is there to evaluate, the workers of the next generation will be.
        if (replica.done() && !(action == Action.RUN && at.connected() == 0)) {
          Outcome outcome = endings.completed();
          // First, as workers may be told late: until then the operator would replace those that
          // end.
          endings.report(outcome);
          return Optional.of(ended(at, others, outcome));
        }
        if (stop) {
          checkpoints.save(replica.state());
          return Optional.of(ended(at, others, endings.stopped()));
        }
        if (due) {
          saveSoon = false;
          lastSaveNanos = System.nanoTime();
          checkpoints.saveInBackground(replica.state());
          reports.paused();
          usual = false;
        }
        if (draining) {
          draining = false;
          at.resume();
        }
      } else if (stop && at.connected() == 0) {
        // Nobody is left for the shares that are missing.
        return Optional.of(ended(at, others, unsaved()));
      }
      boolean between = plan.asynchronous() || !results.isEmpty() || at.connected() == 0;
      if (action == Action.RUN && between) {
        if (newer.filter(each -> ServerTrainer.lists(each, 0, around.pod())).isEmpty()) {
          saveBeforeLeaving();
        }
        at.tell(new Message.Move(), false, MOVE_LIMIT);
        for (Wire other : others) {
          other.send(new Message.Move());
        }
        return Optional.empty();
      }
    }
  }

  /**
   * Another server 0 goes on from here, unless it has loaded a checkpoint already. Where updates
   * are asynchronous, shares may be missing: then it goes on from the checkpoint before.
   */
  private void saveBeforeLeaving() throws IOException {
    if (!plan.asynchronous()) {
      checkpoints.save(replica.state());
    }
  }

  private List<Desk.Arrived> await(Desk at) throws InterruptedException, DivergedException {
    // Whoever does not say so is the first suspect where training hangs.
    around.memberships().waiting(true);
    List<Desk.Arrived> results = at.await(TICK);
    around.memberships().waiting(results.isEmpty());
    return results;
  }

  private boolean isSaveDue() {
    if (checkpoints.isSaving()) {
      // What is asked for now is saved after that; the state need not be collected before.
      return false;
    }
    return saveSoon || System.nanoTime() - lastSaveNanos >= settings.checkpointInterval().toNanos();
  }

  /** Tells all how training ended. */
  private Outcome ended(Desk at, List<Wire> others, Outcome outcome)
      throws InterruptedException, RingBrokenException {
    Message.End end = new Message.End(json(outcome));
    at.tell(end, true, END_LIMIT);
    for (Wire other : others) {
      other.send(end);
    }
    return outcome;
  }

  private Outcome diverged(DivergedException why) throws InterruptedException {
    log.error("{}: {}", job, why.getMessage());
    Outcome outcome =
        uncounted(endings.ended(Outcome.Kind.FAILED_PERMANENTLY, String.valueOf(why.getMessage())));
    endings.report(outcome);
    return outcome;
  }

  /** Stopped where the newest checkpoint is what there is. */
  private Outcome unsaved() throws IOException {
    OptionalLong newest = checkpoints.newestStep();
    return uncounted(
        endings.ended(
            Outcome.Kind.STOPPED,
            "stopped at step %d without a checkpoint of it; %s"
                .formatted(
                    replica.step(),
                    newest.isPresent()
                        ? "the newest is of step " + newest.getAsLong()
                        : "there is none")));
  }

  /**
   * Where shares are missing, examples behind them have been trained: those are neither lost nor
   * repeated, as no checkpoint has them.
   */
  private Outcome uncounted(Outcome outcome) {
    Desk now = desk;
    return !plan.asynchronous() || now == null || now.isDrained()
        ? outcome
        : new Outcome(outcome.kind(), outcome.progress(), null, null, 0, outcome.message());
  }

  private static String json(Outcome outcome) {
    return new String(WireJson.write(outcome), StandardCharsets.UTF_8);
  }

  /**
   * Applies an update.
   *
   * @param usual whether the time since the last one says what one costs
   * @return the same for the next one
   */
  private boolean update(Desk at, List<Desk.Arrived> results, boolean usual)
      throws DivergedException {
    BatchPlan batch = results.getFirst().batch();
    long version = own.version();
    replica.begin();
    served.reduce(
        results.stream().map(each -> new Shard.Slice(each.share(), each.rank())).toList());
    served.dropBelow(at.below(results));
    float[] statistics = replica.batchStatistics();
    List<LocalStep> locals = new ArrayList<>();
    for (Desk.Arrived each : results) {
      if (locals.isEmpty()) {
        System.arraycopy(each.statistics(), 0, statistics, 0, statistics.length);
      } else {
        Vectors.add(each.statistics(), statistics, 0, statistics.length);
      }
      locals.add(local(each.passed()));
    }
    long before = line;
    // Should another server be lost now, nobody knows which of them have applied the update.
    line = 0;
    double loss;
    try {
      loss = replica.apply(locals, batch);
    } catch (DivergedException e) {
      line = before;
      throw e;
    }
    line = before;
    at.applied(results);
    around.memberships().stepped(replica.step());
    double pass = locals.stream().mapToDouble(LocalStep::passSeconds).max().orElse(0);
    reports.dropped(droppedBefore + at.dropped());
    if (plan.asynchronous()) {
      reports.stale(version - results.getFirst().read());
    }
    double seconds = reports.updated(results, pass, usual, loss);
    evaluations.stepped(seconds);
    if (!replica.done()
        && at.connected() > 0
        && evaluations.whenDue(pass / batch.atomicBatchSize())) {
      reports.paused();
      return false;
    }
    return true;
  }

  private static LocalStep local(Message.Passed passed) {
    AuditDigest trained = new AuditDigest(passed.examples(), passed.digest());
    return new LocalStep(
        passed.loss(),
        passed.squaredNorms(),
        trained,
        trained,
        passed.passSeconds(),
        passed.finite());
  }

  /** A worker evaluates; where none comes, this process does, which may take long on a CPU. */
  private Trainable.Metric evaluate() {
    try {
      Desk now = desk;
      around.memberships().waiting(true);
      Optional<Trainable.Metric> told =
          now == null
              ? Optional.empty()
              : now.evaluate(around.limits().connect(), () -> generations.newer().isPresent());
      around.memberships().waiting(false);
      return told.orElseGet(served::evaluateHere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new RingBrokenException("interrupted", e));
    }
  }

  @Override
  public Outcome stopAlone() throws IOException {
    if (plan.asynchronous() || !served.isReachable() || line == 0) {
      // What is here may lack examples or a part.
      return unsaved();
    }
    return endings.stopAlone();
  }

  @Override
  public void close() {
    checkpoints.close();
  }
}
