package dev.kastor.e2e.scale;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Does the same to many things at once, a bounded number of them at a time. */
final class Bulk {
  private static final int AT_ONCE = 32;

  private Bulk() {}

  /** Returns when all are done; the first failure is thrown on. */
  static <T> void each(List<T> things, Consumer<T> work) throws InterruptedException {
    try (ExecutorService threads =
        Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().factory())) {
      Stream<Future<?>> begun =
          things.stream().map(thing -> threads.submit(() -> work.accept(thing)));
      for (Future<?> each : begun.toList()) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("one of %d failed".formatted(things.size()), e.getCause());
    }
  }
}
