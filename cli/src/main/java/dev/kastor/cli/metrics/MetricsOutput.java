package dev.kastor.cli.metrics;

/** Format in which {@code kastor metrics} writes. */
enum MetricsOutput {
  /** A summary for a person. */
  TABLE,
  CSV,
  JSON,
  TENSORBOARD
}
