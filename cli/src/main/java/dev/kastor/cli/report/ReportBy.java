package dev.kastor.cli.report;

/** Rows of a report. */
enum ReportBy {
  QUEUE,
  NAMESPACE,
  USER,
  FAMILY
}
