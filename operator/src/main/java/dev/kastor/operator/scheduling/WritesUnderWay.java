package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Allocations that a round decided on and that are being stored while the next rounds go on: they
 * take them for given, and let these jobs alone until the answer is in. Thread-safe.
 */
final class WritesUnderWay {
  private static final int AT_ONCE = 16;

  /** Longer than the write of an allocation takes, shorter than an API server may be away. */
  private static final long MOST_WAIT_MILLIS = 5000;

  private static final class Write {
    private final AllocationStatus decided;
    private volatile boolean passedOver;

    Write(AllocationStatus decided) {
      this.decided = decided;
    }
  }

  private final Map<String, Write> byUid = new ConcurrentHashMap<>();
  private final Semaphore room = new Semaphore(AT_ONCE);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** What is being stored for the job; null if nothing is. */
  @Nullable AllocationStatus of(TrainingJob job) {
    Write write = byUid.get(job.getMetadata().getUid());
    return write == null ? null : write.decided;
  }

  /** Whether a round has to let the job alone, which it is told of when it need not any more. */
  boolean passOver(TrainingJob job) {
    Write write = byUid.get(job.getMetadata().getUid());
    if (write != null) {
      write.passedOver = true;
    }
    return write != null;
  }

  /**
   * Stores beside others, and forgets the allocation once that is over, however it ended.
   *
   * @param after what is waited for first, as long as it takes an API server that answers
   * @param passedOver called after that if a round let the job alone meanwhile
   */
  void start(
      TrainingJob job,
      AllocationStatus decided,
      CountDownLatch after,
      Runnable store,
      Runnable passedOver) {
    String uid = job.getMetadata().getUid();
    Write write = new Write(decided);
    byUid.put(uid, write);
    threads.execute(() -> {
      try {
        var _ = after.await(MOST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        room.acquire();
        try {
          store.run();
        } finally {
          room.release();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        byUid.remove(uid);
        if (write.passedOver) {
          passedOver.run();
        }
      }
    });
  }

  /** Starts no more. */
  void stop() {
    threads.shutdownNow();
  }
}
