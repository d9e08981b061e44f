package dev.kastor.agent.trainer;

import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.CheckpointInfo;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves and loads checkpoints on a thread of its own, so that training does not wait for the disk.
 *
 * <p>The training thread owns it.
 */
final class Checkpoints implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Checkpoints.class);

  private final String job;
  private final CheckpointStore store;
  private final List<Section.Form> model;
  private final Consumer<CheckpointInfo> saved;
  private final Consumer<IOException> failed;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("checkpoint").daemon().factory());

  private @Nullable Future<?> saving;

  /** What the last background save copied into; reused to leave no garbage. */
  private @Nullable TrainingState copy;

  /**
   * @param model sections of the model's state
   * @param saved told of each durable checkpoint, from the background thread
   * @param failed told of each that could not be saved while training goes on, from that thread too
   */
  Checkpoints(
      String job,
      CheckpointStore store,
      List<Section.Form> model,
      Consumer<CheckpointInfo> saved,
      Consumer<IOException> failed) {
    this.job = job;
    this.store = store;
    this.model = model;
    this.saved = saved;
    this.failed = failed;
  }

  /** Whether a save in the background is under way. */
  boolean isSaving() {
    return saving != null && !saving.isDone();
  }

  /** Copies the state and saves it while training goes on; does nothing while a save runs. */
  void saveInBackground(TrainingState live) {
    if (isSaving()) {
      return;
    }
    TrainingState copied = copyOf(live);
    saving =
        thread.submit(() -> {
          try {
            saved.accept(store.save(copied));
          } catch (IOException e) {
            log.warn(
                "{}: checkpoint of step {} is not saved: {}", job, copied.step(), e.toString());
            failed.accept(e);
          }
        });
  }

  /** Saves the state before it returns. */
  void save(TrainingState live) throws IOException {
    run(() -> {
      CheckpointInfo info = store.save(live);
      saved.accept(info);
      return info;
    });
  }

  /** The newest checkpoint that is whole. */
  Optional<CheckpointStore.Loaded> newest() throws IOException {
    return run(() -> store.loadNewestValid(model));
  }

  /** Step of the newest checkpoint, once no save is under way; empty if there is none. */
  OptionalLong newestStep() throws IOException {
    return run(() -> store.steps().stream().mapToLong(each -> each).findFirst());
  }

  /** The checkpoint of a step. */
  TrainingState load(long step) throws IOException {
    return run(() -> store.load(step, model));
  }

  private <T> T run(Callable<T> task) throws IOException {
    try {
      return thread.submit(task).get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw new IllegalStateException("checkpoint thread failed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for a checkpoint");
    }
  }

  private TrainingState copyOf(TrainingState live) {
    TrainingState old = copy;
    if (old == null) {
      old = live.copy();
      copy = old;
    } else {
      old.copyFrom(live);
    }
    return old;
  }

  /** Waits for a save in progress. */
  @Override
  public void close() {
    thread.close();
  }
}
