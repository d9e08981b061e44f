package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a plan.
 *
 * <p>One lock guards all bookkeeping. Who holds it does the cheap steps on the spot; computations
 * and actions happen outside it, by the thread that asked and helpers from a pool.
 */
final class Run {
  private record Ready(Step step, Iteration iteration) {}

  private record Place(FrameDef loop, Iteration parent) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Deque<Ready> ready = new ArrayDeque<>();
  private final Map<Place, Frame> frames = new HashMap<>();
  private final Histories histories = new Histories();
  private final Set<Thread> waiting = new HashSet<>();
  private final Plan plan;
  private final Memory memory;
  private final Surroundings surroundings;
  private final Executor pool;
  private final List<Value> feeds;
  private final @Nullable Value[] fetched;
  private int helpers;
  private int atWork;
  private boolean done;
  private boolean interrupted;
  private @Nullable Throwable failure;

  /**
   * @param mostHelpers threads beside the one that asks
   */
  Run(
      Plan plan,
      Memory memory,
      Surroundings surroundings,
      Executor pool,
      int mostHelpers,
      List<Value> feeds) {
    this.plan = plan;
    this.memory = memory;
    this.surroundings = surroundings;
    this.pool = pool;
    this.helpers = mostHelpers;
    this.feeds = feeds;
    this.fetched = new Value[plan.fetches()];
  }

  /**
   * Runs to the end on this thread and its helpers.
   *
   * @return a held value for each fetch; null for those that have no result
   */
  @Nullable Value[] run() throws InterruptedException {
    lock.lock();
    try {
      Frame root = new Frame(plan.root(), null);
      Iteration iteration = root.active.getFirst();
      for (Step step : plan.root().steps) {
        if (step.pending == 0 && !(step.work instanceof Work.Merge)) {
          makeReady(step, iteration);
        }
      }
      done = ready.isEmpty();
      work(true);
      if (failure == null) {
        return fetched;
      }
      discard(root);
      if (failure instanceof InterruptedException interruption) {
        throw interruption;
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      throw failed(failure);
    } finally {
      histories.clear();
      lock.unlock();
    }
  }

  private static RuntimeException failed(Throwable failure) {
    if (failure instanceof RuntimeException unchecked) {
      return unchecked;
    }
    return new IllegalStateException("A step failed: " + failure, failure);
  }

  /** Lets go of what the frames still hold. */
  private void discard(Frame root) {
    Arrays.stream(fetched).filter(Objects::nonNull).forEach(Value::release);
    List<Frame> all = new ArrayList<>(frames.values());
    all.add(root);
    for (Frame frame : all) {
      frame.invariants.forEach(arrival -> arrival.value().release());
      frame.waiting.forEach(arrival -> arrival.value().release());
      for (Iteration iteration : frame.active) {
        Arrays.stream(iteration.slots).filter(Objects::nonNull).forEach(Value::release);
      }
    }
  }

  /** Does what is ready, until there is nothing or, for the thread that asked, until the end. */
  private void work(boolean toTheEnd) {
    while (!finished()) {
      Ready next = failure == null ? ready.poll() : null;
      if (next == null) {
        if (!toTheEnd) {
          return;
        }
        try {
          news.await();
        } catch (InterruptedException e) {
          interrupted = true;
          fail(e); // What is at work ends soon, and is waited for.
        }
      } else if (next.iteration.dead[next.step.number] != 0 || next.step.work.isCheap()) {
        doCheap(next);
      } else if (next.step.work instanceof Work.Act act && act.action().waits()) {
        atWork++;
        Thread thread = Thread.ofVirtual().name(next.step.toString()).unstarted(() -> wait(next));
        waiting.add(thread);
        thread.start();
      } else {
        atWork++;
        callHelper();
        doExpensive(next);
      }
    }
  }

  private boolean finished() {
    return failure == null ? done : atWork == 0;
  }

  private void callHelper() {
    if (ready.isEmpty()) {
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

  private void wait(Ready task) {
    lock.lock();
    try {
      doExpensive(task);
    } finally {
      waiting.remove(Thread.currentThread());
      lock.unlock();
    }
  }

  /** Runs a step without the lock, which the caller holds. */
  private void doExpensive(Ready task) {
    List<Value> results = List.of();
    Throwable problem = null;
    lock.unlock();
    try {
      results = compute(task);
    } catch (InterruptedException e) {
      problem = new IllegalStateException(task.step + " was interrupted.", e);
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
    releaseSlots(task.step, task.iteration);
    for (int i = 0; i < results.size(); i++) {
      deliver(task.step, i, results.get(i), task.iteration);
    }
    complete(task.step, task.iteration, false);
    news.signalAll();
  }

  private void fail(@Nullable Throwable problem) {
    if (failure == null && problem != null) {
      failure = problem;
      waiting.forEach(Thread::interrupt);
    }
    news.signalAll();
  }

  private List<Value> compute(Ready task) throws InterruptedException {
    Step step = task.step;
    return switch (step.work) {
      case Work.Compute compute -> compute.region().run(task.iteration.slots, step.firstSlot);
      case Work.Act act -> act.action().run(inputs(task), surroundings);
      default -> throw new IllegalStateException(step + " is cheap.");
    };
  }

  private static List<Value> inputs(Ready task) {
    List<Value> inputs = new ArrayList<>();
    for (int i = 0; i < task.step.slots; i++) {
      inputs.add(present(task.iteration, task.step, i));
    }
    return inputs;
  }

  private static Value present(Iteration iteration, Step step, int slot) {
    Value value = iteration.slots[step.firstSlot + slot];
    if (value == null) {
      throw new IllegalStateException("Input " + slot + " of " + step + " is missing.");
    }
    return value;
  }

  /** The value in a slot, which is empty from then on. */
  private static Value take(Iteration iteration, Step step, int slot) {
    Value value = present(iteration, step, slot);
    iteration.slots[step.firstSlot + slot] = null;
    return value;
  }

  private static void releaseSlots(Step step, Iteration iteration) {
    for (int i = step.firstSlot; i < step.firstSlot + step.slots; i++) {
      Value value = iteration.slots[i];
      if (value != null) {
        iteration.slots[i] = null;
        value.release();
      }
    }
  }

  private void doCheap(Ready task) {
    Step step = task.step;
    Iteration iteration = task.iteration;
    try {
      boolean dead = isDead(step, iteration);
      if (dead) {
        releaseSlots(step, iteration);
        deliverDead(step, iteration);
      } else {
        pass(step, iteration);
      }
      complete(step, iteration, dead);
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private static boolean isDead(Step step, Iteration iteration) {
    int dead = iteration.dead[step.number];
    return step.work instanceof Work.Merge ? dead == step.slots : dead != 0;
  }

  /** Does a cheap step whose inputs are live. */
  private void pass(Step step, Iteration iteration) {
    switch (step.work) {
      case Work.Feed feed -> deliver(step, 0, feeds.get(feed.index()).retain(), iteration);
      case Work.Fetch fetch ->
          fetched[fetch.index()] = step.slots == 0 ? null : take(iteration, step, 0);
      case Work.Pass _ -> {
        if (step.slots > 0) {
          deliver(step, 0, take(iteration, step, 0), iteration);
        }
      }
      case Work.Exit _, Work.Next _, Work.Enter _ ->
          deliver(step, 0, take(iteration, step, 0), iteration);
      case Work.Merge _ -> {
        int live = 0;
        while (iteration.slots[step.firstSlot + live] == null) {
          live++;
        }
        deliver(step, 0, take(iteration, step, live), iteration);
      }
      case Work.Switch _ -> {
        int chosen = Work.scalar(present(iteration, step, 1)) != 0 ? 1 : 0;
        Value value = take(iteration, step, 0);
        releaseSlots(step, iteration);
        deliver(step, chosen, value, iteration);
        deliverDead(step, 1 - chosen, iteration);
      }
      case Work.Count count ->
          deliver(
              step,
              0,
              Work.scalar(memory, Type.f32(), count.zero() ? 0 : iteration.number + 1),
              iteration);
      case Work.Begin _ ->
          deliver(step, 0, Work.scalar(memory, Control.HISTORY, histories.begin()), iteration);
      case Work.Keep keep -> {
        Value history = take(iteration, step, 0);
        Value value = take(iteration, step, 1);
        int number = keep.branch() ? 0 : iteration.number;
        histories.keep((int) Work.scalar(history), keep.inner(), number, value);
        deliver(step, 0, history, iteration);
      }
      case Work.Recall recall -> {
        int history = (int) Work.scalar(present(iteration, step, 0));
        int number = Math.round(Work.scalar(present(iteration, step, 1)));
        Value value = histories.recall(history, recall.inner(), number);
        releaseSlots(step, iteration);
        deliver(step, 0, value, iteration);
      }
      case Work.Compute _, Work.Act _ -> throw new IllegalStateException(step + " is not cheap.");
    }
  }

  /** Sends a held value along all edges of a result. */
  private void deliver(Step step, int result, Value value, Iteration iteration) {
    List<Step.Target> targets = step.targets.get(result);
    if (targets.isEmpty()) {
      value.release();
      return;
    }
    for (int i = 1; i < targets.size(); i++) {
      value.retain();
    }
    for (Step.Target target : targets) {
      switch (step.work) {
        case Work.Enter enter -> enter(enter, target, value, iteration);
        case Work.Exit _ -> arrive(target, value, parent(iteration));
        case Work.Next _ -> next(target, value, iteration);
        default -> arrive(target, value, iteration);
      }
    }
  }

  private static Iteration parent(Iteration iteration) {
    return Objects.requireNonNull(iteration.frame.parent, "An exit is in a loop.");
  }

  private void enter(Work.Enter enter, Step.Target target, Value value, Iteration iteration) {
    Frame frame = frame(enter.loop(), iteration);
    if (!enter.invariant()) {
      arrive(target, value, frame.active.getFirst());
      return;
    }
    frame.invariants.add(new Frame.Arrival(target, value, 0));
    for (Iteration each : frame.active) {
      arrive(target, value.retain(), each);
    }
  }

  private Frame frame(FrameDef loop, Iteration parent) {
    return frames.computeIfAbsent(
        new Place(loop, parent),
        place -> {
          place.parent.outstanding++;
          return new Frame(place.loop, place.parent);
        });
  }

  private void next(Step.Target target, Value value, Iteration iteration) {
    Frame frame = iteration.frame;
    int number = iteration.number + 1;
    if (frame.find(number) == null) {
      if (frame.active.size() >= frame.def.parallelIterations) {
        frame.waiting.add(new Frame.Arrival(target, value, number));
        return;
      }
      begin(frame, number);
    }
    arrive(target, value, Objects.requireNonNull(frame.find(number)));
  }

  private void begin(Frame frame, int number) {
    Iteration iteration = new Iteration(frame, number);
    frame.active.add(iteration);
    for (Frame.Arrival invariant : frame.invariants) {
      arrive(invariant.target(), invariant.value().retain(), iteration);
    }
  }

  private void arrive(Step.Target target, Value value, Iteration iteration) {
    Step step = target.step();
    if (step.work instanceof Work.Merge) {
      iteration.slots[step.firstSlot + target.slot()] = value;
      makeReady(step, iteration);
      return;
    }
    iteration.slots[step.firstSlot + target.slot()] = value;
    count(step, iteration);
  }

  private void count(Step step, Iteration iteration) {
    if (--iteration.pending[step.number] == 0) {
      makeReady(step, iteration);
    }
  }

  private void makeReady(Step step, Iteration iteration) {
    iteration.outstanding++;
    ready.add(new Ready(step, iteration));
  }

  private void deliverDead(Step step, Iteration iteration) {
    for (int i = 0; i < step.targets.size(); i++) {
      deliverDead(step, i, iteration);
    }
  }

  private void deliverDead(Step step, int result, Iteration iteration) {
    switch (step.work) {
      case Work.Next _ -> {} // A loop ends because this does not go on.
      case Work.Exit _ -> {} // It is live in the last iteration alone.
      case Work.Enter enter -> {
        // All that enters a loop in a branch that is not taken is dead; the loop does not happen.
        if (enter.first()) {
          for (Step exit : enter.loop().exits) {
            exit.targets.getFirst().forEach(target -> arriveDead(target, iteration));
            exit.earlierThan.forEach(later -> markDead(later, iteration));
          }
        }
      }
      default -> step.targets.get(result).forEach(target -> arriveDead(target, iteration));
    }
  }

  private void arriveDead(Step.Target target, Iteration iteration) {
    Step step = target.step();
    if (step.work instanceof Work.Merge) {
      if (++iteration.dead[step.number] == step.slots) {
        makeReady(step, iteration);
      }
      return;
    }
    markDead(step, iteration);
  }

  private void markDead(Step step, Iteration iteration) {
    iteration.dead[step.number] = 1;
    count(step, iteration);
  }

  /** A step is over: what comes after it may happen, and its iteration may be done. */
  private void complete(Step step, Iteration iteration, boolean dead) {
    if (!step.earlierThan.isEmpty() && !(step.work instanceof Work.Exit && dead)) {
      Iteration where = step.work instanceof Work.Exit ? parent(iteration) : iteration;
      for (Step later : step.earlierThan) {
        if (dead) {
          markDead(later, where);
        } else {
          count(later, where);
        }
      }
    }
    if (step.work instanceof Work.Enter enter && !dead) {
      Frame frame = frame(enter.loop(), iteration);
      frame.enters--;
      endIterations(frame);
    }
    iteration.outstanding--;
    endIterations(iteration.frame);
  }

  /** Ends iterations, from the oldest, that nothing can happen in any more. */
  private void endIterations(Frame start) {
    Frame frame = start;
    while (frame != null) {
      while (!frame.active.isEmpty()
          && frame.enters == 0
          && frame.active.getFirst().outstanding == 0) {
        frame.active.removeFirst();
        resume(frame);
      }
      if (!frame.active.isEmpty()) {
        return;
      }
      frame.invariants.forEach(invariant -> invariant.value().release());
      frame.invariants.clear();
      Iteration parent = frame.parent;
      if (parent == null) {
        done = true;
        news.signalAll();
        return;
      }
      frames.remove(new Place(frame.def, parent));
      parent.outstanding--;
      frame = parent.frame;
    }
  }

  private void resume(Frame frame) {
    if (frame.waiting.isEmpty()) {
      return;
    }
    List<Frame.Arrival> arrivals = List.copyOf(frame.waiting);
    frame.waiting.clear();
    for (Frame.Arrival arrival : arrivals) {
      if (frame.find(arrival.iteration()) == null) {
        begin(frame, arrival.iteration());
      }
      arrive(
          arrival.target(),
          arrival.value(),
          Objects.requireNonNull(frame.find(arrival.iteration())));
    }
  }
}
