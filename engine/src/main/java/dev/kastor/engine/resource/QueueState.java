package dev.kastor.engine.resource;

import dev.kastor.engine.exec.Value;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What a queue holds in one session. Thread-safe. */
final class QueueState {
  private final String label;
  private final int capacity;
  private final Deque<List<Value>> tuples = new ArrayDeque<>();
  private boolean closed;

  QueueState(String label, int capacity) {
    this.label = label;
    this.capacity = capacity;
  }

  /** Waits for room; takes over held values unless it throws. */
  synchronized void add(List<Value> tuple) throws InterruptedException {
    while (tuples.size() == capacity && !closed) {
      wait();
    }
    if (closed) {
      throw new QueueClosedException("Queue %s is closed; nothing can be added.".formatted(label));
    }
    tuples.add(List.copyOf(tuple));
    notifyAll();
  }

  /** Waits for a tuple; hands it over. */
  synchronized List<Value> take() throws InterruptedException {
    while (tuples.isEmpty() && !closed) {
      wait();
    }
    if (tuples.isEmpty()) {
      throw new QueueClosedException("Queue %s is closed and empty.".formatted(label));
    }
    notifyAll();
    return tuples.remove();
  }

  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
