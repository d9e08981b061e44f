package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.ShardPlan;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaState.Phase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parameter server of a job whose workers come, go and die, until the job ends.
 *
 * <p>Server 0 has progress, deals shares and saves checkpoints; each server has a shard. When a
 * server is lost, those that are left wait for another in its place; what they have counts only if
 * all have the state of the same update, else all go back to the newest checkpoint.
 */
public final class ServerTrainer implements Training {
  private static final Logger log = LoggerFactory.getLogger(ServerTrainer.class);

  private final Surroundings around;
  private final int index;
  private final MembershipClient memberships;
  private final Generations generations;
  private final ServerRole role;

  /**
   * A server with parameters that have not been trained yet.
   *
   * @param index of the server
   * @param model closed by its owner
   * @throws ProgramException if the optimizer's vectors cannot be sharded
   */
  public ServerTrainer(
      Surroundings around,
      TrainingSettings settings,
      Trainable model,
      Optimizer optimizer,
      int index)
      throws ProgramException {
    this.around = around;
    this.index = index;
    this.memberships = around.memberships();
    ServerPlan plan =
        settings
            .method()
            .servers()
            .orElseThrow(() -> new IllegalArgumentException("the job has no parameter servers"));
    if (index >= plan.servers()) {
      throw new IllegalArgumentException(
          "server %d of %d, which are numbered from 0".formatted(index, plan.servers()));
    }
    checkOptimizer(plan, optimizer, model.layout());
    this.generations = new Generations(memberships, this::lists, complete(plan));
    ShardPlan shards = ShardPlan.of(model.layout(), optimizer, plan.servers());
    Shard shard = new Shard(shards.layout(index), optimizer);
    this.role =
        index == 0
            ? new CoordinatorRole(
                around, settings, plan, model, optimizer, shards, shard, generations)
            : new ShardRole(around, shard);
  }

  /** Throws if the optimizer's vectors cannot be sharded as they have to be. */
  static void checkOptimizer(ServerPlan plan, Optimizer optimizer, Layout layout)
      throws ProgramException {
    if (plan.servers() > 1 && !Shard.fits(optimizer, layout)) {
      throw new ProgramException(
          "optimizer %s has vectors that cannot be sharded as the parameters are. Set servers: 1."
              .formatted(optimizer.name()));
    }
  }

  /** A generation can begin once all servers are there. */
  static Predicate<Membership> complete(ServerPlan plan) {
    return membership ->
        membership.action() != Action.RUN || membership.serversOrNone().size() == plan.servers();
  }

  private boolean lists(Membership membership) {
    return lists(membership, index, around.pod());
  }

  /** Whether a pod is a server of a generation. */
  static boolean lists(Membership membership, int index, String pod) {
    return membership.serversOrNone().stream()
        .anyMatch(server -> server.index() == index && server.pod().equals(pod));
  }

  @Override
  public void warmUp(int atomicBatchSize) {}

  @Override
  public void saveSoon() {
    role.saveSoon();
  }

  @Override
  public Outcome run() throws IOException, InterruptedException {
    memberships.moved(0, Phase.READY);
    while (true) {
      Membership target = generations.next();
      if (target.action() == Action.STOP) {
        return role.stopAlone();
      }
      if (target.action() == Action.LEAVE || !lists(target)) {
        return new Outcome(Outcome.Kind.LEFT, null, null, null, 0, "no longer a server");
      }
      try {
        generations.entered(target.generation());
        Optional<Outcome> outcome = role.serve(target, place(target));
        if (outcome.isPresent()) {
          return outcome.get();
        }
      } catch (WarmStartException e) {
        return new Outcome(
            Outcome.Kind.FAILED_PERMANENTLY, null, null, null, 0, String.valueOf(e.getMessage()));
      } catch (RingBrokenException e) {
        log.warn("{}: generation {}: {}", around.job(), target.generation(), e.getMessage());
        generations.broke(target.generation());
      }
    }
  }

  private PeerLink.Place place(Membership target) throws RingBrokenException {
    around.listener().refuseBelow(target.generation());
    List<InetSocketAddress> all = new ArrayList<>(Addresses.members(target));
    all.addAll(Addresses.servers(target));
    around.listener().expect(all);
    return new PeerLink.Place(
        around.listener(),
        target.generation(),
        new PeerLink.End(true, index),
        around.limits(),
        () -> generations.newest() > target.generation());
  }

  @Override
  public void close() {
    role.close();
  }
}
