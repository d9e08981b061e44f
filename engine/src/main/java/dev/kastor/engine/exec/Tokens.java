package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The values of one run on their way along the edges of its plan, live or dead, and the frames and
 * iterations that they are in (Yu et al., EuroSys 2018, section 4.2); guarded by the run's lock.
 */
final class Tokens {
  /** A step that has all it needs. */
  record Ready(Step step, Iteration iteration) {
    /** Whether it is done at once by whoever finds it. */
    boolean isCheap() {
      return iteration.dead[step.number] != 0 || step.work.isCheap();
    }
  }

  private record Place(FrameDef loop, Iteration parent) {}

  private final Deque<Ready> ready = new ArrayDeque<>();
  private final Map<Place, Frame> frames = new HashMap<>();
  private final Histories histories;
  private final Frame root;
  private final Memory memory;
  private final List<Value> feeds;
  private final @Nullable Value[] fetched;

  /** Numbers of those that nobody was told of yet. */
  private final Deque<Integer> untold = new ArrayDeque<>();

  private boolean done;

  /** A run that is about to begin. */
  Tokens(Plan plan, Memory memory, Histories histories, List<Value> feeds) {
    this.memory = memory;
    this.histories = histories;
    this.feeds = feeds;
    this.fetched = new Value[plan.fetches()];
    root = new Frame(plan.root(), null);
    for (Step step : plan.root().steps) {
      if (step.pending == 0 && !(step.work instanceof Work.Merge)) {
        makeReady(step, root.active.getFirst());
      }
    }
    done = ready.isEmpty();
  }

  @Nullable Ready poll() {
    return ready.poll();
  }

  boolean noneReady() {
    return ready.isEmpty();
  }

  /** Whether nothing can happen any more. */
  boolean done() {
    return done;
  }

  /** A held value for each fetch; null for those that have no result. */
  @Nullable Value[] fetched() {
    return fetched;
  }

  /** The number of a value that was fetched, once; null if there is no other yet. */
  @Nullable Integer pollFetched() {
    return untold.poll();
  }

  void forgetHistories() {
    histories.clear();
  }

  /** Lets go of what the frames still hold. */
  void discard() {
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

  /** A computation or an action is over; takes over its held results. */
  void finish(Ready task, List<Value> results) {
    task.iteration.release(task.step);
    for (int i = 0; i < results.size(); i++) {
      deliver(task.step, i, results.get(i), task.iteration);
    }
    complete(task.step, task.iteration, false);
  }

  /** Does a step that is cheap. */
  void doCheap(Ready task) {
    Step step = task.step;
    Iteration iteration = task.iteration;
    boolean dead = isDead(step, iteration);
    if (dead) {
      iteration.release(step);
      deliverDead(step, iteration);
    } else {
      pass(step, iteration);
    }
    complete(step, iteration, dead);
  }

  private static boolean isDead(Step step, Iteration iteration) {
    int dead = iteration.dead[step.number];
    return step.work instanceof Work.Merge ? dead == step.slots : dead != 0;
  }

  /** Does a cheap step whose inputs are live. */
  private void pass(Step step, Iteration iteration) {
    switch (step.work) {
      case Work.Feed feed -> deliver(step, 0, feeds.get(feed.index()).retain(), iteration);
      case Work.Fetch fetch -> {
        if (step.slots > 0) {
          fetched[fetch.index()] = iteration.take(step, 0);
          untold.add(fetch.index());
        }
      }
      case Work.Pass _ -> {
        if (step.slots > 0) {
          deliver(step, 0, iteration.take(step, 0), iteration);
        }
      }
      case Work.Exit _, Work.Next _, Work.Enter _ ->
          deliver(step, 0, iteration.take(step, 0), iteration);
      case Work.Merge _ -> {
        int live = 0;
        while (iteration.slots[step.firstSlot + live] == null) {
          live++;
        }
        deliver(step, 0, iteration.take(step, live), iteration);
      }
      case Work.Switch _ -> {
        int chosen = Work.scalar(iteration.value(step, 1)) != 0 ? 1 : 0;
        Value value = iteration.take(step, 0);
        iteration.release(step);
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
        int history = (int) Work.scalar(iteration.value(step, 0));
        int number = keep.branch() ? 0 : iteration.number;
        histories.keep(history, keep.inner(), number, iteration.take(step, 1));
        deliver(step, 0, iteration.take(step, 0), iteration);
      }
      case Work.Recall recall -> {
        int history = (int) Work.scalar(iteration.value(step, 0));
        int number = Math.round(Work.scalar(iteration.value(step, 1)));
        Value value = histories.recall(history, recall.inner(), number);
        iteration.release(step);
        deliver(step, 0, value, iteration);
      }
      case Work.Compute _, Work.Act _, Work.Change _ ->
          throw new IllegalStateException(step + " is not cheap.");
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
