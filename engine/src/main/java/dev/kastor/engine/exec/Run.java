package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.tensor.Tensor;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a plan by threads.
 *
 * <p>One lock guards all bookkeeping. Who holds it does the cheap steps on the spot; computations
 * and actions happen outside it, by the thread that asked and helpers from a pool.
 */
final class Run {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Set<Thread> waiting = new HashSet<>();
  private final Tokens tokens;
  private final Memory memory;
  private final String name;
  private final Executor pool;
  private final Fetched listener;
  private int helpers;
  private int atWork;
  private boolean interrupted;
  private @Nullable Throwable failure;

  /**
   * A run that has not begun.
   *
   * @param name tells it from others of the session
   * @param mostHelpers threads beside the one that asks
   * @param listener called by the thread that asks
   */
  Run(
      Plan plan,
      String name,
      Memory memory,
      Histories histories,
      Executor pool,
      int mostHelpers,
      List<Value> feeds,
      Fetched listener) {
    this.tokens = new Tokens(plan, memory, histories, feeds);
    this.memory = memory;
    this.name = name;
    this.pool = pool;
    this.helpers = mostHelpers;
    this.listener = listener;
  }

  /**
   * Runs to the end on this thread and its helpers.
   *
   * @return a held value for each fetch; null for those that have no result
   */
  @Nullable Value[] run() throws InterruptedException {
    lock.lock();
    try {
      work(true);
      if (failure == null) {
        boolean _ = tell();
      }
      if (failure == null) {
        return tokens.fetched();
      }
      tokens.discard();
      if (failure instanceof InterruptedException interruption) {
        throw interruption;
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      throw failed(failure);
    } finally {
      tokens.forgetHistories();
      lock.unlock();
    }
  }

  /** Tells the listener, without the lock, of what was fetched; false if that is nothing new. */
  private boolean tell() {
    boolean told = false;
    for (Integer next = tokens.pollFetched(); next != null; next = tokens.pollFetched()) {
      Value value = Objects.requireNonNull(tokens.fetched()[next]);
      Throwable problem = null;
      lock.unlock();
      try {
        listener.there(next, value);
      } catch (RuntimeException | Error e) {
        problem = e;
      } finally {
        lock.lock();
      }
      if (problem != null) {
        fail(problem);
        return true;
      }
      told = true;
    }
    return told;
  }

  private static RuntimeException failed(Throwable failure) {
    if (failure instanceof RuntimeException unchecked) {
      return unchecked;
    }
    return new IllegalStateException("A step failed: " + failure, failure);
  }

  /** Does what is ready, until there is nothing or, for the thread that asked, until the end. */
  private void work(boolean toTheEnd) {
    while (!finished()) {
      Tokens.Ready next = failure == null ? tokens.poll() : null;
      if (next == null) {
        if (!toTheEnd) {
          return;
        }
        if (failure == null && tell()) {
          continue; // The run may have ended while the lock was free.
        }
        try {
          news.await();
        } catch (InterruptedException e) {
          interrupted = true;
          fail(e); // What is at work ends soon, and is waited for.
        }
      } else if (next.isCheap()) {
        doCheap(next);
      } else if (!toTheEnd || !tell() || failure == null) {
        begin(next);
      }
    }
  }

  private void begin(Tokens.Ready next) {
    atWork++;
    if (next.step().work instanceof Work.Act act && act.action().waits()) {
      Thread thread = Thread.ofVirtual().name(next.step().toString()).unstarted(() -> wait(next));
      waiting.add(thread);
      thread.start();
    } else {
      callHelper();
      doExpensive(next);
    }
  }

  private boolean finished() {
    return failure == null ? tokens.done() : atWork == 0;
  }

  private void callHelper() {
    if (tokens.noneReady()) {
      return;
    }
    news.signal();
    if (helpers > 0) {
      helpers--;
      pool.execute(this::help);
    }
  }

  private void help() {
    lock.lock();
    try {
      work(false);
    } finally {
      helpers++;
      lock.unlock();
    }
  }

  private void wait(Tokens.Ready task) {
    lock.lock();
    try {
      doExpensive(task);
    } finally {
      waiting.remove(Thread.currentThread());
      lock.unlock();
    }
  }

  /** Runs a step without the lock, which the caller holds. */
  private void doExpensive(Tokens.Ready task) {
    List<Value> results = List.of();
    Throwable problem = null;
    lock.unlock();
    try {
      results = compute(task);
    } catch (InterruptedException e) {
      problem = new IllegalStateException(task.step() + " was interrupted.", e);
    } catch (RuntimeException | Error e) {
      problem = e;
    } finally {
      lock.lock();
      atWork--;
    }
    if (problem != null || failure != null) {
      results.forEach(Value::release);
      fail(problem);
      return;
    }
    tokens.finish(task, results);
    news.signalAll();
  }

  private void fail(@Nullable Throwable problem) {
    if (failure == null && problem != null) {
      failure = problem;
      waiting.forEach(Thread::interrupt);
    }
    news.signalAll();
  }

  private List<Value> compute(Tokens.Ready task) throws InterruptedException {
    Step step = task.step();
    return switch (step.work) {
      case Work.Compute compute -> compute.region().run(task.iteration().slots, step.firstSlot);
      case Work.Act act ->
          act.action().run(inputs(task), new Occasion(memory, name, task.iteration()));
      case Work.Change change -> List.of(change(change.increment(), task));
      default -> throw new IllegalStateException(step + " is cheap.");
    };
  }

  private Value change(Increment increment, Tokens.Ready task) {
    List<Value> inputs = inputs(task);
    Value first = inputs.getFirst();
    Value changed = first.sole() ? first.retain() : first.copy(memory, task.step());
    try {
      List<Tensor> others = inputs.stream().skip(1).map(Value::tensor).toList();
      increment.addTo(changed.tensor(), others);
      return changed;
    } catch (RuntimeException e) {
      changed.release();
      throw e;
    }
  }

  private static List<Value> inputs(Tokens.Ready task) {
    List<Value> inputs = new ArrayList<>();
    for (int i = 0; i < task.step().slots; i++) {
      inputs.add(task.iteration().value(task.step(), i));
    }
    return inputs;
  }

  private void doCheap(Tokens.Ready task) {
    try {
      tokens.doCheap(task);
    } catch (RuntimeException e) {
      boolean interrupt = e.getCause() instanceof ClosedByInterruptException;
      fail(interrupt && Thread.interrupted() ? new InterruptedException(e.getMessage()) : e);
    }
    if (tokens.done()) {
      news.signalAll();
    }
  }
}
