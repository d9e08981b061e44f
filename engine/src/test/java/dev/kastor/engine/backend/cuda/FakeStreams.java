package dev.kastor.engine.backend.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The streams of the driver of the tests. What is begun on one happens as late as it may: only when
 * somebody waits for it, or when another stream that is waited for has to. So whoever forgets to
 * wait reads what was there before.
 */
final class FakeStreams {
  /** Work in order. */
  static final class Stream {
    private final Deque<Runnable> begun = new ArrayDeque<>();
    private long count;
    private long done;
    private boolean captures;
    private final List<Runnable> captured = new ArrayList<>();
  }

  /** A point in the work of a stream; comes at once before it is recorded. */
  static final class Event {
    private Stream on = new Stream();
    private long count;
  }

  /** Work that comes to its end only once others have done theirs. */
  interface Pending extends Runnable {
    /** Whether it could be done now; asked when all before it is done. */
    boolean ready();
  }

  private FakeStreams() {}

  /** Does a little; false if something is left. */
  static synchronized boolean advance(Stream on) {
    boolean waits = on.begun.peek() instanceof Pending pending && !pending.ready();
    if (!waits && !on.begun.isEmpty()) {
      finish(on, on.done + 1);
    }
    return on.begun.isEmpty();
  }

  /** Begins something, or adds it to what is captured. */
  static synchronized void begin(Stream on, Runnable work) {
    if (on.captures) {
      on.captured.add(work);
    } else {
      on.begun.add(work);
      on.count++;
    }
  }

  static synchronized void record(Event event, Stream on) {
    event.on = on;
    event.count = on.count;
  }

  /** Lets what is begun from now on wait for an event as it is now. */
  static synchronized void await(Stream waiting, Event event) {
    Stream on = event.on;
    long count = event.count;
    begin(waiting, () -> finish(on, count));
  }

  /** Does all that was begun. */
  static synchronized void finish(Stream on) {
    finish(on, on.count);
  }

  private static void finish(Stream on, long count) {
    while (on.done < count) {
      if (on.begun.peek() instanceof Pending pending && !pending.ready()) {
        throw new IllegalStateException("Whoever waits for this waits forever.");
      }
      on.done++;
      on.begun.remove().run();
    }
  }

  static synchronized boolean captures(Stream stream) {
    return stream.captures;
  }

  static synchronized void capture(Stream stream) {
    stream.captures = true;
    stream.captured.clear();
  }

  /** What was captured since. */
  static synchronized List<Runnable> captured(Stream stream) {
    stream.captures = false;
    return List.copyOf(stream.captured);
  }
}
