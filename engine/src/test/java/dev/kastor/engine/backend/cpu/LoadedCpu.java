package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.cpu.CpuBackend.Availability;
import dev.kastor.testkit.Requirement;

/** The CPU backend of this machine. */
public final class LoadedCpu {
  private LoadedCpu() {}

  /** The backend; where oneDNN does not load, as {@link Requirement#ONEDNN} says. */
  public static CpuBackend backend(int threads) {
    return switch (CpuBackend.load(threads)) {
      case Availability.Available there -> there.backend();
      case Availability.Absent absent -> {
        Requirement.ONEDNN.check(false, absent.reason());
        throw new IllegalStateException(absent.reason());
      }
    };
  }
}
