package dev.kastor.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Operator of a rehearsal, which tells of two GPUs and of jobs that share them. */
final class RehearsedOperator implements AutoCloseable {
  private static final int OK = 200;

  private final HttpServer http;

  private RehearsedOperator(HttpServer http) {
    this.http = http;
  }

  static RehearsedOperator start() throws IOException {
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    ObjectMapper json = new ObjectMapper();
    Instant now = Instant.now();
    answer(
        http,
        "/api/v1/snapshot",
        json.writeValueAsBytes(
            LiveDocument.of(
                new LiveCluster(
                    now,
                    "kastor",
                    1,
                    Duration.ofSeconds(30),
                    Duration.ofMillis(100),
                    List.of(new Node("local", "", 2)),
                    Map.of(),
                    List.of(
                        job("runs", now, Allocation.on("local", 1)),
                        job("waits", now, Allocation.NONE)),
                    0))));
    answer(
        http,
        "/api/v1/snapshot/job",
        json.writeValueAsBytes(JobDocument.of(job("added", now, Allocation.NONE))));
    http.start();
    return new RehearsedOperator(http);
  }

  private static void answer(HttpServer http, String path, byte[] body) {
    var _ =
        http.createContext(
            path,
            exchange -> {
              exchange.sendResponseHeaders(OK, body.length);
              try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
              }
            });
  }

  private static LiveJob job(String name, Instant now, Allocation allocation) {
    JobSpec spec =
        new JobSpec(
            new JobId("default", name),
            now,
            new Elasticity.Adaptive(1, 2, new AllowedReplicas.Any()),
            new BatchLimits(64, 512, 16, 128, true),
            "");
    ThroughputParams speed = new ThroughputParams(0.01, 0.001, 0.01, 0, 0.01, 0, 1.5);
    JobState state =
        new JobState(
            spec,
            allocation,
            Optional.of(new GoodputModel(speed, new GradientStats(1, 10, 64))),
            1,
            Optional.of(new Progress(100, 100, 10_000, 6400, 0)),
            Duration.ZERO,
            0,
            0,
            Duration.ofSeconds(2),
            Duration.ofSeconds(5),
            Duration.ZERO,
            false,
            false,
            Outlook.NONE,
            Optional.empty());
    return new LiveJob(state, false);
  }

  /** Where it answers. */
  String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
