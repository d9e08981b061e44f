package dev.kastor.cli.report;

/** Form of a report. */
enum ReportOutput {
  /** GPU-hours, for a person. */
  TABLE,
  /** GPU-seconds, one row a line. */
  CSV,
  /** GPU-milliseconds, as the operator answers. */
  JSON
}
