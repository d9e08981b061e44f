package dev.kastor.engine.partition;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.placement.Device;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Meeting point of values that go from device to device with those who wait for them. Thread-safe.
 */
final class Rendezvous {
  /**
   * What a value is known by.
   *
   * @param run the run that it belongs to
   * @param name tells it from others of the run, in each iteration of a loop
   */
  record Key(String run, String name) {}

  private record Place(Device device, String name) {}

  private final Map<String, Map<Place, Value>> arrived = new HashMap<>();

  /** Runs that failed, and why, as long as parts of them may still send or begin. */
  private final Map<String, String> failed = new HashMap<>();

  /**
   * Sends a value, without waiting for who takes it.
   *
   * @param value held by the caller until this returns
   */
  synchronized void send(Key key, Device to, Value value) {
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

  /**
   * Waits for a value.
   *
   * @param at who waits
   * @param memory of that device, where the value will be
   * @return held by the caller
   * @throws IllegalStateException if the run failed elsewhere
   */
  Value receive(Key key, Device at, Memory memory) throws InterruptedException {
    Value sent = take(key, at);
    try {
      return sent.in(memory, key.name());
    } finally {
      sent.release();
    }
  }

  private synchronized Value take(Key key, Device at) throws InterruptedException {
    Place place = new Place(at, key.name());
    while (true) {
      Map<Place, Value> run = arrived.get(key.run());
      Value value = run == null ? null : run.remove(place);
      if (value != null) {
        return value;
      }
      String why = failed.get(key.run());
      if (why != null) {
        throw new IllegalStateException(why);
      }
      wait();
    }
  }

  /** Ends a run for all of its parts: who waits for a value of it fails. */
  synchronized void fail(String run, String why) {
    failed.putIfAbsent(run, why);
    release(run);
    notifyAll();
  }

  /** Forgets a run all of whose parts have ended. */
  synchronized void forget(String run) {
    failed.remove(run);
    release(run);
  }

  private void release(String run) {
    @Nullable Map<Place, Value> left = arrived.remove(run);
    if (left != null) {
      left.values().forEach(Value::release);
    }
  }
}
