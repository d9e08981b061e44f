package dev.kastor.engine.partition;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.tensor.Tensor;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A rendezvous of devices of one process, or of those whose values are brought there. Thread-safe.
 */
public final class LocalRendezvous implements Rendezvous {
  private static final int MOST_FAILED = 1000;

  private record Place(Device device, String name) {}

  private final Map<String, Map<Place, Value>> arrived = new HashMap<>();

  /** The newest runs that failed, and why: other parts of them may still send, or begin. */
  private final Map<String, String> failed = new LinkedHashMap<>();

  /** Processes from which nothing comes any more, and why. */
  private final Map<String, String> lost = new HashMap<>();

  @Override
  public synchronized void send(Key key, Device to, Value value) {
    if (failed.containsKey(key.run())) {
      return; // Nobody waits any more.
    }
    Map<Place, Value> run = arrived.computeIfAbsent(key.run(), _ -> new HashMap<>());
    if (run.putIfAbsent(new Place(to, key.name()), value) != null) {
      throw new IllegalStateException(
          "%s of %s was sent twice to %s.".formatted(key.name(), key.run(), to));
    }
    value.retain();
    notifyAll();
  }

  @Override
  public Value receive(Key key, Device from, Device at, Type type, Memory memory)
      throws InterruptedException {
    Value sent = take(key, from, at);
    try {
      Tensor tensor = sent.tensor();
      Type actual = new Type(tensor.shape(), tensor.dtype());
      if (!type.equals(actual)) {
        throw new IllegalStateException(
            "%s of %s arrived at %s as %s and not as %s."
                .formatted(key.name(), key.run(), at, actual, type));
      }
      return sent.in(memory, key.name());
    } finally {
      sent.release();
    }
  }

  private synchronized Value take(Key key, Device from, Device at) throws InterruptedException {
    Place place = new Place(at, key.name());
    while (true) {
      Map<Place, Value> run = arrived.get(key.run());
      Value value = run == null ? null : run.remove(place);
      if (value != null) {
        return value;
      }
      String why = failed.getOrDefault(key.run(), lost.get(from.process()));
      if (why != null) {
        throw new IllegalStateException(why);
      }
      wait();
    }
  }

  /** Says that nothing comes from a process any more: who waits for it fails. */
  public synchronized void lost(String process, String why) {
    lost.put(process, why);
    notifyAll();
  }

  /** Says that a process is there, again. */
  public synchronized void found(String process) {
    lost.remove(process);
  }

  @Override
  public synchronized void fail(String run, String why) {
    failed.putIfAbsent(run, why);
    if (failed.size() > MOST_FAILED) {
      failed.remove(failed.keySet().iterator().next());
    }
    forget(run);
    notifyAll();
  }

  @Override
  public synchronized void forget(String run) {
    @Nullable Map<Place, Value> left = arrived.remove(run);
    if (left != null) {
      left.values().forEach(Value::release);
    }
  }
}
