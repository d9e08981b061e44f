package dev.kastor.e2e.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.e2e.program.SlowReading;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Store of examples that is slow, as jobs of a namespace see it: they last for long, and the
 * processors are free for what is tested. Jobs get it by a profile, which mounts the jar of {@code
 * e2e.program} into their pods. Of that package it uses constants alone: the engine, which its
 * classes need, is in the pods and not here.
 */
public record SlowStore(KubernetesClient client, String namespace) {
  private static final String NAME = "slow-store";
  private static final String SERVICE = "META-INF/services/dev.kastor.engine.train.Program";
  private static final String PACKAGE = "dev/kastor/e2e/program";

  /** Makes the profile and the jar. */
  public void make() {
    client
        .configMaps()
        .inNamespace(namespace)
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(NAME)
                .endMetadata()
                .addToBinaryData(NAME + ".jar", Base64.getEncoder().encodeToString(jar()))
                .build())
        .create();
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: kastor.dev/v1alpha1
                kind: ClusterTrainingProfile
                metadata: {name: %1$s-%2$s}
                spec:
                  namespaces: [%2$s]
                  volumes: [{name: plugins, configMap: {name: %1$s}}]
                  volumeMounts: [{name: plugins, mountPath: /app/plugins, readOnly: true}]
                """
                    .formatted(NAME, namespace),
                ClusterTrainingProfile.class))
        .create();
  }

  /**
   * A job whose examples come from here.
   *
   * @param yaml a job of {@code examples/}, whose program is one of the engine's
   * @param examplesPerSecond what each replica is given
   */
  public String feed(String yaml, int examplesPerSecond) {
    String fed =
        yaml.replaceFirst(
            "program:\n    name: (\\S+)\n",
            """
            profile: %s-%s
              program:
                name: %s
                parameters: {program: $1, examplesPerSecond: "%d"}
            """
                .formatted(NAME, namespace, SlowReading.NAME, examplesPerSecond));
    if (fed.equals(yaml)) {
      throw new IllegalArgumentException("this job names no program: " + yaml);
    }
    return fed;
  }

  /** Gives all jobs all that they want, from when kubelets have seen it. */
  public void hurry() {
    edit(map -> map.addToData(SlowReading.FAST, "true"));
  }

  /** Gives no more than the jobs that begin from here on are to have. */
  public void takeTime() {
    edit(map -> map.removeFromData(SlowReading.FAST));
  }

  private void edit(UnaryOperator<ConfigMapBuilder> change) {
    client
        .configMaps()
        .inNamespace(namespace)
        .withName(NAME)
        .edit(map -> change.apply(new ConfigMapBuilder(map)).build());
  }

  /** Removes the profile and the jar. */
  public void remove() {
    client.resources(ClusterTrainingProfile.class).withName(NAME + "-" + namespace).delete();
    client.configMaps().inNamespace(namespace).withName(NAME).delete();
  }

  private static byte[] jar() {
    Path classes = Chart.root().resolve("e2e/target/classes").resolve(PACKAGE);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream jar = new ZipOutputStream(bytes);
        DirectoryStream<Path> files = Files.newDirectoryStream(classes, "Slow*.class")) {
      jar.putNextEntry(new ZipEntry(SERVICE));
      jar.write((PACKAGE.replace('/', '.') + ".SlowReading\n").getBytes(UTF_8));
      for (Path file : files) {
        jar.putNextEntry(new ZipEntry(PACKAGE + "/" + file.getFileName()));
        jar.write(Files.readAllBytes(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the jar of %s cannot be made".formatted(classes), e);
    }
    return bytes.toByteArray();
  }
}
