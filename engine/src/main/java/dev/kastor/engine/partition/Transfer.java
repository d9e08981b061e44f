package dev.kastor.engine.partition;

import dev.kastor.engine.exec.Action;
import dev.kastor.engine.exec.Surroundings;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;
import java.util.List;

/**
 * The way of one value from a device to another.
 *
 * @param name tells it from all others of the graph
 * @param depth how many effects come before its arrival, on whatever device
 */
record Transfer(Rendezvous rendezvous, String name, Device from, Device to, Type type, int depth) {
  /** Gives a value on its way; has no result. */
  record Send(Transfer transfer) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      if (!inputs.equals(List.of(transfer.type))) {
        throw new ShapeException(this, "a value of " + transfer.type, inputs);
      }
      return List.of();
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings) {
      transfer.rendezvous.send(transfer.key(surroundings), transfer.to, inputs.getFirst());
      return List.of();
    }

    /**
     * Delivers a value at once to the device that waits for it, also while this device computes.
     */
    @Override
    public boolean waits() {
      return true;
    }

    @Override
    public String name() {
      return "Send to " + transfer.to;
    }

    @Override
    public String toString() {
      return name();
    }
  }

  /** Waits for a value. */
  record Receive(Transfer transfer) implements Action {
    @Override
    public List<Type> results(List<Type> inputs) {
      return List.of(transfer.type);
    }

    @Override
    public List<Value> run(List<Value> inputs, Surroundings surroundings)
        throws InterruptedException {
      return List.of(
          transfer.rendezvous.receive(
              transfer.key(surroundings), transfer.to, surroundings.memory()));
    }

    @Override
    public boolean waits() {
      return true;
    }

    /**
     * Without it what is sent before, and what leads to this on the other device, might be compiled
     * together with what needs it.
     */
    @Override
    public int depth() {
      return transfer.depth;
    }

    @Override
    public String name() {
      return "Receive from " + transfer.from;
    }

    @Override
    public String toString() {
      return name();
    }
  }

  private Rendezvous.Key key(Surroundings surroundings) {
    return new Rendezvous.Key(surroundings.run(), name + surroundings.iterations());
  }
}
