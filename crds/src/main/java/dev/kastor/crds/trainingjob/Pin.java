package dev.kastor.crds.trainingjob;

import java.util.Map;

/**
 * What the annotation {@value #ANNOTATION} of a TrainingJob asks: that the scheduler leave its size
 * or its place alone.
 */
public sealed interface Pin {
  /** {@code here}, or a number of replicas. */
  String ANNOTATION = "kastor.dev/pinned";

  /** The value that keeps the place. */
  String HERE = "here";

  /** The scheduler decides. */
  record Free() implements Pin {}

  /** It keeps the replicas and nodes that it has; while it has none, the scheduler decides. */
  record Here() implements Pin {}

  /** It runs with so many replicas or waits; the scheduler decides where. */
  record At(int replicas) implements Pin {}

  /** Nobody knows what was meant, so the scheduler decides. */
  record Unreadable(String value) implements Pin {}

  /** What a job's annotation says. */
  static Pin of(TrainingJob job) {
    Map<String, String> annotations = job.getMetadata().getAnnotations();
    String value = annotations == null ? null : annotations.get(ANNOTATION);
    if (value == null) {
      return new Free();
    }
    if (value.equals(HERE)) {
      return new Here();
    }
    return value.matches("[1-9][0-9]{0,3}")
        ? new At(Integer.parseInt(value))
        : new Unreadable(value);
  }
}
