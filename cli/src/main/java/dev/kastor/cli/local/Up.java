package dev.kastor.cli.local;

import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalCluster;
import dev.kastor.local.LocalOptions;
import dev.kastor.local.MachineGpus;
import dev.kastor.local.Paces;
import dev.kastor.local.StateFolder;
import dev.kastor.local.kubelet.PodVariables;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** A local cluster in the foreground. */
final class Up {
  private static final Duration ROUND = Duration.ofSeconds(10);

  private final PrintWriter out;

  Up(PrintWriter out) {
    this.out = out;
  }

  int run(int slots, int devices, String policy, int port, Optional<Paces> paces, int spares) {
    return Foreground.run(() -> {
      Installation installation = Installation.current();
      boolean started = false;
      try (StateFolder state = StateFolder.lock(StateFolder.home());
          LocalCluster cluster =
              LocalCluster.start(
                  installation,
                  state,
                  new LocalOptions(
                      slots,
                      devices,
                      policy,
                      state.plugins(),
                      port,
                      ROUND,
                      paces.isPresent() ? paces.get() : PodVariables.NONE,
                      spares))) {
        started = true;
        if (paces.isPresent()) {
          say(
              "slots are paced: passes last as long as on the accelerator that the figures are of, and the rest is slept");
        }
        if (devices < slots) {
          String device = MachineGpus.found().isEmpty() ? "core" : "GPU";
          say(
              "%d slots share %d %s%s: more jobs train at once, each more slowly. With --slots %d each replica has a %s of its own."
                  .formatted(slots, devices, device, devices == 1 ? "" : "s", devices, device));
        }
        say("starting on %s (%d slots, policy %s)".formatted(state.root(), slots, policy));
        cluster.awaitReady(this::say);
        String taken =
            port == 0 || cluster.webPage().getPort() == port
                ? ""
                : " (port %d is taken)".formatted(port);
        say("web page   " + Ink.BOLD.on(cluster.webPage().toString()) + taken);
        say("kubeconfig " + state.kubeconfig());
        say("logs       " + state.logs());
        say("Submit jobs from another terminal: kastor submit examples/glyph-cnn.yaml");
        say(
            "Ctrl-C ends all of it; the next kastor up lets unfinished jobs go on from their"
                + " checkpoints.");
        new CountDownLatch(1).await();
        return ExitCode.OK;
      } finally {
        if (started) {
          say("stopped");
        }
      }
    });
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
