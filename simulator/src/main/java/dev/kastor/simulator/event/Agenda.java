package dev.kastor.simulator.event;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * What will happen and when, in a total order: by time, then by kind, then by subject, then in the
 * order in which it was noted. Owned by one simulation.
 */
final class Agenda {
  /** Kinds of events; at one instant they happen in this order, the decision last. */
  enum Kind {
    RESIZE,
    NODE_FAILS,
    NODE_RETURNS,
    REPLICAS_JOIN,
    JOB_ENDS,
    JOB_REPORTS,
    REPORT_ARRIVES,
    JOB_ARRIVES,
    SCALING,
    DECISION
  }

  /**
   * Something that will happen.
   *
   * @param seconds when
   * @param kind what
   * @param subject index of the job, the node or the resize
   * @param version of the subject's plans: the event is void once the subject has made others
   * @param number how many events were noted before it
   */
  record Event(double seconds, Kind kind, int subject, long version, long number) {}

  private static final Comparator<Event> ORDER =
      (a, b) -> {
        int byTime = Double.compare(a.seconds, b.seconds);
        int byKind = byTime != 0 ? byTime : a.kind.compareTo(b.kind);
        int bySubject = byKind != 0 ? byKind : Integer.compare(a.subject, b.subject);
        return bySubject != 0 ? bySubject : Long.compare(a.number, b.number);
      };

  private final PriorityQueue<Event> events = new PriorityQueue<>(ORDER);
  private long noted;

  void note(double seconds, Kind kind, int subject, long version) {
    events.add(new Event(seconds, kind, subject, version, noted++));
  }

  @Nullable Event next() {
    return events.poll();
  }
}
