package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Kastor's chart, handled with {@code helm} as a platform team would. */
public final class Chart {
  private static final String RELEASE = "kastor";
  private static final String PATIENCE = "6m";
  private static final Path ROOT = Shell.ROOT;

  private final String namespace;
  private final List<String> values;

  /**
   * The chart in one namespace.
   *
   * @param values settings, such as {@code roundInterval=5s}
   */
  public Chart(String namespace, String... values) {
    this.namespace = namespace;
    this.values = List.of(values);
  }

  /** The folder of this checkout. */
  public static Path root() {
    return ROOT;
  }

  /** The folder of the chart. */
  public static Path folder() {
    return ROOT.resolve("helm/kastor");
  }

  /** Checks the chart without a cluster; warnings count as errors. */
  public String lint() throws IOException, InterruptedException {
    return helm(settings("lint", "--strict", folder().toString()));
  }

  /** All that an installation would make, its definitions too, as YAML. */
  public String render() throws IOException, InterruptedException {
    return helm(settings("template", RELEASE, folder().toString(), "--include-crds"));
  }

  /** Installs and waits until everything is ready. */
  public String install() throws IOException, InterruptedException {
    return helm(settings("install", RELEASE, folder().toString(), "--wait", "--timeout", PATIENCE));
  }

  /** A new certificate of the chart's own authority, of which there is a new one as well. */
  public String freshCertificate() throws IOException, InterruptedException {
    return helm(
        settings("template", RELEASE, folder().toString(), "--show-only", "templates/tls.yaml"));
  }

  /** Puts a changed setting into force. */
  public String upgrade(String value) throws IOException, InterruptedException {
    List<String> arguments =
        settings("upgrade", RELEASE, folder().toString(), "--wait", "--timeout", PATIENCE);
    arguments.addAll(List.of("--set", value));
    return helm(arguments);
  }

  /** Removes all that was installed. */
  public String uninstall() throws IOException, InterruptedException {
    return helm(List.of("uninstall", RELEASE, "--namespace", namespace, "--wait"));
  }

  private List<String> settings(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--namespace", namespace));
    for (String value : values) {
      all.addAll(List.of("--set", value));
    }
    return all;
  }

  private static String helm(List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Helm.program()));
    command.addAll(arguments);
    return Shell.run(Map.of(), "", command).good();
  }
}
