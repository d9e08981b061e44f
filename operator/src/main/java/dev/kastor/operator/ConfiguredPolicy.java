package dev.kastor.operator;

import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.scheduler.policy.kastor.KastorOptions;

/** The policy that the settings ask for. */
public final class ConfiguredPolicy {
  private ConfiguredPolicy() {}

  /**
   * A fresh one.
   *
   * @throws IllegalArgumentException if there is none of that name, or a number is out of range
   */
  public static Policy of(OperatorConfig config) {
    return Policies.create(
        config.policy(), PolicyOptions.defaults(config.seed()).with(options(config)));
  }

  static KastorOptions options(OperatorConfig config) {
    KastorOptions usual = KastorOptions.DEFAULT;
    return usual
        .withJobHourValue(config.jobHourValue().orElse(usual.jobHourValue()))
        .withInterruptionsPerDay(config.interruptionsPerDay());
  }
}
