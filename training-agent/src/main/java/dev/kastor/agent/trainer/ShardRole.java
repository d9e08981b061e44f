package dev.kastor.agent.trainer;

import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Runs;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.Wire;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaState.Phase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Server with a shard and nothing else: workers read it and push slices of gradients to it, and
 * server 0 says which of them make the next update.
 *
 * <p>One thread owns it but for what workers do.
 */
final class ShardRole implements ServerRole {
  private static final PeerLink.End FIRST = new PeerLink.End(true, 0);

  private final String job;
  private final Surroundings around;
  private final Shard shard;

  /** Number of the start that our state comes from; 0 without state, or with one of no use. */
  private long line;

  private volatile boolean saveSoon;

  ShardRole(Surroundings around, Shard shard) {
    this.job = around.job();
    this.around = around;
    this.shard = shard;
  }

  @Override
  public void saveSoon() {
    saveSoon = true;
  }

  @Override
  public Optional<Outcome> serve(Membership membership, PeerLink.Place place)
      throws IOException, InterruptedException {
    try (Wire first =
        new Wire(PeerLink.connect(place, FIRST, Addresses.servers(membership).getFirst()))) {
      agree(first);
      around.memberships().moved(membership.generation(), Phase.TRAINING);
      try (Workers _ = Workers.open(job, place, Addresses.members(membership), this::serveWorker)) {
        return obey(first);
      }
    }
  }

  private void agree(Wire first) throws RingBrokenException {
    first.send(new Message.Hello(line, shard.version()));
    switch (first.receive()) {
      case Message.Answer(boolean yes) when yes && line != 0 -> {}
      case Message.State(long from, long updates) -> {
        line = 0;
        for (float[] vector : shard.vectors()) {
          first.link().receive(vector, 0, vector.length);
        }
        shard.replaced(updates);
        line = from;
        first.send(new Message.Answer(true));
      }
      case Message other -> throw first.unexpected(other);
    }
  }

  /** Does what server 0 says, until it says that the generation or training is over. */
  private Optional<Outcome> obey(Wire first) throws IOException {
    while (true) {
      around.memberships().waiting(true);
      Message told = first.receive();
      around.memberships().waiting(false);
      switch (told) {
        case Message.Reduce(var slices) ->
            first.send(new Message.Numbers(reduce(first, slices), 0));
        case Message.Compare _ -> {
          var compared = shard.compared();
          first.send(new Message.Numbers(compared.product(), compared.squaredDistance()));
        }
        case Message.Keep _ -> {
          shard.keep();
          first.send(new Message.Answer(true));
        }
        case Message.Apply(double rate, long step, long below) -> {
          shard.apply(rate, step, below);
          around.memberships().stepped(shard.version());
          boolean save = saveSoon;
          saveSoon = false;
          first.send(new Message.Answer(!save));
        }
        case Message.Collect _ -> {
          first.send(new Message.Version(shard.version()));
          for (float[] vector : shard.vectors()) {
            first.link().send(vector, 0, vector.length);
          }
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

  private double reduce(Wire first, List<Shard.Slice> slices) throws RingBrokenException {
    try {
      return shard.reduce(slices);
    } catch (IllegalArgumentException e) {
      throw first.link().refuse(String.valueOf(e.getMessage()));
    }
  }

  private void serveWorker(int rank, Wire wire) throws IOException {
    float[] buffer = new float[shard.elements()];
    while (true) {
      switch (wire.receive()) {
        case Message.Pull(_, Runs runs) -> {
          wire.send(new Message.Version(shard.read(wire.fitting(runs, shard), buffer)));
          wire.link().send(buffer, 0, runs.elements());
        }
        case Message.Push push -> {
          float[] slice = new float[wire.fitting(push.runs(), shard).elements()];
          wire.link().receive(slice, 0, slice.length);
          shard.push(new Shard.Slice(push.share(), rank), push.runs(), slice);
          wire.send(new Message.Answer(true));
        }
        case Message other -> throw wire.unexpected(other);
      }
    }
  }

  @Override
  public Outcome stopAlone() {
    return new Outcome(
        Outcome.Kind.STOPPED, null, null, null, 0, "server 0 saves what there is to save");
  }

  @Override
  public void close() {}
}
