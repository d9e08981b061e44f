package dev.kastor.scheduler.policy.kastor;

import dev.kastor.plugin.Options;

/** Options of the kastor policy as it is usually used. */
final class TestOptions {
  static final Options USUAL = Options.usual(new KastorPlugin());

  private TestOptions() {}
}
