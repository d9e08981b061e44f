package dev.kastor.operator.web;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.kastor.operator.web.PageBrowser.fits;
import static dev.kastor.operator.web.PageBrowser.shoot;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Mouse;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.FilePayload;
import dev.kastor.engine.bench.GlyphNetworks;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.operator.FakeApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The page that computes a network on a drawing, in a real browser. */
@QuarkusTest
@TestProfile(PageProfile.class)
@QuarkusTestResource(FakeApiServer.class)
@Timeout(240)
class DrawPageIT {
  private static final Logger LOG = LoggerFactory.getLogger(DrawPageIT.class);
  private static final int EXAMPLES = 200;
  private static final double[] TRIANGLE = {0.5, 0.2, 0.8, 0.75, 0.22, 0.76, 0.5, 0.21};

  /** Reads the chosen file again, as the page did, and computes logits of some images. */
  private static final String LOGITS =
      """
      async ({ file, pixels, size }) => {
        const { readImageModel, answer } = await import('/app/imagemodel.js');
        const model = readImageModel(Uint8Array.from(atob(file), c => c.charCodeAt(0)).buffer);
        const images = new Float32Array(Uint8Array.from(atob(pixels), c => c.charCodeAt(0)).buffer);
        const logits = [];
        for (let i = 0; i < images.length; i += size) {
          logits.push(...answer(model, images.subarray(i, i + size), 'logits'));
        }
        return logits;
      }
      """;

  /** Reads damaged copies of a file; what was thrown but a ModelError. */
  private static final String DAMAGED =
      """
      async ({ file, pixels }) => {
        const { readImageModel, answer } = await import('/app/imagemodel.js');
        const { ModelError } = await import('/app/onnx.js');
        const whole = Uint8Array.from(atob(file), c => c.charCodeAt(0));
        let seed = 1;
        const random = n => (seed = (seed * 48271) % 0x7fffffff) % n;
        const wrong = [];
        let refused = 0;
        for (let i = 0; i < 400; i++) {
          const copy = i % 4 ? whole.slice() : whole.slice(0, random(whole.length));
          for (let k = 0; k < i % 4; k++) {
            copy[random(copy.length)] = random(256);
          }
          try {
            answer(readImageModel(copy.buffer), new Float32Array(pixels));
          } catch (problem) {
            refused++;
            if (!(problem instanceof ModelError) || problem.message.length < 20) {
              wrong.push(String(problem.stack));
            }
          }
        }
        return { refused, wrong };
      }
      """;

  private final PageBrowser browser = PageBrowser.shared();
  private static ExportedGlyphs mlp;
  private static ExportedGlyphs cnn;

  @Inject KubernetesClient client;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  @BeforeAll
  static void train() throws Exception {
    mlp = ExportedGlyphs.train("glyph-mlp", Map.of("hidden", "64,32"), 150);
    cnn = ExportedGlyphs.train("glyph-cnn", Map.of("channels", "6,8"), 20);
  }

  @AfterEach
  void check() {
    new TestCluster(client).deleteAll();
    browser.checkAndClosePages();
  }

  @Test
  void computesWhatTheEngineComputes() {
    Page page = open("/draw.html", 1440);
    for (ExportedGlyphs each : List.of(mlp, cnn)) {
      float[] pixels = GlyphNetworks.heldOut(EXAMPLES);
      float[] ours = each.logits(pixels);
      Map<String, Object> given = new HashMap<>();
      given.put("file", Base64.getEncoder().encodeToString(each.file()));
      given.put("pixels", Base64.getEncoder().encodeToString(GlyphNetworks.bytes(pixels)));
      given.put("size", GlyphNetworks.SIDE * GlyphNetworks.SIDE);
      List<?> theirs = (List<?>) page.evaluate(LOGITS, given);

      assertThat(theirs).hasSize(ours.length);
      double difference = 0;
      for (int i = 0; i < ours.length; i++) {
        difference =
            Math.max(difference, Math.abs(ours[i] - ((Number) theirs.get(i)).doubleValue()));
      }
      LOG.info("{}: largest difference of {} logits {}", each.program(), ours.length, difference);
      assertThat(difference).isLessThan(1e-4);
    }
    page.context().close();
  }

  @Test
  void drawsSamplesAsTheEngineDoes() {
    Page page = open("/draw.html", 1440);
    Object drawn =
        page.evaluate(
            "async () => { const { SAMPLES, sample, pixelsOf } = await import('/app/strokes.js');"
                + " return SAMPLES.map(name => [name, [...pixelsOf(sample(name), 16, 16)]]); }");
    Map<String, List<?>> byName = new HashMap<>();
    for (Object each : (List<?>) drawn) {
      byName.put((String) ((List<?>) each).getFirst(), (List<?>) ((List<?>) each).getLast());
    }
    assertThat(byName.keySet()).containsExactlyInAnyOrderElementsOf(GlyphImages.names());
    var images = new GlyphImages(1, GlyphNetworks.SIDE, 0).draw(1, EXAMPLES).heldOut();
    int size = GlyphNetworks.SIDE * GlyphNetworks.SIDE;
    for (int i = 0; i < EXAMPLES; i++) {
      List<?> pixels =
          Objects.requireNonNull(byName.get(GlyphImages.names().get(images.labels()[i])));
      for (int p = 0; p < size; p++) {
        assertThat(((Number) pixels.get(p)).doubleValue())
            .isCloseTo(images.pixels()[i * size + p], within(1e-5));
      }
    }
    page.context().close();
  }

  @Test
  void answersToADrawing() {
    for (int width : new int[] {390, 820, 1440}) {
      Page page = open("/draw.html", width);
      assertThat(page.locator("#try")).isHidden();
      choose(page, mlp.file());
      assertThat(page.locator("#model-title")).hasText("glyph-mlp of default/digits");
      assertThat(page.locator("#model-hint")).containsText("step 150");
      assertThat(page.locator("#labels li")).hasCount(GlyphImages.classes());
      fits(page);

      BoundingBox box = page.locator("#canvas").boundingBox();
      for (int i = 0; i < TRIANGLE.length; i += 2) {
        page.mouse()
            .move(
                box.x + box.width * TRIANGLE[i],
                box.y + box.height * TRIANGLE[i + 1],
                new Mouse.MoveOptions().setSteps(i == 0 ? 1 : 6));
        if (i == 0) {
          page.mouse().down();
        }
      }
      assertThat(page.locator("#best")).hasAttribute("aria-busy", "true");
      page.mouse().up();
      assertThat(page.locator("#best")).hasAttribute("aria-busy", "false");
      assertThat(page.locator("#best")).containsText("triangle");
      assertThat(page.locator("#labels li[data-best]")).hasAttribute("data-label", "triangle");
      fits(page);
      shoot(page, "draw-" + width);
      page.locator("#undo").click();
      assertThat(page.locator("#drawing-state")).hasText("Nothing is drawn.");
      assertThat(page.locator("#undo")).isFocused();
      assertThat(page.locator("#undo")).hasAttribute("aria-disabled", "true");
      assertThat(page.locator("#undo")).isDisabled();
      page.context().close();
    }
  }

  @Test
  void isUsedWithTheKeyboardAlone() {
    Page page = open("/draw.html", 1440);
    choose(page, mlp.file());
    page.locator("#file").focus();
    for (String name : List.of("cross", "spiral")) {
      Locator sample = page.locator("[data-sample=" + name + "]");
      for (int i = 0; i < 30 && !isFocused(sample); i++) {
        page.keyboard().press("Tab");
      }
      page.keyboard().press("Enter");
      assertThat(page.locator("#drawing-state")).hasText("The sample %s.".formatted(name));
      assertThat(page.locator("#best")).containsText(name);
    }
    page.locator("#clear").press("Space");
    assertThat(page.locator("#best")).isEmpty();
    page.context().close();
  }

  private static boolean isFocused(Locator element) {
    return (Boolean) element.evaluate("e => e === document.activeElement");
  }

  @Test
  void refusesOtherFilesWithASentence() {
    Page page = open("/draw.html", 390);
    choose(page, "no model".getBytes(StandardCharsets.UTF_8));
    assertThat(page.locator("#notice")).containsText("This is no file of ONNX, or it is damaged.");
    assertThat(page.locator("#try")).isHidden();
    choose(page, Arrays.copyOf(mlp.file(), mlp.file().length / 2));
    assertThat(page.locator("#notice")).containsText("damaged");
    fits(page);
    choose(page, mlp.file());
    assertThat(page.locator("#notice")).isHidden();
    assertThat(page.locator("#try")).isVisible();

    Map<String, Object> given = new HashMap<>();
    given.put("file", Base64.getEncoder().encodeToString(cnn.file()));
    given.put("pixels", GlyphNetworks.SIDE * GlyphNetworks.SIDE);
    Map<?, ?> damaged = (Map<?, ?>) page.evaluate(DAMAGED, given);
    assertThat((List<?>) damaged.get("wrong")).isEmpty();
    assertThat(((Number) Objects.requireNonNull(damaged.get("refused"))).intValue())
        .isBetween(100, 400);
    page.context().close();
  }

  @Test
  void saysWhereTheModelOfAJobIs() {
    new TestCluster(client)
        .node("node-a", 4)
        .job(
            "digits",
            "glyph-mlp",
            1,
            4,
            Instant.now(),
            """
            phase: Succeeded
            training: {step: 4210, scaleInvariantMillisteps: 9000, percent: 100, examples: 640000, epoch: 4, globalBatch: 512, atomicBatch: 128, accumulationSteps: 0, rescales: 6, grows: 4, shrinks: 2, medianPauseMillis: 84, maxPauseMillis: 212, minReplicas: 1, maxReplicas: 8, minGlobalBatch: 64, maxGlobalBatch: 512, lostOrRepeatedExamples: 0, checkpointStep: 4210}
            """);
    Page page = open("/#default/digits", 1440);
    page.locator("#detail-draw").click();
    assertThat(page.locator("#notice"))
        .containsText("this operator does not reach the checkpoints of job");
    assertThat(page.locator("#notice")).containsText("kastor export digits");
    browser.forget();
    choose(page, mlp.file());
    assertThat(page.locator("#try")).isVisible();
    assertThat(page.locator("#notice")).isHidden();

    byte[] exported = cnn.file();
    page.route(
        "**/model.onnx", route -> route.fulfill(new Route.FulfillOptions().setBodyBytes(exported)));
    page.locator("#newest").click();
    assertThat(page.locator("#model-title")).hasText("glyph-cnn of default/digits");
    page.locator("#back").click();
    assertThat(page.locator("#detail-name")).hasText("digits");
    page.context().close();
  }

  private static void choose(Page page, byte[] file) {
    page.locator("#file")
        .setInputFiles(new FilePayload("model.onnx", "application/octet-stream", file));
  }

  private Page open(String path, int width) {
    return browser.open(port, path, width, 900, ColorScheme.LIGHT);
  }
}
