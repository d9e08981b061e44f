package dev.kastor.operator.pods;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobReason;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobObjectsTest {
  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();
  private final TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);

  @TempDir Path folder;

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void givesTheReplicasOfAJobAKeyAndTheAuthority() throws IOException {
    objects(pem("one")).ensure(job);

    assertThat(secret()).containsEntry("ca.crt", pem("one")).containsOnlyKeys("ca.crt", "secret");
    assertThat(secret().get("secret")).isNotEmpty();
  }

  @Tag("slow")
  @Test
  void givesTheGangThatRestartsTheToolAndTheAuthorityAndNoKey() throws IOException {
    TrainingJob gang = TestJobs.gang("bert", 2, 8);
    objects(pem("one")).ensure(gang);
    Secret made = client.secrets().inNamespace("team").withName("bert-report").require();
    assertThat(made.getData()).containsOnlyKeys("ca.crt", "report.py");
    assertThat(new String(Base64.getDecoder().decode(made.getData().get("report.py")), UTF_8))
        .contains("python3 \"$KASTOR_REPORT\" steps=1200 batch=256");
    objects(pem("one")).removed(gang);
    assertThat(client.secrets().inNamespace("team").list().getItems()).isEmpty();
  }

  @Tag("slow")
  @Test
  void keepsTheKeyOfAJobThatRunsWhenTheAuthorityChanges() throws IOException {
    objects(pem("one")).ensure(job);
    String key = secret().get("secret");
    // A new operator, as after an upgrade.
    objects(pem("two")).ensure(job);
    assertThat(secret())
        .as("the one before is trusted until the next")
        .isEqualTo(Map.of("ca.crt", pem("two") + pem("one"), "secret", key));

    JobObjects objects = objects(pem("three"));
    objects.ensure(job);
    assertThat(secret()).containsEntry("ca.crt", pem("three") + pem("two"));
    objects.ensure(job);
    objects(pem("three")).ensure(job);
    assertThat(secret()).containsEntry("ca.crt", pem("three") + pem("two"));
  }

  @Test
  void noticesThatTheAuthorityChangesWhileItRuns() throws IOException {
    Authority authority = authority(pem("one"));
    JobObjects objects = new JobObjects(new JobRecords(), client, authority);
    objects.ensure(job);
    authority(pem("two"));
    objects.ensure(job);
    assertThat(secret()).containsEntry("ca.crt", pem("one"));

    authority.refresh();
    objects.ensure(job);
    assertThat(secret()).containsEntry("ca.crt", pem("two") + pem("one"));

    authority("half writ");
    authority.refresh();
    objects.ensure(job);
    assertThat(secret()).containsEntry("ca.crt", pem("two") + pem("one"));
  }

  private static String pem(String content) {
    return "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n".formatted(content);
  }

  @Tag("slow")
  @Test
  void leavesNothingInTheNamespaceOfAJobThatIsGone() throws IOException {
    JobObjects objects = objects(pem("one"));
    objects.ensure(job);
    objects.removed(job);

    assertThat(client.secrets().inNamespace("team").list().getItems()).isEmpty();
    assertThat(client.configMaps().inNamespace("team").list().getItems()).isEmpty();
  }

  @Test
  void leavesWhatAnotherMadeUnderTheName() throws IOException {
    Secret others = secret(Map.of(), "Application", "apps/v1");
    client.secrets().resource(others).create();

    var taken = objects(pem("one")).ensure(job);

    assertThat(taken).map(Hold::reason).contains(JobReason.SecretNameTaken);
    assertThat(secret()).containsOnlyKeys("password");
  }

  @Test
  void replacesWhatAnEarlierJobOfTheNameLeft() throws IOException {
    client
        .secrets()
        .resource(secret(Labels.of("bert"), "TrainingJob", job.getApiVersion()))
        .create();

    assertThat(objects(pem("one")).ensure(job)).isEmpty();

    assertThat(secret()).containsOnlyKeys("ca.crt", "secret");
  }

  private static Secret secret(Map<String, String> labels, String kind, String apiVersion) {
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName("bert-ring")
        .withLabels(labels)
        .addNewOwnerReference()
        .withController(true)
        .withKind(kind)
        .withApiVersion(apiVersion)
        .withName("bert")
        .withUid("uid-of-another")
        .endOwnerReference()
        .endMetadata()
        .addToData("password", "czNjcjN0")
        .build();
  }

  /** In ISO 8859-1 any key is text. */
  private Map<String, String> secret() {
    Map<String, String> decoded = new HashMap<>();
    client
        .secrets()
        .inNamespace("team")
        .withName("bert-ring")
        .require()
        .getData()
        .forEach((key, value) ->
            decoded.put(key, new String(Base64.getDecoder().decode(value), ISO_8859_1)));
    return decoded;
  }

  private JobObjects objects(String authority) throws IOException {
    return new JobObjects(new JobRecords(), client, authority(authority));
  }

  private Authority authority(String content) throws IOException {
    Path file = Files.writeString(folder.resolve("ca.crt"), content, UTF_8);
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(Map.of("kastor.ca-file", file.toString()))
            .build()
            .getConfigMapping(OperatorConfig.class);
    return new Authority(config);
  }
}
