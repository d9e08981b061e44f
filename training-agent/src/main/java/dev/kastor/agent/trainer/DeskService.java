package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Runs;
import dev.kastor.agent.servers.Shard;
import dev.kastor.agent.servers.Wire;
import dev.kastor.engine.train.Trainable;
import java.io.IOException;

/**
 * Service of server 0 for each of its workers, on the worker's thread.
 *
 * @param own shard 0
 * @param lost told of a worker whose link broke before it heard that the generation is over
 */
record DeskService(Desk desk, Shard own, ServedModel served, Runnable lost)
    implements Workers.Service {
  @Override
  public void serve(int rank, Wire wire) throws IOException, InterruptedException {
    float[] buffer = new float[own.elements()];
    desk.joined(rank);
    boolean told = false;
    try {
      while (!told) {
        switch (wire.receive()) {
          case Message.Ask _ -> {
            Message next = desk.next(rank);
            wire.send(next);
            told = next instanceof Message.Move || next instanceof Message.End;
          }
          case Message.Pull(boolean statistics, Runs runs) -> {
            wire.send(new Message.Version(own.read(wire.fitting(runs, own), buffer)));
            wire.link().send(buffer, 0, runs.elements());
            if (statistics) {
              float[] running = served.statistics();
              wire.link().send(running, 0, running.length);
            }
          }
          case Message.Offer(long share) ->
              wire.send(new Message.Answer(desk.isWanted(rank, share)));
          case Message.Push push -> {
            float[] slice = new float[wire.fitting(push.runs(), own).elements()];
            wire.link().receive(slice, 0, slice.length);
            float[] statistics = new float[served.statistics().length];
            wire.link().receive(statistics, 0, statistics.length);
            check(wire, push);
            own.push(new Shard.Slice(push.share(), rank), push.runs(), slice);
            desk.came(rank, push, statistics);
          }
          case Message.Evaluated(String metric, double value, boolean higherIsBetter) ->
              desk.evaluated(rank, new Trainable.Metric(metric, value, higherIsBetter));
          case Message other -> throw wire.unexpected(other);
        }
      }
    } finally {
      if (!told) {
        lost.run();
      }
      desk.lost(rank);
    }
  }

  private void check(Wire wire, Message.Push push) throws RingBrokenException {
    Message.Passed passed = push.passed();
    if (push.read() < 0
        || push.read() > own.version()
        || passed.examples() < 1
        || !(passed.passSeconds() >= 0 && passed.passSeconds() <= Double.MAX_VALUE)) {
      throw wire.link().refuse("a result that cannot be: " + push);
    }
  }
}
