package dev.kastor.engine.backend.registry;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.backend.reference.ReferenceBackend;

/** Chooses the fastest backend that works on this machine. */
public final class Backends {
  private Backends() {}

  /**
   * A backend and why it was chosen.
   *
   * @param reason for people, one sentence
   */
  public record Choice(Backend backend, String reason) {}

  /**
   * The fastest backend of this machine.
   *
   * @param threads for arithmetic, at least 1
   */
  public static Choice fastest(int threads) {
    return switch (CpuBackend.load(threads)) {
      case CpuBackend.Availability.Available available ->
          new Choice(available.backend(), "oneDNN with %d thread(s).".formatted(threads));
      case CpuBackend.Availability.Absent absent ->
          new Choice(new ReferenceBackend(), absent.reason() + " Plain loops are used instead.");
    };
  }
}
