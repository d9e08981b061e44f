package dev.kastor.agent.membership;

import dev.kastor.agent.membership.LocalReplica.Standing;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.operator.OperatorException;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Doing;
import dev.kastor.protocol.ReplicaState.Phase;
import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
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

  /** How much later than that an answer may come. */
  private static final Duration LATE = Duration.ofSeconds(5);

  /** A replica that starts expects no news, and is ready at any moment. */
  private static final Duration STARTING_PAUSE = Duration.ofSeconds(1);

  private static final Duration NO_NEWS_PAUSE = Duration.ofMillis(300);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);

  private final OperatorConnection operator;
  private final JobId job;
  private final LocalReplica replica;
  private final Duration wait;
  private final Thread poller;
  private @Nullable Membership newest;
  private boolean again;
  private boolean closed;
  private volatile boolean jobGone;

  private MembershipClient(
      OperatorConnection operator, JobId job, LocalReplica replica, Duration wait) {
    this.operator = operator;
    this.job = job;
    this.replica = replica;
    this.wait = wait;
    this.poller = Thread.ofVirtual().name("membership").unstarted(this::poll);
  }

  /** Starts to poll. */
  public static MembershipClient start(
      OperatorConnection operator, JobId job, LocalReplica replica) {
    return start(operator, job, replica, WAIT);
  }

  /**
   * The same.
   *
   * @param wait how long the operator may keep a question that it has no news for
   */
  static MembershipClient start(
      OperatorConnection operator, JobId job, LocalReplica replica, Duration wait) {
    MembershipClient client = new MembershipClient(operator, job, replica, wait);
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
  public synchronized void moved(long generation, Phase phase) {
    Standing next = new Standing(generation, phase);
    if (!replica.standing().equals(next)) {
      replica.moved(generation, phase);
      notifyAll();
    }
  }

  /** Whether the operator said last that there is no such job. */
  public boolean jobGone() {
    return jobGone;
  }

  /** Asks the operator now instead of waiting for its answer to an earlier question. */
  public synchronized void askNow() {
    again = true;
    notifyAll();
  }

  /** Says how far our state is; told with the next poll. */
  public void stepped(long step) {
    replica.stepped(step);
  }

  /** Says how our start ended, at once: the operator measures it by its own clock, too. */
  public void started(ReplicaStart start) {
    replica.started(start);
    askNow();
  }

  /** Says whether we wait for the other members; told with the next poll. */
  public void waiting(boolean now) {
    replica.waiting(now);
  }

  /** Says what we are busy with. */
  public void doing(Doing now) {
    replica.doing(now);
  }

  private void poll() {
    Duration pause = FIRST_PAUSE;
    boolean away = false;
    try {
      while (!isClosed()) {
        Standing asked = replica.standing();
        long started = System.nanoTime();
        try {
          Optional<Membership> answer = ask(asked);
          if (answer.isEmpty()) {
            log.debug("{}: polls again as {}", job, replica.standing());
            continue;
          }
          boolean news = accept(answer.get());
          if (away) {
            log.info("{}: the operator is back", job);
          }
          away = false;
          pause = FIRST_PAUSE;
          // Until we have switched to what is already known, the answer comes at once each time.
          if (asked.phase() == Phase.STARTING) {
            pauseWhile(asked, STARTING_PAUSE);
          } else if (!news && System.nanoTime() - started < NO_NEWS_PAUSE.toNanos()) {
            pauseWhile(asked, NO_NEWS_PAUSE);
          }
        } catch (IOException | IllegalArgumentException e) {
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

  /** The operator's answer; empty if there is something newer to say or to ask meanwhile. */
  private Optional<Membership> ask(Standing asked) throws IOException, InterruptedException {
    ReplicaState state = replica.state();
    ReplicaStart start = state.start();
    // One who starts keeps no connection busy: what it says next needs no new one.
    long waitSeconds = asked.phase() == Phase.STARTING ? 0 : wait.toSeconds();
    String query =
        "membership?pod=%s&address=%s&generation=%d&phase=%s&step=%d&waiting=%s&doing=%s&client=%s&wait=%d%s"
            .formatted(
                encoded(state.pod()),
                encoded(state.address()),
                asked.generation(),
                asked.phase(),
                state.step(),
                state.waiting(),
                state.doing(),
                encoded(state.client()),
                waitSeconds,
                start == null ? "" : "&start=" + encoded(start.text()));
    CompletableFuture<HttpResponse<byte[]>> answer = operator.get(query, wait.plus(LATE));
    var _ = answer.whenComplete((done, failure) -> wake());
    if (!outdated(asked, answer)) {
      try {
        Membership membership =
            checked(WireJson.read(OperatorConnection.await(answer), Membership.class));
        jobGone = false;
        return Optional.of(membership);
      } catch (OperatorException e) {
        jobGone = e.status() == NO_SUCH_JOB;
        throw e;
      }
    }
    return Optional.empty();
  }

  /**
   * Waits for the answer, or until the question is not what we would ask now. Such a question is
   * left to itself: the operator ends it when it hears the next, and its connection can be used
   * again, where one that is broken off would cost a new one.
   */
  private synchronized boolean outdated(Standing asked, CompletableFuture<?> answer)
      throws InterruptedException {
    while (!answer.isDone() && !closed && !again && replica.standing().equals(asked)) {
      wait();
    }
    again = false;
    if (closed) {
      answer.cancel(true);
    }
    return !answer.isDone() || closed;
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
    while (!closed && !again && replica.standing().equals(same)) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return;
      }
      wait(leftMillis);
    }
  }

  private synchronized void wake() {
    notifyAll();
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
      notifyAll();
    }
    try {
      poller.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
