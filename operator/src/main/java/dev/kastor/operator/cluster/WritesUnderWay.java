package dev.kastor.operator.cluster;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus.AllocationStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Allocations that a round decided on and that are being stored while the next rounds go on: they
 * take them for given, and let these jobs alone until the answer is in. Thread-safe.
 */
final class WritesUnderWay {
  private static final int AT_ONCE = 16;

  private final Map<String, AllocationStatus> byUid = new ConcurrentHashMap<>();
  private final Semaphore room = new Semaphore(AT_ONCE);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** What is being stored for the job; null if nothing is. */
  @Nullable AllocationStatus of(TrainingJob job) {
    return byUid.get(job.getMetadata().getUid());
  }

  /** Stores beside others, and forgets the allocation once that is over, however it ended. */
  void start(TrainingJob job, AllocationStatus decided, Runnable store) {
    String uid = job.getMetadata().getUid();
    byUid.put(uid, decided);
    threads.execute(() -> {
      room.acquireUninterruptibly();
      try {
        store.run();
      } finally {
        room.release();
        byUid.remove(uid);
      }
    });
  }

  /** Starts no more. */
  void stop() {
    threads.shutdownNow();
  }
}
