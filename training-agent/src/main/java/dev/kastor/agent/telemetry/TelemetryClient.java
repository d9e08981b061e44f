package dev.kastor.agent.telemetry;

import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.operator.OperatorException;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.text.PrintableText;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends about one report per second while rank 0 has something to tell.
 *
 * <p>What could not be sent is merged into the next report, within bounds, so an operator that
 * comes back misses no switch. To one that took over from another, all step times that this replica
 * has measured are told once more. The methods only note what happened and never wait for the
 * network, except {@link #finish} and {@link #close}. Thread-safe.
 */
public final class TelemetryClient implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TelemetryClient.class);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);
  private static final Duration RETRY = Duration.ofMillis(500);

  private final OperatorConnection operator;
  private final int protocol;
  private final JobId job;
  private final String pod;
  private final Duration interval;
  private final Thread sender;

  private final StepProfiler lived = new StepProfiler();
  private final PassTimes passes = new PassTimes();
  private final ProgressLog progress = new ProgressLog(System::nanoTime);
  private Unsent unsent = new Unsent();
  private @Nullable TrainingStatus latest;
  private @Nullable CheckpointInfo checkpoint;
  private @Nullable String unsaved;
  private long @Nullable [] stale;
  private @Nullable Long droppedCopies;
  private boolean news;
  private boolean closed;

  /** Owned by whoever holds {@code sending}. */
  private long sequence;

  private boolean away;
  private String term = "";
  private boolean retell;
  private final Object sending = new Object();

  private TelemetryClient(
      OperatorConnection operator, int protocol, JobId job, String pod, Duration interval) {
    this.protocol = protocol;
    this.operator = operator;
    this.job = job;
    this.pod = pod;
    this.interval = interval;
    this.sender = Thread.ofVirtual().name("telemetry").unstarted(this::sendRegularly);
  }

  /**
   * Starts to report.
   *
   * @param protocol version of the agent protocol that both sides know
   */
  public static TelemetryClient start(
      OperatorConnection operator, int protocol, JobId job, String pod, Duration interval) {
    TelemetryClient client = new TelemetryClient(operator, protocol, job, pod, interval);
    client.sender.start();
    return client;
  }

  /** Notes an applied step. */
  public synchronized void stepped(StepSample sample) {
    unsent.add(sample);
    if (sample.typical()) {
      lived.add(sample);
    }
    reached(sample.status());
    progress.stepped(sample).ifPresent(line -> log.info("{}: {}", job, line));
  }

  /** Notes how long each member computed in a step. */
  public synchronized void compared(List<String> pods, double[] passSeconds) {
    passes.add(pods, passSeconds);
  }

  /** Notes the staleness of an asynchronous update. */
  public synchronized void stale(long staleness) {
    long[] counts = stale == null ? new long[Staleness.MOST_COUNTS] : stale;
    counts[Math.clamp(staleness, 0, counts.length - 1)]++;
    stale = counts;
  }

  /** Notes how many shares came after another worker's copy, since the start of the process. */
  public synchronized void dropped(long copies) {
    droppedCopies = copies;
  }

  /** Notes where training stands without a step: at the start of a generation. */
  public synchronized void reached(TrainingStatus status) {
    latest = status;
    news = true;
  }

  /** Notes a change of members; sent with the status that follows. */
  public synchronized void switched(Switch change) {
    unsent.add(change);
  }

  /** Notes the metric of the present parameters on held-out data, unless it is not finite. */
  public synchronized void evaluated(String metric, double value) {
    unsent.heldOut(metric, value);
    news = latest != null;
  }

  /** Notes a durable checkpoint. */
  public synchronized void saved(CheckpointInfo info) {
    checkpoint = info;
    unsaved = null;
    news = latest != null;
  }

  /** Notes why a checkpoint could not be saved. */
  public synchronized void unsaved(IOException failure) {
    String said = PrintableText.line(said(failure));
    unsaved = said.substring(0, Math.min(said.length(), TelemetryReport.MAX_TEXT));
    news = latest != null;
  }

  /** The same words for each attempt: each has a file of its own. */
  private static String said(IOException failure) {
    if (failure instanceof FileSystemException of && of.getReason() != null) {
      Path folder = of.getFile() == null ? null : Path.of(of.getFile()).getParent();
      return of.getReason() + (folder == null ? "" : ": " + folder);
    }
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /**
   * Sends the last report, again and again until it arrives or time is up.
   *
   * @return whether it arrived; also true where no status was ever noted, as there is nothing to
   *     say
   */
  public boolean finish(Outcome outcome, Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      if (send(outcome)) {
        return true;
      }
      if (System.nanoTime() - end > 0) {
        log.warn("{}: the last report did not reach the operator within {}", job, limit);
        return false;
      }
      Thread.sleep(RETRY);
    }
  }

  private void sendRegularly() {
    try {
      while (pauseUnlessClosed()) {
        send(null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean pauseUnlessClosed() throws InterruptedException {
    long end = System.nanoTime() + interval.toNanos();
    while (!closed) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return true;
      }
      wait(leftMillis);
    }
    return false;
  }

  /** Sends what is unsent; true when nothing is left to send. */
  private boolean send(@Nullable Outcome outcome) throws InterruptedException {
    synchronized (sending) {
      Unsent taken;
      TelemetryReport report;
      synchronized (this) {
        TrainingStatus status = latest;
        if (status == null || (outcome == null && !news)) {
          return true;
        }
        taken = unsent;
        unsent = new Unsent();
        news = false;
        report = report(status, taken, outcome);
      }
      try {
        answeredBy(operator.post("telemetry", WireJson.write(report), ANSWER_LIMIT));
        sequence++;
        if (away) {
          log.info("{}: reports arrive again", job);
        }
        away = false;
        return true;
      } catch (OperatorException e) {
        if (e.refused()) {
          log.error("{}: a report was refused: {}", job, e.getMessage());
          return true;
        }
        keep(taken, e);
        return false;
      } catch (IOException e) {
        keep(taken, e);
        return false;
      }
    }
  }

  /** One that did not hear what we said before is told all of it with the next report. */
  private void answeredBy(String newest) {
    boolean successor = !term.isEmpty() && !term.equals(newest);
    term = newest;
    synchronized (this) {
      retell = successor;
      news |= successor;
    }
  }

  private void keep(Unsent taken, IOException why) {
    if (!away) {
      log.warn("{}: a report did not reach the operator: {}", job, why.getMessage());
    }
    away = true;
    synchronized (this) {
      taken.add(unsent);
      unsent = taken;
      news = true;
    }
  }

  private TelemetryReport report(TrainingStatus status, Unsent taken, @Nullable Outcome outcome) {
    return new TelemetryReport(
            job.namespace(),
            job.name(),
            pod,
            status.generation(),
            sequence,
            status.replicas(),
            status.batch(),
            (retell ? lived : taken.profiler()).profiles(),
            status.gradient().orElse(null),
            status.progress(),
            taken.meanLoss(),
            status.learningRate().orElse(null),
            checkpoint,
            taken.switches(),
            outcome,
            passes.take().orElse(null),
            taken.scalars(),
            unsaved,
            stale == null ? null : new Staleness(Arrays.stream(stale).boxed().toList()),
            droppedCopies)
        .asOf(protocol);
  }

  /** Sends once more what is unsent and ends. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      sender.join();
      send(null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
