package dev.kastor.agent.membership;

import dev.kastor.agent.membership.LocalReplica.Standing;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.operator.OperatorException;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.scheduler.JobId;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Long-polls the operator in a virtual thread and keeps the newest membership.
 *
 * <p>When the operator is away it tries again with growing, jittered pauses; whoever asks meanwhile
 * gets what was known last. Thread-safe.
 */
public final class MembershipClient implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MembershipClient.class);
  private static final int NO_SUCH_JOB = 404;

  /** Short, so that a connection whose other end vanished without a word is found out soon. */
  private static final Duration WAIT = Duration.ofSeconds(10);

  private static final Duration ANSWER_LIMIT = WAIT.plusSeconds(5);
  private static final Duration NO_NEWS_PAUSE = Duration.ofMillis(300);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);

  private final OperatorConnection operator;
  private final JobId job;
  private final LocalReplica replica;
  private final Thread poller;
  private @Nullable Membership newest;
  private @Nullable CompletableFuture<HttpResponse<byte[]>> inFlight;
  private boolean cancelled;
  private boolean closed;
  private volatile boolean jobGone;

  private MembershipClient(OperatorConnection operator, JobId job, LocalReplica replica) {
    this.operator = operator;
    this.job = job;
    this.replica = replica;
    this.poller = Thread.ofVirtual().name("membership").unstarted(this::poll);
  }

  /** Starts to poll. */
  public static MembershipClient start(
      OperatorConnection operator, JobId job, LocalReplica replica) {
    MembershipClient client = new MembershipClient(operator, job, replica);
    client.poller.start();
    return client;
  }

  /** The newest membership known; empty before the first answer. */
  public synchronized Optional<Membership> newest() {
    return Optional.ofNullable(newest);
  }

  /**
   * Waits for a membership that satisfies a condition.
   *
   * @return empty when time is up
   */
  public synchronized Optional<Membership> await(Predicate<Membership> wanted, Duration limit)
      throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      Membership now = newest;
      if (now != null && wanted.test(now)) {
        return Optional.of(now);
      }
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return Optional.empty();
      }
      wait(leftMillis);
    }
  }

  /** Moves the replica to a generation and phase and tells the operator at once. */
  public synchronized void moved(long generation, ReplicaState.Phase phase) {
    Standing next = new Standing(generation, phase);
    if (!replica.standing().equals(next)) {
      replica.moved(generation, phase);
      cancelInFlight();
    }
  }

  /** Whether the operator said last that there is no such job. */
  public boolean jobGone() {
    return jobGone;
  }

  /** Asks the operator now instead of waiting for its answer to an earlier question. */
  public synchronized void askNow() {
    cancelInFlight();
  }

  /** Says how far our state is; told with the next poll. */
  public void stepped(long step) {
    replica.stepped(step);
  }

  /** Says whether we wait for the other members; told with the next poll. */
  public void waiting(boolean now) {
    replica.waiting(now);
  }

  private void poll() {
    Duration pause = FIRST_PAUSE;
    boolean away = false;
    try {
      while (!isClosed()) {
        Standing asked = replica.standing();
        long started = System.nanoTime();
        try {
          boolean news = accept(ask(asked));
          if (away) {
            log.info("{}: the operator is back", job);
          }
          away = false;
          pause = FIRST_PAUSE;
          // Until we have switched to what is already known, the answer comes at once each time.
          if (!news && System.nanoTime() - started < NO_NEWS_PAUSE.toNanos()) {
            pauseWhile(asked, NO_NEWS_PAUSE);
          }
        } catch (CancellationException e) {
          log.debug("{}: polls again as {}", job, replica.standing());
        } catch (IOException | IllegalArgumentException e) {
          if (wasCancelled()) {
            log.debug("{}: polls again as {}", job, replica.standing());
            continue;
          }
          if (!away) {
            log.warn("{}: no membership from the operator: {}", job, e.getMessage());
          }
          away = true;
          double jitter = ThreadLocalRandom.current().nextDouble(0.5, 1.5);
          pauseWhile(asked, Duration.ofNanos((long) (pause.toNanos() * jitter)));
          Duration twice = pause.multipliedBy(2);
          pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Membership ask(Standing asked) throws IOException, InterruptedException {
    ReplicaState state = replica.state();
    String query =
        "membership?pod=%s&address=%s&generation=%d&phase=%s&step=%d&waiting=%s&wait=%d"
            .formatted(
                encoded(state.pod()),
                encoded(state.address()),
                asked.generation(),
                asked.phase(),
                state.step(),
                state.waiting(),
                WAIT.toSeconds());
    CompletableFuture<HttpResponse<byte[]>> answer = operator.get(query, ANSWER_LIMIT);
    synchronized (this) {
      cancelled = false;
      inFlight = answer;
      if (closed || !replica.standing().equals(asked)) {
        cancelInFlight();
      }
    }
    try {
      Membership membership =
          checked(WireJson.read(OperatorConnection.await(answer), Membership.class));
      jobGone = false;
      return membership;
    } catch (OperatorException e) {
      jobGone = e.status() == NO_SUCH_JOB;
      throw e;
    } finally {
      synchronized (this) {
        inFlight = null;
      }
    }
  }

  private static Membership checked(Membership answer) throws IOException {
    boolean inOrder = true;
    for (int rank = 0; rank < answer.members().size(); rank++) {
      inOrder &= answer.members().get(rank).rank() == rank;
    }
    // JSON leaves out what the types say is there.
    boolean complete = Objects.nonNull(answer.action()) && Objects.nonNull(answer.batchPlan());
    if (answer.action() == Membership.Action.RUN
        && !(inOrder && complete && !answer.members().isEmpty())) {
      throw new IOException("the operator sent a membership that cannot be run: " + answer);
    }
    return answer;
  }

  /** Keeps an answer unless a newer one is known; says whether it is new. */
  private synchronized boolean accept(Membership answer) {
    Membership known = newest;
    if (known != null
        && (answer.generation() < known.generation()
            || (answer.generation() == known.generation()
                && answer.action() == Membership.Action.WAIT))) {
      // Nothing new within the time of the poll.
      return false;
    }
    newest = answer;
    notifyAll();
    return !answer.equals(known);
  }

  private synchronized void pauseWhile(Standing same, Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (!closed && replica.standing().equals(same)) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return;
      }
      wait(leftMillis);
    }
  }

  private synchronized void cancelInFlight() {
    cancelled = true;
    if (inFlight != null) {
      inFlight.cancel(true);
    }
    notifyAll();
  }

  private synchronized boolean wasCancelled() {
    return cancelled;
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      cancelInFlight();
    }
    try {
      poller.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
