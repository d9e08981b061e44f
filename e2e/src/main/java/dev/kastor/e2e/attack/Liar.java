package dev.kastor.e2e.attack;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.scale.AgentLine;
import dev.kastor.e2e.scale.PlayedAgent;
import io.fabric8.kubernetes.api.model.Pod;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An agent in each pod of a job, who reports what his tenant wants the operator to believe. */
final class Liar implements AutoCloseable, PlayedAgent.Tally {
  private static final long LOOK_MILLIS = 500;
  private static final int STEPS_PER_REPORT = 25;
  private static final Duration HEARD = Duration.ofSeconds(20);
  private static final int ENOUGH = 3;

  private final Hostile hostile;
  private final String job;
  private final boolean leaves;
  private final PlayedAgent.Manner manner;
  private final AgentLine line;
  private final PlayedAgent.Work work;
  private final Map<String, Thread> agents = new HashMap<>();
  private final AtomicInteger answers = new AtomicInteger();
  private final Thread looker;

  /**
   * Agents of a job of the hostile tenant, who begin as soon as it has pods.
   *
   * @param steps of the work that they claim to do
   * @param leaves whether they go when they are told to
   * @param words what becomes of a true report
   */
  Liar(Hostile hostile, String job, long steps, boolean leaves, UnaryOperator<ObjectNode> words) {
    this.hostile = hostile;
    this.leaves = leaves;
    this.job = job;
    manner = new PlayedAgent.Manner(STEPS_PER_REPORT, words);
    work = new PlayedAgent.Work(steps);
    line =
        AgentLine.toAnyone(URI.create("https://%s:8443".formatted(hostile.operator().address())));
    looker = Thread.ofVirtual().name("liar-" + job).start(this::look);
  }

  /** Waits until the operator has answered some reports, whatever it said. */
  void untilHeard() throws InterruptedException {
    long begun = System.nanoTime();
    while (answers.get() < ENOUGH && System.nanoTime() - begun < HEARD.toNanos()) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  @Override
  public void reported(double seconds) {
    answers.incrementAndGet();
  }

  @Override
  public void failed(String why) {
    if (why.startsWith("report")) {
      answers.incrementAndGet();
    }
  }

  @Override
  public void close() {
    looker.interrupt();
    line.close();
  }

  private void look() {
    Jobs jobs = hostile.jobs();
    try {
      while (true) {
        for (Pod pod : jobs.running(job)) {
          agents.computeIfAbsent(
              pod.getMetadata().getUid(), _ -> Thread.ofVirtual().start(() -> play(pod)));
        }
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      agents.values().forEach(Thread::interrupt);
    }
  }

  private void play(Pod pod) {
    try {
      new PlayedAgent(pod, hostile.token(pod), work, line, manner, this).run();
      if (leaves) {
        hostile.client().resource(pod).withGracePeriod(1).delete();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
