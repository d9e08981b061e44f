package dev.kastor.operator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.operator.TestCertificate;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateFilesTest {
  private static final Duration ALMOST = CertificateFiles.SETTLE.minusSeconds(1);
  private static final int CLIENTS = 4;
  private static final int RENEWALS = 25;

  /** Vert.x ends a handshake after ten seconds, which a busy machine may take. */
  private static final int NO_LIMIT_SECONDS = 3_600;

  private final Vertx vertx = Vertx.vertx();
  private final Path folder;
  private final Path other;
  private final TestCertificate files;
  private Instant now = Instant.EPOCH;
  private final CertificateFiles certificate;
  private final HttpServer server;
  private final X509Certificate first;

  CertificateFilesTest(@TempDir Path folder) throws Exception {
    this.folder = folder;
    other = Files.createDirectory(folder.resolve("other"));
    files = TestCertificate.make(folder);
    first = parsed(files.certificate());
    certificate = new CertificateFiles(files.certificate(), files.key(), vertx, () -> now);
    server =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setSsl(true)
                    .setSslHandshakeTimeout(NO_LIMIT_SECONDS)
                    .setHost("127.0.0.1")
                    .setKeyCertOptions(KeyCertOptions.wrap(certificate.keys())))
            .requestHandler(request -> request.response().end());
  }

  @BeforeEach
  void start() throws Exception {
    await(server.listen(0));
  }

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  @Tag("slow")
  @Test
  void aRenewedCertificateIsShownOnceItHasSettled() throws Exception {
    assertThat(shown()).isEqualTo(first);
    TestCertificate.make(folder);
    Certificate second = parsed(files.certificate());

    lookAfter(Duration.ZERO);
    lookAfter(ALMOST);
    assertThat(shown()).isEqualTo(first);
    lookAfter(Duration.ofSeconds(1));
    assertThat(shown()).isEqualTo(second);
  }

  @Tag("slow")
  @Test
  void aCertificateThatChangesOnceMoreSettlesAnew() throws Exception {
    TestCertificate.make(folder);
    lookAfter(Duration.ZERO);
    TestCertificate.make(folder);
    lookAfter(ALMOST);
    lookAfter(ALMOST);
    assertThat(shown()).isEqualTo(first);
    lookAfter(Duration.ofSeconds(1));
    assertThat(shown()).isEqualTo(parsed(files.certificate()));
  }

  @Tag("slow")
  @Test
  void aKeyThatIsNotTheCertificatesIsNotTaken() throws Exception {
    TestCertificate unrelated = TestCertificate.make(other);
    copy(unrelated.key(), files.key());
    settle();
    assertThat(shown()).isEqualTo(first);

    copy(unrelated.certificate(), files.certificate());
    settle();
    assertThat(shown()).isEqualTo(parsed(unrelated.certificate()));
  }

  @Tag("slow")
  @Test
  void filesThatAreNoneOrAwayChangeNothing() throws Exception {
    Files.writeString(files.certificate(), "-----BEGIN CERTIFICATE-----\nnone");
    settle();
    Files.delete(files.key());
    settle();
    assertThat(shown()).isEqualTo(first);
  }

  @Tag("slow")
  @Test
  void aStartWithAKeyThatIsNotTheCertificatesNamesBoth() throws Exception {
    copy(TestCertificate.make(other).key(), files.key());
    assertThatThrownBy(
            () -> new CertificateFiles(files.certificate(), files.key(), vertx, () -> now))
        .isInstanceOf(IOException.class)
        .hasMessage("%s is not the key of the certificate %s", files.key(), files.certificate());
  }

  /**
   * Renewals follow each other as fast as they may: two are further apart than a handshake is long,
   * on a slow machine too.
   */
  @Tag("slow")
  @Test
  void noHandshakeFailsWhileCertificatesChange() throws Exception {
    TestCertificate unrelated = TestCertificate.make(other);
    List<byte[]> certificates = List.of(bytes(files.certificate()), bytes(unrelated.certificate()));
    List<byte[]> keys = List.of(bytes(files.key()), bytes(unrelated.key()));
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      List<Client> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        AtomicInteger handshakes = new AtomicInteger();
        clients.add(new Client(handshakes, threads.submit(() -> connect(handshakes, over))));
      }
      try {
        for (int i = 0; i < RENEWALS; i++) {
          Files.write(files.certificate(), certificates.get(i % 2));
          Files.write(files.key(), keys.get(i % 2));
          settle();
          for (Client each : clients) {
            each.awaitHandshake();
          }
        }
      } finally {
        over.set(true);
      }
      for (Client each : clients) {
        each.ended().get();
        assertThat(each.handshakes()).hasValueGreaterThanOrEqualTo(RENEWALS);
      }
    }
  }

  /**
   * A client that shakes hands again and again.
   *
   * @param ended done once a handshake failed, or the test is over
   */
  private record Client(AtomicInteger handshakes, java.util.concurrent.Future<?> ended) {
    /** Waits for the end of the handshake that is under way, or of a later one. */
    void awaitHandshake() throws InterruptedException {
      int before = handshakes.get();
      while (handshakes.get() == before && !ended.isDone()) {
        Thread.sleep(1);
      }
    }
  }

  private int connect(AtomicInteger handshakes, AtomicBoolean over) throws Exception {
    while (!over.get()) {
      shown();
      handshakes.incrementAndGet();
    }
    return handshakes.get();
  }

  private void settle() {
    lookAfter(Duration.ZERO);
    lookAfter(CertificateFiles.SETTLE);
  }

  private void lookAfter(Duration time) {
    now = now.plus(time);
    certificate.look();
  }

  /** Certificate that the server shows to a client that resumes no session. */
  private X509Certificate shown() throws Exception {
    NetClient client =
        vertx.createNetClient(
            new NetClientOptions()
                .setSsl(true)
                .setSslHandshakeTimeout(NO_LIMIT_SECONDS)
                .setTrustAll(true)
                .setHostnameVerificationAlgorithm(""));
    try {
      NetSocket socket = await(client.connect(server.actualPort(), "127.0.0.1"));
      return (X509Certificate) socket.sslSession().getPeerCertificates()[0];
    } finally {
      await(client.close());
    }
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get();
  }

  private static X509Certificate parsed(Path file) throws Exception {
    try (var in = Files.newInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  private static byte[] bytes(Path file) throws IOException {
    return Files.readAllBytes(file);
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }
}
