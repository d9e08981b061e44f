package dev.kastor.engine.partition;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.exec.Fetched;
import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.PlannedExecutable;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Executor of graphs on several devices, each with a session of its own.
 *
 * <p>Any number of runs may be under way. Thread-safe.
 */
public final class PartitionedSession implements AutoCloseable {
  private record Key(Set<Node> feeds, List<Node> fetches) {
    Key {
      feeds = Set.copyOf(feeds);
      fetches = List.copyOf(fetches);
    }
  }

  private record Plan(Map<Device, Part> parts, Map<Device, Set<Node>> feeds) {}

  private final Map<Device, Session> sessions;
  private final Placer placer;
  private final Rendezvous rendezvous = new Rendezvous();
  private final Map<Key, Plan> plans = new HashMap<>();
  private final AtomicLong runs = new AtomicLong();
  private final ExecutorService pool =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name("part-", 0).factory());

  /**
   * A session over some devices.
   *
   * @param sessions of all devices of the placer; not closed with this
   */
  public PartitionedSession(Map<Device, Session> sessions, Placer placer) {
    this.sessions = Map.copyOf(sessions);
    this.placer = placer;
  }

  /**
   * Computes nodes.
   *
   * @param feeds values of leaves, or of any other nodes; read until this returns
   * @param fetches nodes; those without a result take place and have no value
   * @throws IllegalArgumentException if the graph cannot be placed, or a value is missing
   * @throws MemoryCapException if a device has too little memory; the session lives on
   * @throws IllegalStateException if a part elsewhere failed
   * @throws InterruptedException if this thread is interrupted; what was begun has ended
   */
  public Results run(Map<Node, Tensor> feeds, List<Node> fetches) throws InterruptedException {
    return run(feeds, fetches, Fetched.NOBODY);
  }

  /**
   * Makes a graph ready to run again and again, with inputs that have fixed places on the devices
   * that use them first.
   *
   * @return closed before this is
   * @throws IllegalArgumentException if the graph cannot be placed
   * @throws MemoryCapException if a device has too little memory for its inputs
   */
  public Executable compile(Graph graph) {
    Key key = new Key(Set.copyOf(graph.leaves()), graph.outputs());
    Plan plan = plan(key);
    Map<Node, Memory.Lasting> inputs = new HashMap<>();
    plan.feeds()
        .forEach((device, feeds) -> {
          Memory.Lasting here =
              session(device).memory().lasting("An input of the part on " + device);
          feeds.forEach(feed -> inputs.put(feed, here));
        });
    Runnable free =
        () -> {
          inputs.values().forEach(Memory.Lasting::close);
          forget(key);
        };
    try {
      return new PlannedExecutable(
          graph,
          (values, finished) -> run(values, graph.outputs(), finished),
          leaf ->
              Objects.requireNonNull(inputs.get(leaf))
                  .allocate(PlannedExecutable.bytes(leaf), Tensor.ALIGNMENT),
          free);
    } catch (RuntimeException | Error e) {
      free.run();
      throw e;
    }
  }

  private Session session(Device device) {
    Session session = sessions.get(device);
    if (session == null) {
      throw new IllegalArgumentException(device + " has no session.");
    }
    return session;
  }

  private void forget(Key key) {
    Plan plan;
    synchronized (plans) {
      plan = plans.remove(key);
    }
    if (plan != null) {
      plan.parts()
          .forEach((device, part) ->
              session(device).forget(plan.feeds().getOrDefault(device, Set.of()), part.fetches()));
    }
  }

  /**
   * The same for who wants to hear of values as they are there.
   *
   * @param listener called by this thread, while parts are at work
   */
  public Results run(Map<Node, Tensor> feeds, List<Node> fetches, Fetched listener)
      throws InterruptedException {
    Plan plan = plan(new Key(feeds.keySet(), fetches));
    String run = "run " + runs.incrementAndGet();
    @Nullable Value[] values = new Value[fetches.size()];
    Map<Device, Future<?>> parts = new HashMap<>();
    Failure failure = new Failure(run);
    News news = new News();
    try {
      plan.parts()
          .forEach((device, part) -> {
            Session session = session(device);
            Map<Node, Tensor> here = new HashMap<>(feeds);
            here.keySet().retainAll(plan.feeds().getOrDefault(device, Set.of()));
            parts.put(device, pool.submit(() -> failure.watch(session, here, part, values, news)));
          });
      news.tell(parts.size(), failure, listener);
      await(parts, failure);
      failure.check();
      return new Results(values);
    } catch (RuntimeException | InterruptedException e) {
      for (Value value : values) {
        if (value != null) {
          value.release();
        }
      }
      throw e;
    } finally {
      news.discard();
      rendezvous.forget(run);
    }
  }

  /** What parts have fetched, on its way to the thread that asked. */
  private static final class News {
    /**
     * A value that was fetched.
     *
     * @param value held until it was told of, however its part ends meanwhile
     */
    private record There(int fetch, @Nullable Value value) {
      /** Says that a part has ended. */
      static final There END = new There(-1, null);
    }

    private final BlockingQueue<There> queue = new LinkedBlockingQueue<>();

    /** Lets go of what nobody was told of; all parts have ended. */
    void discard() {
      for (There next = queue.poll(); next != null; next = queue.poll()) {
        if (next.value != null) {
          next.value.release();
        }
      }
    }

    /** Tells of values until so many parts have ended. */
    void tell(int parts, PartitionedSession.Failure failure, Fetched listener) {
      int running = parts;
      while (running > 0) {
        try {
          There next = queue.take();
          if (next.value == null) {
            running--;
          } else {
            try {
              if (failure.isNone()) {
                listener.there(next.fetch, next.value);
              }
            } finally {
              next.value.release();
            }
          }
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return; // Whoever waits for the parts ends them.
        } catch (RuntimeException | Error e) {
          failure.happened(e);
        }
      }
    }
  }

  /** Waits until all parts have ended, however they do. */
  private static void await(Map<Device, Future<?>> parts, Failure failure)
      throws InterruptedException {
    InterruptedException interrupted = null;
    for (Future<?> part : parts.values()) {
      while (true) {
        try {
          part.get();
          break;
        } catch (InterruptedException e) {
          interrupted = e;
          failure.happened(new IllegalStateException("The run was interrupted."));
        } catch (ExecutionException e) {
          failure.happened(e);
          break;
        }
      }
    }
    if (interrupted != null) {
      throw interrupted;
    }
  }

  /** The first thing that went wrong in a run; the other parts end because of it. */
  private final class Failure {
    private final String run;
    private final Set<Thread> atWork = new HashSet<>();
    private @Nullable Throwable first;

    Failure(String run) {
      this.run = run;
    }

    /** Does a part. */
    @Nullable Void watch(
        Session session, Map<Node, Tensor> feeds, Part part, @Nullable Value[] values, News news) {
      begin();
      Fetched listener =
          (fetch, value) -> {
            if (fetch < part.numbers().size()) {
              news.queue.add(new News.There(part.numbers().get(fetch), value.retain()));
            }
          };
      try (Results results = session.run(run, feeds, part.fetches(), listener)) {
        for (int i = 0; i < part.numbers().size(); i++) {
          values[part.numbers().get(i)] = results.held(i).orElse(null);
        }
      } catch (RuntimeException | Error | InterruptedException e) {
        happened(e);
      } finally {
        end();
        news.queue.add(News.There.END);
      }
      return null;
    }

    private synchronized void begin() {
      atWork.add(Thread.currentThread());
      if (first != null) {
        Thread.currentThread().interrupt();
      }
    }

    private synchronized void end() {
      atWork.remove(Thread.currentThread());
      boolean _ = Thread.interrupted(); // The thread goes on to other runs.
    }

    synchronized void happened(Throwable problem) {
      if (first == null) {
        first = problem;
        rendezvous.fail(run, "Another part of the run failed: " + problem.getMessage());
        atWork.stream()
            .filter(thread -> !thread.equals(Thread.currentThread()))
            .forEach(Thread::interrupt);
      }
    }

    synchronized boolean isNone() {
      return first == null;
    }

    synchronized void check() {
      switch (first) {
        case null -> {}
        case RuntimeException unchecked -> throw unchecked;
        default -> throw new IllegalStateException("A part of the run failed: " + first, first);
      }
    }
  }

  private Plan plan(Key key) {
    synchronized (plans) {
      return plans.computeIfAbsent(key, this::makePlan);
    }
  }

  private Plan makePlan(Key key) {
    var placement = placer.place(key.fetches(), key.feeds());
    Map<Device, Part> parts = Partitioner.parts(key.fetches(), key.feeds(), placement, rendezvous);
    Map<Device, Set<Node>> feeds = new HashMap<>();
    parts.forEach((device, part) -> {
      Session _ = session(device); // Before anything has begun.
      List<Node> here = new ArrayList<>(key.feeds());
      here.removeIf(feed -> !placement.of(feed).equals(Optional.of(device)));
      feeds.put(device, Set.copyOf(here));
    });
    return new Plan(parts, feeds);
  }

  /** Ends its threads; no run may be under way. */
  @Override
  public void close() {
    pool.close();
  }
}
