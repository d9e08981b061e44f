package dev.kastor.operator.web;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.kastor.operator.web.PageBrowser.fits;
import static dev.kastor.operator.web.PageBrowser.shoot;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.kastor.operator.FakeApiServer;
import dev.kastor.operator.usage.UsageLedger;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The page with the report of usage in a real browser. */
@QuarkusTest
@TestProfile(PageProfile.class)
@QuarkusTestResource(FakeApiServer.class)
class UsagePageIT {
  private final PageBrowser browser = PageBrowser.shared();

  @Inject KubernetesClient client;
  @Inject UsageLedger ledger;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  @BeforeEach
  void emptyLedger() {
    ledger.takeOver();
  }

  @AfterEach
  void check() {
    new TestCluster(client).deleteAll();
    browser.checkAndClosePages();
  }

  @Test
  void showsTheReportAsItIsChosen() throws Exception {
    scene();
    for (int width : new int[] {390, 820, 1440}) {
      Page page = open("/usage.html", width);

      assertThat(page.locator("#total-held")).hasText("162.0");
      assertThat(page.locator("#total-useful")).hasText("56 %");
      assertThat(page.locator("#total-cost")).hasText("187.50");
      assertThat(page.locator("#note-cost"))
          .hasText("without 12.00 GPU-hours on nodes that have no price");
      assertThat(page.locator("#rows .usage-name"))
          .hasText(new String[] {"vision", "speech", "(none)"});
      Locator vision = page.locator("#rows tr").first();
      assertThat(vision.locator("td[data-label=Held]")).hasText("100.0");
      assertThat(vision.locator("td[data-label=Useful]")).hasText("60 %");
      assertThat(vision.locator("td[data-label=Failures]")).hasText("10.00");
      assertThat(vision.locator("td[data-label=Cost]")).hasText("125.00");
      assertThat(vision.locator(".uses"))
          .hasAttribute(
              "aria-label",
              "Useful 60 %, Inefficient 20 %, Starting 5 %, Rescaling 4 %, Failures 10 %, Unknown 1 %");
      assertThat(page.locator("#rows tr").last().locator("td[data-label=Cost]")).hasText("–");
      assertThat(lengths(page))
          .as("as long as the queue's part of what the largest one held")
          .satisfiesExactly(
              one -> assertThat(one).isBetween(0.99, 1.01),
              two -> assertThat(two).isBetween(0.49, 0.51),
              three -> assertThat(three).isBetween(0.11, 0.13));
      fits(page);
      shoot(page, "usage-" + width);
      page.context().close();
    }
  }

  @Test
  void theAddressSaysWhatIsChosenAndTheFileHasIt() throws Exception {
    scene();
    Page page = open("/", 1440);
    page.locator(".views a", new Page.LocatorOptions().setHasText("Usage")).click();

    assertThat(page.locator("#report-title")).containsText("GPU-hours by queue since");
    page.locator("#by").selectOption("family");
    assertThat(page.locator("#rows .usage-name")).hasText(new String[] {"glyph-mlp", "byte-lm"});
    page.locator("#spans button", new Page.LocatorOptions().setHasText("Today")).click();
    assertThat(page.locator("#report-title"))
        .hasText("GPU-hours by family since %s 00:00 UTC".formatted(today()));
    assertThat(page.locator("#rows .usage-name")).hasText(new String[] {"byte-lm"});
    assertThat(page)
        .hasURL("http://localhost:%d/usage.html#by=family&since=%s".formatted(port, today()));
    Download file = page.waitForDownload(() -> page.locator("#csv").click());
    assertThat(file.suggestedFilename())
        .isEqualTo("usage-by-family-since-%s.csv".formatted(today()));
    assertThat(Files.readAllLines(file.path()))
        .containsExactly(
            "family,held,useful,inefficient,starting,rescaling,failures,unknown,cost,unpriced",
            "byte-lm,43200.000,0.000,0.000,0.000,0.000,0.000,43200.000,0.000000,43200.000");
    page.reload();
    assertThat(page.locator("#rows .usage-name")).hasText(new String[] {"byte-lm"});
    page.locator("#since").fill(today().plusDays(1).toString());
    assertThat(page.locator("#empty")).isVisible();
    fits(page);
    page.context().close();
  }

  @Test
  void namesAreTextAndNoFormulas() {
    Page page = open("/usage.html", 1440);
    Object csv =
        page.evaluate(
            "async () => (await import('/app/csv.js')).csvOf('user', {rows: [{name: '=1+1,\"', held: 7,"
                + " useful: 7, inefficient: 0, starting: 0, rescaling: 0, failures: 0, unknown: 0,"
                + " costMicros: 1234567, unpriced: 0}]})");
    assertThat(((String) csv).lines().toList().getLast())
        .isEqualTo("\"'=1+1,\"\"\",0.007,0.007,0.000,0.000,0.000,0.000,0.000,1.234567,0.000");
    page.context().close();
  }

  @Test
  void saysWhyThereIsNoReport() {
    Page page = open("/usage.html#since=%s".formatted(today().plusDays(1)), 820);
    assertThat(page.locator("#empty")).isVisible();
    page.route("**/api/v1/usage**", route -> route.abort());
    page.locator("#by").selectOption("user");
    assertThat(page.locator("#notice")).containsText("does not answer");
    page.unroute("**/api/v1/usage**");
    page.locator("#by").selectOption("queue");
    assertThat(page.locator("#notice")).isHidden();
    page.context().close();
    browser.forget();
  }

  private Page open(String path, int width) {
    return browser.open(port, path, width, 900, ColorScheme.LIGHT);
  }

  private static List<Double> lengths(Page page) {
    Object all =
        page.locator(".uses")
            .evaluateAll(
                "all => all.map(e => e.getBoundingClientRect().width /"
                    + " all[0].getBoundingClientRect().width)");
    return ((List<?>) all)
        .stream().map(number -> Math.round(100 * ((Number) number).doubleValue()) / 100.0).toList();
  }

  private static LocalDate today() {
    return LocalDate.ofInstant(Instant.now(), ZoneOffset.UTC);
  }

  /** Three jobs that wait; what they held is in their statuses. */
  private void scene() throws InterruptedException {
    TestCluster cluster = new TestCluster(client).node("node-a", 4);
    LocalDate before = today().minusDays(3);
    job(
        cluster,
        "glyphs",
        "glyph-mlp",
        before
            + " vision 216000000 72000000 18000000 14400000 36000000 3600000 125000000 360000000");
    job(
        cluster,
        "more",
        "glyph-mlp",
        before + " speech 108000000 36000000 18000000 3600000 7200000 7200000 62500000 180000000");
    job(cluster, "text", "byte-lm", today() + " - 0 0 0 0 0 43200000");
    // A page that is opened earlier shows a part of it.
    while (ledger.rows(Instant.now()).stream().map(row -> row.when().queue()).distinct().count()
        < 3) {
      Thread.sleep(Duration.ofMillis(20));
    }
  }

  private static void job(TestCluster cluster, String name, String program, String day) {
    long held = List.of(day.split(" ")).subList(2, 8).stream().mapToLong(Long::parseLong).sum();
    Instant now = Instant.now();
    cluster.job(
        name,
        program,
        1,
        8,
        now.minusSeconds(5 * 86_400),
        """
        phase: Queued
        allocation: {replicas: 0, nodes: {}, version: 2, since: "%s", reason: Ended, message: It waits., held: {starts: 1, gpuSeconds: %d}}
        usage: "1 %d 0.0 FAILURES\\n%s"
        """
            .formatted(now, held / 1000, now.toEpochMilli(), day));
  }
}
