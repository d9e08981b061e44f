package dev.kastor.engine.partition.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.ControlCases;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.testkit.TestKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two processes run one graph, over real sockets with TLS. Bits are those of a backend that rounds
 * after each op; the reference backend rounds where a value leaves it.
 */
@Timeout(120)
class TcpRendezvousIT {
  @TempDir private Path folder;
  private PartProcess here;
  private Process there;
  private BufferedReader said;
  private PrintStream order;

  @BeforeEach
  void start() throws Exception {
    Path keys = folder.resolve("keys.p12");
    TestKeys.make(keys);
    here = new PartProcess("a", keys);
    there =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                PartProcess.class.getName(),
                "b",
                keys.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    said = there.inputReader(StandardCharsets.UTF_8);
    order = new PrintStream(there.getOutputStream(), true, StandardCharsets.UTF_8);
    here.knows("b", Integer.parseInt(Objects.requireNonNull(said.readLine())));
    order.println("knows a " + here.port());
  }

  @AfterEach
  void stop() throws Exception {
    there.destroyForcibly().waitFor();
    here.close();
  }

  @Test
  void togetherTheyComputeWhatOneDoes() throws Exception {
    Map<String, String> expected = new HashMap<>();
    ControlCases cases = new ControlCases();
    try (Arena arena = Arena.ofShared();
        Session whole = new Session(Backends.fastest(1).backend(), PartProcess.CAP, 1)) {
      for (var graph : cases.all().entrySet()) {
        List<Node> fetches = PartProcess.fetches(cases, graph.getValue());
        try (Results results = whole.run(cases.feeds(arena), fetches)) {
          for (int i = 0; i < fetches.size(); i++) {
            expected.put(graph.getKey() + " " + i, Arrays.toString(results.get(i).floats()));
          }
        }
      }
    }
    for (int seed = 0; seed < 3; seed++) {
      order.println("run " + seed);
      Map<String, String> together = new HashMap<>(here.run(seed));
      assertThat(together).as("what is here").hasSizeBetween(1, expected.size() - 1);
      together.putAll(answers());
      assertThat(together).isEqualTo(expected);
    }
  }

  private Map<String, String> answers() throws IOException {
    Map<String, String> answers = new HashMap<>();
    String line = said.readLine();
    while (line != null && !line.equals("done")) {
      int sign = line.indexOf('=');
      answers.put(line.substring(0, sign), line.substring(sign + 1));
      line = said.readLine();
    }
    return answers;
  }

  @Test
  void whoWaitsForAProcessThatIsKilledFails() throws Exception {
    order.println("run 0");
    here.run(0);
    answers();
    order.println("wait");
    Thread waiting = Thread.currentThread();
    Thread killer =
        Thread.ofPlatform()
            .start(() -> {
              while (waiting.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
              }
              there.destroyForcibly();
            });
    assertThatThrownBy(here::waitForever)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("process b");
    killer.join();
  }

  @Test
  void whoHasNoCertificateOrTalksNonsenseHarmsNobody() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), here.port())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      assertThat(socket.getInputStream().readAllBytes().length).isLessThan(100);
    }
    Path keys = folder.resolve("keys.p12");
    for (byte[] nonsense : List.of(new byte[] {1, 2, 3, 4, 0, 1, 65}, greetingAnd(9), type(7))) {
      try (Socket socket =
          TestKeys.context(keys)
              .getSocketFactory()
              .createSocket(InetAddress.getLoopbackAddress(), here.port())) {
        socket.getOutputStream().write(nonsense);
        socket.getOutputStream().flush();
        assertThat(socket.getInputStream().read()).as("the connection ends").isEqualTo(-1);
      }
    }
    order.println("run 1");
    assertThat(here.run(1)).isNotEmpty();
  }

  private static byte[] greetingAnd(int kind) {
    return new byte[] {'K', 'A', 'S', '1', 0, 1, 'c', (byte) kind};
  }

  /** A value for a device that is here, of an element type that is not known. */
  private static byte[] type(int number) {
    return new byte[] {
      'K',
      'A',
      'S',
      '1',
      0,
      1,
      'c',
      1,
      0,
      1,
      'r',
      0,
      1,
      'v',
      0,
      5,
      'c',
      'p',
      'u',
      ':',
      '0',
      (byte) number,
      0
    };
  }
}
