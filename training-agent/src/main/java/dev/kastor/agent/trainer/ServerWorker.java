package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Runs;
import dev.kastor.agent.servers.ShardPlan;
import dev.kastor.agent.servers.Wire;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaState.Doing;
import dev.kastor.protocol.ReplicaState.Phase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Worker of parameter servers: it takes a share of examples, reads the parameters, computes the
 * gradient and pushes it, until the job or its part in it ends. It has no state of the job.
 */
public final class ServerWorker implements Training {
  private static final Logger log = LoggerFactory.getLogger(ServerWorker.class);

  private final Surroundings around;
  private final ServerPlan plan;
  private final Trainable model;
  private final MembershipClient memberships;
  private final Generations generations;
  private final ShardPlan shards;
  private final ExampleStream examples;
  private final float[] gradient;

  /** Elements of one shard that go to a server or come from it. */
  private final float[] packed;

  private final float[] statistics;
  private final Passes passes;
  private final Set<Integer> warm = new HashSet<>();

  /** Whether the operator knows how our start ended. */
  private boolean started;

  private long stateNanos;
  private long joinedNanos;

  /**
   * A worker.
   *
   * @param model closed by its owner
   * @param optimizer of the servers, on which their shards depend
   */
  public ServerWorker(
      Surroundings around, TrainingSettings settings, Trainable model, Optimizer optimizer) {
    this.around = around;
    this.plan =
        settings
            .method()
            .servers()
            .orElseThrow(() -> new IllegalArgumentException("the job has no parameter servers"));
    this.model = model;
    this.memberships = around.memberships();
    this.generations =
        new Generations(
            memberships, listed -> rank(listed).isPresent(), ServerTrainer.complete(plan));
    this.shards = ShardPlan.of(model.layout(), optimizer, plan.servers());
    this.examples = new ExampleStream(model, settings);
    this.gradient = new float[model.parameters().length];
    this.packed =
        new float[IntStream.range(0, shards.shards()).map(shards::elements).max().orElse(0)];
    this.statistics = new float[model.statistics().length];
    this.passes = new Passes(model, examples, gradient, statistics);
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    if (warm.add(atomicBatchSize)) {
      model.warmUp(atomicBatchSize);
    }
  }

  @Override
  public void saveSoon() {}

  @Override
  public Outcome run() throws IOException, InterruptedException {
    memberships.moved(0, Phase.READY);
    while (true) {
      Membership target = generations.next();
      OptionalInt rank = rank(target);
      if (target.action() == Action.STOP) {
        return ended(Outcome.Kind.STOPPED, "stopped; the servers save what there is to save");
      }
      if (target.action() == Action.LEAVE || rank.isEmpty()) {
        return left();
      }
      warmUp(target.batchPlan().atomicBatchSize());
      generations.entered(target.generation());
      List<Wire> wires = new ArrayList<>();
      try {
        connect(target, rank.getAsInt(), wires);
        memberships.moved(target.generation(), Phase.TRAINING);
        Optional<Outcome> outcome = work(wires);
        if (outcome.isPresent()) {
          return outcome.get();
        }
        // Servers that lost each other begin the same generation again.
        generations.broke(target.generation());
      } catch (RingBrokenException e) {
        if (generations.newest() > target.generation()) {
          // The servers do not wait for the end of a share that will not count.
          log.debug("{}: generation {} is over", around.job(), target.generation());
        } else {
          log.warn("{}: generation {}: {}", around.job(), target.generation(), e.getMessage());
        }
        // No phase BROKEN: that would make the operator wonder who of the other workers is silent.
        generations.broke(target.generation());
      } finally {
        memberships.waiting(true);
        wires.forEach(Wire::close);
      }
    }
  }

  private void connect(Membership target, int rank, List<Wire> wires) throws IOException {
    long generation = target.generation();
    around.listener().refuseBelow(generation);
    List<InetSocketAddress> servers = Addresses.servers(target);
    around.listener().expect(servers);
    PeerLink.Place place =
        new PeerLink.Place(
            around.listener(),
            generation,
            new PeerLink.End(false, rank),
            around.limits(),
            () -> generations.newest() > generation);
    for (int server = 0; server < servers.size(); server++) {
      PeerLink.End end = new PeerLink.End(true, server);
      wires.add(new Wire(PeerLink.connect(place, end, servers.get(server))));
    }
    joinedNanos = System.nanoTime();
  }

  /** Does what server 0 says; empty if the generation is over. */
  private Optional<Outcome> work(List<Wire> wires) throws IOException {
    Wire first = wires.getFirst();
    long version = -1;
    while (true) {
      Optional<Membership> newer = generations.newer();
      if (newer.isPresent() && newer.get().action() != Action.STOP && rank(newer.get()).isEmpty()) {
        return Optional.of(left());
      }
      memberships.waiting(true);
      first.send(new Message.Ask());
      Message told = first.receive();
      memberships.waiting(false);
      switch (told) {
        case Message.Deal deal -> {
          Passes.Place share = share(first, deal);
          List<Touched> touched = model.touched(examples.take(share));
          List<Runs> runs = runs(touched);
          // A version of some rows is none of the others.
          boolean all = touched.isEmpty();
          if (!all || version != deal.update() || plan.asynchronous()) {
            version = pull(wires, runs, false);
          }
          // Else other workers completed the step meanwhile.
          if (plan.asynchronous() || version == deal.update()) {
            compute(wires, deal, share, runs, version);
          }
          version = all ? version : -1;
        }
        case Message.Evaluate _ -> {
          version = pull(wires, runs(List.of()), true);
          memberships.doing(Doing.EVALUATE);
          Trainable.Metric metric = model.evaluate();
          memberships.doing(Doing.TRAIN);
          first.send(new Message.Evaluated(metric.name(), metric.value(), metric.higherIsBetter()));
        }
        case Message.Move _ -> {
          return Optional.empty();
        }
        case Message.End(String outcome) -> {
          return Optional.of(
              WireJson.read(outcome.getBytes(StandardCharsets.UTF_8), Outcome.class));
        }
        case Message other -> throw first.unexpected(other);
      }
    }
  }

  /** Runs that are read of each shard. */
  private List<Runs> runs(List<Touched> touched) {
    return IntStream.range(0, shards.shards())
        .mapToObj(server -> Runs.of(shards, server, touched))
        .toList();
  }

  /** Reads parameters from all servers; the updates that the oldest of their shards has. */
  private long pull(List<Wire> wires, List<Runs> runs, boolean running) throws RingBrokenException {
    long start = System.nanoTime();
    for (int server = 0; server < wires.size(); server++) {
      wires.get(server).send(new Message.Pull(running && server == 0, runs.get(server)));
    }
    float[] parameters = model.parameters();
    long oldest = Long.MAX_VALUE;
    for (int server = 0; server < wires.size(); server++) {
      Wire wire = wires.get(server);
      oldest = Math.min(oldest, wire.receive(Message.Version.class).updates());
      wire.link().receive(packed, 0, runs.get(server).elements());
      runs.get(server).scatter(packed, parameters, shards.from(server));
      if (running && server == 0) {
        float[] target = model.statistics();
        wire.link().receive(target, 0, target.length);
      }
    }
    memberships.stepped(oldest);
    if (stateNanos == 0) {
      stateNanos = System.nanoTime() - start;
    }
    return oldest;
  }

  private void compute(
      List<Wire> wires, Message.Deal deal, Passes.Place share, List<Runs> runs, long read)
      throws IOException {
    long start = System.nanoTime();
    Passes.Ran ran = passes.run(share, null, new float[0], _ -> {});
    double seconds = (System.nanoTime() - start) * 1e-9;
    Wire first = wires.getFirst();
    first.send(new Message.Offer(deal.share()));
    if (!first.receive(Message.Answer.class).yes()) {
      return;
    }
    Message.Passed passed =
        new Message.Passed(
            ran.loss(),
            ran.squaredNorms(),
            ran.trained().count(),
            ran.trained().sum(),
            seconds / share.passes(),
            ran.finite());
    // Server 0 comes last: what it has counts, and then the others must have it, too.
    for (int server = 1; server < wires.size(); server++) {
      push(wires, server, new Message.Push(deal.share(), read, passed, runs.get(server)));
    }
    for (int server = 1; server < wires.size(); server++) {
      wires.get(server).receive(Message.Answer.class);
    }
    push(wires, 0, new Message.Push(deal.share(), read, passed, runs.getFirst()));
    first.link().send(statistics, 0, statistics.length);
    if (!started) {
      started = true;
      memberships.started(
          ReplicaStart.measured(
              ReplicaStart.Source.PEERS, stateNanos, System.nanoTime() - joinedNanos));
    }
  }

  private void push(List<Wire> wires, int server, Message.Push push) throws RingBrokenException {
    push.runs().gather(gradient, shards.from(server), packed);
    Wire wire = wires.get(server);
    wire.send(push);
    wire.link().send(packed, 0, push.runs().elements());
  }

  /** The passes of a share, whose examples are the next from here on. */
  private Passes.Place share(Wire first, Message.Deal deal) throws RingBrokenException {
    try {
      if (deal.first() < 0) {
        throw new IllegalArgumentException("its examples begin before the first");
      }
      examples.at(deal.first());
      BatchPlan batch = new BatchPlan(deal.atomicBatchSize(), deal.accumulationSteps());
      return new Passes.Place(batch, 1, 0, 0);
    } catch (IllegalArgumentException e) {
      throw first.link().refuse("a share that cannot be: " + e.getMessage());
    }
  }

  private static Outcome left() {
    return ended(Outcome.Kind.LEFT, "no longer a member");
  }

  private static Outcome ended(Outcome.Kind kind, String message) {
    return new Outcome(kind, null, null, null, 0, message);
  }

  private OptionalInt rank(Membership membership) {
    return membership.members().stream()
        .filter(member -> member.pod().equals(around.pod()))
        .mapToInt(Member::rank)
        .findFirst();
  }

  @Override
  public void close() {}
}
