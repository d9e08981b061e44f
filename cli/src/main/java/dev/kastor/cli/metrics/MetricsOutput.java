package dev.kastor.cli.metrics;

import java.time.Instant;

/** Format in which {@code kastor metrics} writes points. */
enum MetricsOutput {
  CSV,
  JSON,
  TENSORBOARD;

  /** The format for a job that was created then. */
  PointFormat format(Instant created) {
    return switch (this) {
      case CSV -> new LineFormat(new CsvLines());
      case JSON -> new LineFormat(new JsonLines());
      case TENSORBOARD -> new EventFormat(created);
    };
  }
}
