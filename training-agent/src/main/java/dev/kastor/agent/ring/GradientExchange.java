package dev.kastor.agent.ring;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Sums one step's gradient over a ring, bucket by bucket from its end, while the first layers' part
 * is still being computed (Li et al., PyTorch Distributed, VLDB 2020, section 3.2).
 *
 * <p>Buckets depend on the gradient's length alone, so all members exchange the same ones.
 */
public final class GradientExchange implements StepExchange {
  /** Hears of each bucket that was exchanged, in the terms of {@link System#nanoTime}. */
  @FunctionalInterface
  public interface Listener {
    /** One was, the first being that at the end of the gradient. */
    void exchanged(int bucket, long startNanos, long endNanos);
  }

  private final Ring ring;
  private final Sums sums;
  private final int bucketFloats;
  private final float[] gradient;
  private final Listener listener;
  private final Semaphore complete = new Semaphore(0);
  private final FutureTask<@Nullable Void> exchanging = new FutureTask<>(this::exchange);
  private final int buckets;
  private @Nullable Thread thread;
  private int released;

  /** An exchange over the ring's own connections, of which nobody wants to know when. */
  public GradientExchange(Ring ring, float[] gradient) {
    this(ring, new Sums.RingSums(ring), gradient, (_, _, _) -> {});
  }

  /**
   * An exchange that somebody watches, from a thread of the exchange.
   *
   * @param sums of the ring's members
   */
  public GradientExchange(Ring ring, Sums sums, float[] gradient, Listener listener) {
    this.ring = ring;
    this.sums = sums;
    bucketFloats = sums.capacity();
    this.gradient = gradient;
    this.listener = listener;
    buckets = ring.size() == 1 ? 0 : Math.ceilDiv(gradient.length, bucketFloats);
  }

  @Override
  public void ready(int from) {
    while (released < buckets && from <= start(released)) {
      if (thread == null) {
        thread = Thread.ofVirtual().name("gradient-exchange").start(exchanging);
      }
      released++;
      complete.release();
    }
  }

  @Override
  public void finish() throws RingBrokenException {
    if (released < buckets) {
      throw new IllegalStateException(
          "%d of %d buckets were never complete".formatted(buckets - released, buckets));
    }
    if (buckets == 0) {
      return;
    }
    try {
      exchanging.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RingBrokenException broken) {
        throw broken;
      }
      throw new RingBrokenException("the exchange failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RingBrokenException("interrupted while gradients were exchanged", e);
    }
  }

  private @Nullable Void exchange() throws RingBrokenException, InterruptedException {
    for (int bucket = 0; bucket < buckets; bucket++) {
      complete.acquire();
      long begun = System.nanoTime();
      sums.allReduce(gradient, start(bucket), end(bucket));
      listener.exchanged(bucket, begun, System.nanoTime());
    }
    return null;
  }

  private int start(int bucket) {
    return Math.max(0, end(bucket) - bucketFloats);
  }

  private int end(int bucket) {
    return gradient.length - bucket * bucketFloats;
  }

  @Override
  public void close() {
    if (thread != null && !exchanging.isDone()) {
      // The others cannot go on either: they notice as the ring closes.
      ring.close();
      thread.interrupt();
      try {
        // The gradient is the caller's again.
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
