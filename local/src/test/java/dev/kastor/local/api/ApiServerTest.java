package dev.kastor.local.api;

import static dev.kastor.local.api.LocalApi.widget;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher.Action;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ApiServerTest {
  @TempDir Path logs;
  private LocalApi api;

  @BeforeEach
  void start() {
    api = new LocalApi(logs);
  }

  @AfterEach
  void stop() {
    api.close();
  }

  private static ConfigMap configMap(String name, String label) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .addToLabels("colour", label)
        .endMetadata()
        .build();
  }

  private static Pod pod(String name, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .addNewContainer()
        .withName("agent")
        .withImage("x")
        .endContainer()
        .endSpec()
        .build();
  }

  @Tag("slow")
  @Test
  void refusesAWrongTokenAndAPodsToken() {
    try (KubernetesClient stranger = api.client("guess")) {
      assertThatThrownBy(() -> stranger.configMaps().list())
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(401));
    }
    String token = api.server.tokens().issue(identity("kastor/default/bert"));
    try (KubernetesClient pod = api.client(token)) {
      assertThatThrownBy(() -> pod.configMaps().list())
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
    }
  }

  @Tag("slow")
  @Test
  void refusesAWriteThatNamesAnOldRevision() {
    ConfigMap first = api.client.resource(configMap("c", "red")).create();
    first.setData(Map.of("a", "1"));
    api.client.resource(first).update();
    first.setData(Map.of("a", "2"));
    assertThatThrownBy(() -> api.client.resource(first).update())
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(409));
    assertThatThrownBy(() -> api.client.resource(configMap("c", "red")).create())
        .hasMessageContaining("configmaps \"c\" already exists");
  }

  @Tag("slow")
  @Test
  void listsByLabelAndField() {
    api.client.resource(configMap("a", "red")).create();
    api.client.resource(configMap("b", "blue")).create();
    assertThat(names(api.client.configMaps().withLabel("colour", "red").list().getItems()))
        .containsExactly("a");
    assertThat(names(api.client.configMaps().withLabelNotIn("colour", "red").list().getItems()))
        .containsExactly("b");
    assertThat(names(api.client.configMaps().withField("metadata.name", "b").list().getItems()))
        .containsExactly("b");
  }

  private static List<String> names(List<ConfigMap> maps) {
    return maps.stream().map(m -> m.getMetadata().getName()).toList();
  }

  @Tag("slow")
  @Test
  void informerSeesWhatHappensAfterItsList() throws InterruptedException {
    api.client.resource(configMap("early", "red")).create();
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    try (SharedIndexInformer<ConfigMap> informer =
        api.client
            .configMaps()
            .withLabel("colour", "red")
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(ConfigMap map) {
                    seen.add(Action.ADDED + " " + map.getMetadata().getName());
                  }

                  @Override
                  public void onUpdate(ConfigMap old, ConfigMap map) {
                    seen.add(Action.MODIFIED + " " + map.getMetadata().getName());
                  }

                  @Override
                  public void onDelete(ConfigMap map, boolean unknown) {
                    seen.add(Action.DELETED + " " + map.getMetadata().getName());
                  }
                })) {
      assertThat(seen.poll(10, TimeUnit.MINUTES)).isEqualTo("ADDED early");
      api.client.resource(configMap("late", "red")).create();
      assertThat(seen.poll(10, TimeUnit.MINUTES)).isEqualTo("ADDED late");
      api.client
          .configMaps()
          .withName("late")
          .edit(m -> new ConfigMapBuilder(m).addToData("k", "v").build());
      assertThat(seen.poll(10, TimeUnit.MINUTES)).isEqualTo("MODIFIED late");
      // A change of label takes it out of sight of this watch.
      api.client
          .configMaps()
          .withName("late")
          .edit(m ->
              new ConfigMapBuilder(m)
                  .editMetadata()
                  .addToLabels("colour", "blue")
                  .endMetadata()
                  .build());
      assertThat(seen.poll(10, TimeUnit.MINUTES)).isEqualTo("DELETED late");
      api.client.configMaps().withName("early").delete();
      assertThat(seen.poll(10, TimeUnit.MINUTES)).isEqualTo("DELETED early");
      assertThat(informer.getStore().list()).isEmpty();
    }
  }

  @Tag("slow")
  @Test
  void deletesDependentsAndKeepsThemWhileFinalizersHoldTheOwner() {
    GenericKubernetesResource owner = widget("w", "{\"program\": \"mlp\"}");
    owner.getMetadata().setFinalizers(List.of("kastor.dev/hold"));
    GenericKubernetesResource created =
        api.widgets().inNamespace("default").resource(owner).create();
    ConfigMap dependent = configMap("d", "red");
    dependent
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("test.kastor.dev/v1")
                    .withKind("Widget")
                    .withName("w")
                    .withUid(created.getMetadata().getUid())
                    .build()));
    api.client.resource(dependent).create();
    var resource = api.widgets().inNamespace("default").withName("w");
    resource.delete();
    assertThat(resource.get().isMarkedForDeletion()).isTrue();
    assertThat(api.client.configMaps().withName("d").get()).isNotNull();
    GenericKubernetesResource held = resource.get();
    held.getMetadata().setFinalizers(List.of());
    resource.patch(held);
    assertThat(resource.get()).isNull();
    assertThat(api.client.configMaps().withName("d").get()).isNull();
  }

  @Tag("slow")
  @Test
  void givesAPlacedPodItsGracePeriodAndAnUnplacedOneNone() {
    api.client.resource(pod("placed", "node-0")).create();
    api.client.resource(pod("waiting", "")).create();
    api.client.pods().withName("placed").delete();
    api.client.pods().withName("waiting").delete();
    assertThat(api.client.pods().withName("waiting").get()).isNull();
    assertThat(
            api.client
                .pods()
                .withName("placed")
                .get()
                .getMetadata()
                .getDeletionGracePeriodSeconds())
        .isEqualTo(30);
    api.client.pods().withName("placed").withGracePeriod(0).delete();
    assertThat(api.client.pods().withName("placed").get()).isNull();
  }

  @Test
  void encodesTheStringDataOfASecret() {
    api.client
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName("s")
                .endMetadata()
                .addToStringData("k", "hello")
                .build())
        .create();
    assertThat(api.client.secrets().withName("s").get().getData()).containsEntry("k", "aGVsbG8=");
  }

  @Test
  void reviewsTokensForTheirAudienceOnly() {
    String token = api.server.tokens().issue(identity("kastor/default/bert"));
    TokenReview good = review(token, "kastor/default/bert");
    assertThat(good.getStatus().getAuthenticated()).isTrue();
    assertThat(good.getStatus().getUser().getExtra())
        .containsEntry("authentication.kubernetes.io/pod-name", List.of("bert-0"));
    assertThat(review(token, "kastor/default/other").getStatus().getAuthenticated()).isFalse();
    assertThat(review("guess", "kastor/default/bert").getStatus().getAuthenticated()).isFalse();
    api.server.tokens().revoke("uid-1");
    assertThat(review(token, "kastor/default/bert").getStatus().getAuthenticated()).isFalse();
  }

  private TokenReview review(String token, String audience) {
    return api.client
        .resource(
            new TokenReviewBuilder()
                .withNewSpec()
                .withToken(token)
                .withAudiences(audience)
                .endSpec()
                .build())
        .create();
  }

  private static Tokens.PodIdentity identity(String audience) {
    return new Tokens.PodIdentity("default", "default", "bert-0", "uid-1", audience);
  }

  @Tag("slow")
  @Test
  void servesTheLogOfAPod() throws Exception {
    api.client.resource(pod("p", "node-0")).create();
    Files.writeString(logs.resolve("default-p"), "one\ntwo\nthree\n");
    assertThat(api.client.pods().withName("p").getLog()).isEqualTo("one\ntwo\nthree\n");
    assertThat(api.client.pods().withName("p").tailingLines(2).getLog()).isEqualTo("two\nthree\n");
  }
}
