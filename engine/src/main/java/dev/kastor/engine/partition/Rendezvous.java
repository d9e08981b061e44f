package dev.kastor.engine.partition;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.placement.Device;

/** Where values that go from device to device meet those who wait for them. Thread-safe. */
public interface Rendezvous {
  /**
   * What a value is known by.
   *
   * @param run the run that it belongs to
   * @param name tells it from others of the run, in each iteration of a loop
   */
  record Key(String run, String name) {}

  /**
   * Sends a value, without waiting for who takes it.
   *
   * @param value held by the caller until this returns
   * @throws IllegalStateException if it cannot be sent
   */
  void send(Key key, Device to, Value value) throws InterruptedException;

  /**
   * Waits for a value.
   *
   * @param from where it comes from
   * @param at who waits
   * @param memory of that device, where the value will be
   * @return held by the caller
   * @throws IllegalStateException if the run failed elsewhere, or the value has another type
   */
  Value receive(Key key, Device from, Device at, Type type, Memory memory)
      throws InterruptedException;

  /** Ends a run for all of its parts: who waits for a value of it fails. */
  void fail(String run, String why);

  /** Forgets what is left of a run that is over. */
  void forget(String run);
}
