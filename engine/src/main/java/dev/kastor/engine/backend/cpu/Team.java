package dev.kastor.engine.backend.cpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads that share the loops which are written in Java. They end when they have nothing to
 * do.
 */
final class Team {
  /** So many elements are worth the way to another thread. */
  static final int GRAIN = 1 << 15;

  private static final long IDLE_SECONDS = 10;

  private final int threads;
  private final ThreadPoolExecutor helpers;

  /** A part of a loop, with scratch memory of its own. */
  interface Part {
    void run(int from, int to);
  }

  /**
   * A team with the thread that asks.
   *
   * @param threads at least 1
   */
  Team(int threads) {
    this.threads = threads;
    // A task that finds no thread free is done by who brings it.
    helpers =
        new ThreadPoolExecutor(
            0,
            Math.max(1, threads - 1),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("loop-", 0).factory(),
            new ThreadPoolExecutor.CallerRunsPolicy());
  }

  /**
   * A kernel that loops over units, in as many parts as are worth it.
   *
   * @param elements of all units together
   * @param part makes a part; called once for each
   */
  Kernel loop(int units, long elements, Supplier<Part> part) {
    int count = Math.clamp(elements / GRAIN, 1, Math.min(threads, units));
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(part.get());
    }
    return count == 1 ? () -> parts.getFirst().run(0, units) : () -> share(parts, units);
  }

  private void share(List<Part> parts, int units) {
    int count = parts.size();
    List<Future<?>> others = new ArrayList<>(count);
    for (int i = 1; i < count; i++) {
      Part part = parts.get(i);
      int from = (int) ((long) units * i / count);
      int to = (int) ((long) units * (i + 1) / count);
      others.add(helpers.submit(() -> part.run(from, to)));
    }
    @Nullable RuntimeException failure = null;
    try {
      parts.getFirst().run(0, units / count);
    } catch (RuntimeException e) {
      failure = e;
    }
    for (Future<?> other : others) {
      failure = outcome(other, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Waits whatever happens: nobody may reuse the memory while a part writes to it. */
  private static @Nullable RuntimeException outcome(
      Future<?> part, @Nullable RuntimeException failure) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          part.get();
          return failure;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      return e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException("A part of a loop failed.", e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
