package dev.kastor.operator.config;

import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** The one place where real time comes in. */
final class Clocks {
  private Clocks() {}

  @Produces
  @Singleton
  static InstantSource clock() {
    return InstantSource.system();
  }
}
