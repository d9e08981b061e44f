package dev.kastor.operator.web;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.kastor.operator.web.PageBrowser.fits;
import static dev.kastor.operator.web.PageBrowser.shoot;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.FakeApiServer;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.Reports;
import dev.kastor.operator.scheduling.StandingAdvice;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The page in a real browser, fed through the API server and the history as in operation. */
@QuarkusTest
@TestProfile(PageProfile.class)
@QuarkusTestResource(FakeApiServer.class)
class PageIT {
  private static final String ECHARTS = "/_static/echarts/6.0.0/dist/echarts.esm.min.js";

  /** The scene of {@link #endedLongAgo} ends so many seconds before the page is opened. */
  private static final double SINCE_THE_END = 600;

  /** Texts on the canvases of charts that reach beyond them; there must be some that do not. */
  private static final String CUT_LABELS =
      """
      async (echarts) => {
        const { getInstanceByDom } = await import(echarts);
        const charts = [...document.querySelectorAll('.chart')].map(getInstanceByDom).filter(Boolean);
        const texts = charts.flatMap(chart => chart.getZr().storage.getDisplayList(true)
          .filter(drawn => drawn.type === 'tspan')
          .map(drawn => {
            const box = drawn.getBoundingRect().clone();
            box.applyTransform(drawn.getComputedTransform());
            const inside = box.x >= 0 && box.y >= 0
              && box.x + box.width <= chart.getWidth() && box.y + box.height <= chart.getHeight();
            return { inside, text: `${chart.getDom().id}: ${drawn.style.text}` };
          }));
        return texts.length < 10 ? ['too few labels'] : texts.filter(t => !t.inside).map(t => t.text);
      }
      """;

  private final PageBrowser browser = PageBrowser.shared();

  @Inject KubernetesClient client;
  @Inject JobHistory history;
  @Inject TelemetryStore telemetry;
  @Inject StandingAdvice advice;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  private PageScene scene;

  @BeforeEach
  void prepare() {
    scene = new PageScene(new TestCluster(client), history, Instant.now().minusSeconds(180));
  }

  @AfterEach
  void clear() throws InterruptedException {
    new TestCluster(client).deleteAll();
    // The next test's scene must not begin before the history heard that this one is over.
    while (!scene.isOver()) {
      Thread.sleep(Duration.ofMillis(20));
    }
    browser.checkAndClosePages();
  }

  @Test
  void showsHowToBeginWhileThereIsNoJob() {
    scene.nodes();
    Page page = open(1280, 800, ColorScheme.LIGHT);

    assertThat(page.locator("#empty")).isVisible();
    assertThat(page.locator("#empty code")).containsText("kastor submit");
    assertThat(page.locator("#slots-total")).hasText("12");
    assertThat(page.locator("#jobs")).isHidden();
    shoot(page, "empty");
  }

  @Test
  void showsServersAndHowStaleTheirUpdatesAre() {
    scene.nodes();
    scene.threeJobs();
    String running =
        """
        phase: Running
        allocation: {version: 1, replicas: 2, nodes: {alpha: 2}, since: "%s", reason: Test, message: Wanted}
        """
            .formatted(Instant.now().minusSeconds(60));
    TrainingJob job =
        new TestCluster(client)
            .job(
                "served",
                "glyph-mlp",
                1,
                2,
                Instant.now().minusSeconds(90),
                running,
                "{sync: {parameter-server: {servers: 2, mode: asynchronous}}}");
    TelemetryReport report =
        Reports.of(new JobId("default", "served"))
            .counting(new Staleness(List.of(700L, 290L, 0L, 10L)), 3L);
    telemetry.accept(job, report);
    Page page = open(1360, 900, ColorScheme.LIGHT);
    page.navigate(page.url().replaceAll("#.*", "") + "#default/served");

    assertThat(page.locator("#detail-name")).hasText("served");
    assertThat(page.locator("#servers-block")).isVisible();
    assertThat(page.locator("#servers")).containsText("They start with its replicas.");
    assertThat(page.locator("#dropped-copies")).containsText("3 shares of steps came after");
    assertThat(page.locator("#staleness thead th"))
        .hasText(new String[] {"Staleness", "Updates", "Share"});
    assertThat(page.locator("#staleness-rows tr")).hasCount(4);
    assertThat(page.locator("#staleness-rows th[scope=row]"))
        .hasText(new String[] {"0", "1", "2", "3 or more"});
    assertThat(page.locator("#staleness-rows tr").first()).containsText("700");
    assertThat(page.locator("#staleness-rows tr").first()).containsText("70 %");
    assertThat(page.locator("#staleness-rows .bar span").first())
        .hasAttribute("style", Pattern.compile("width: 100%.*"));
    shoot(page, "servers");

    page.navigate(page.url().replaceAll("#.*", "") + "#default/glyphs");
    assertThat(page.locator("#detail-name")).hasText("glyphs");
    assertThat(page.locator("#servers-block")).isHidden();
  }

  @Test
  void showsJobsAndFollowsThemLive() {
    scene.nodes();
    scene.threeJobs();
    Page page = open(1360, 900, ColorScheme.LIGHT);

    assertThat(page.locator("#link-text")).hasText("Live");
    assertThat(page.locator("#slots-used")).hasText("9");
    assertThat(row(page, "glyphs")).containsText("Running");
    assertThat(row(page, "glyphs").locator(".size")).hasText("4 of 1–8");
    assertThat(row(page, "glyphs").locator(".eta, .bar-text")).containsText("left");
    assertThat(row(page, "waiting")).containsText("Queued");
    assertThat(page.locator("#why-message")).containsText("goodput");
    assertThat(page.locator("#chart-loss canvas")).hasCount(1);
    assertThat(page.locator("#chart-predicted"))
        .hasAttribute("aria-label", Pattern.compile("Predicted goodput by replicas: 1: .*"));
    assertThat(page.locator("#chart-allocation"))
        .hasAttribute("aria-label", Pattern.compile(".*glyphs 4.*of 12.*"));
    assertThat(page.locator("#scalars figcaption"))
        .hasText(new String[] {"grad/norm", "val/accuracy"});
    assertThat(page.locator("#scalars canvas")).hasCount(2);
    assertThat(page.locator("#chart-scalar-1"))
        .hasAttribute("aria-label", Pattern.compile("val/accuracy over time: from .* to .*"));
    shoot(page, "running-light");

    scene.grow("glyphs", 6);

    assertThat(row(page, "glyphs").locator(".size")).hasText("6 of 1–8");
    assertThat(page.locator("#slots-used")).hasText("11");
    assertThat(page.locator("#why-message")).containsText("two slots");
    assertThat(page.locator("#decisions li").first()).containsText("4 → 6");
    assertThat(page.locator("#chart-allocation"))
        .hasAttribute("aria-label", Pattern.compile(".*glyphs 6.*"));
  }

  @Test
  void showsAnotherJobWhenItIsChosen() {
    scene.nodes();
    scene.threeJobs();
    Page page = open(1360, 900, ColorScheme.DARK);
    assertThat(page.locator("#detail-name")).hasText("glyphs");

    row(page, "text").click();

    assertThat(page.locator("#detail-name")).hasText("text");
    assertThat(row(page, "text")).hasAttribute("aria-current", "true");
    assertThat(page.locator("#chart-loss"))
        .hasAttribute("aria-label", Pattern.compile("Loss over time: from .* to .*"));
    assertThat(page.locator("#scalars-block")).isHidden();
    shoot(page, "running-dark");

    row(page, "waiting").click();

    assertThat(page.locator("#why-title")).hasText("Why it waits");
    assertThat(page.locator("#why-message")).containsText("3 slots are free");
    assertThat(page.locator("#unmeasured")).isVisible();
  }

  @Test
  void tellsTheNumbersUnderThePointer() {
    scene.nodes();
    scene.threeJobs();
    Page page = open(1360, 900, ColorScheme.LIGHT);
    assertThat(page.locator("#chart-goodput canvas")).hasCount(1);

    page.locator("#chart-allocation").hover();
    assertThat(page.locator("#chart-allocation .tip")).containsText("glyphs");
    page.locator("#chart-goodput").hover();
    assertThat(page.locator("#chart-goodput .tip")).containsText("Throughput");
    shoot(page, "tooltip");
    page.locator("#chart-predicted").hover();
    assertThat(page.locator("#chart-predicted .tip")).containsText("replicas");
  }

  @Test
  void writesHugeAndUnknownNumbersShortly() {
    scene.nodes();
    scene.threeJobs();
    scene.diverge("glyphs", 2.09687e29);
    Page page = open(1360, 900, ColorScheme.LIGHT);

    assertThat(page.locator("#facts")).containsText("2.10e+29");
    assertThat(page.locator("#chart-loss"))
        .hasAttribute("aria-label", Pattern.compile("Loss over time: from .* to 2\\.10e\\+29"));
    shoot(page, "huge-loss");
    assertThat(written(page, "measure", "[2.09687e29, -1e9, 999999, 12.34, 4.567e-4, 0]"))
        .containsExactly("2.10e+29", "-1.00e+09", "999,999", "12.3", "4.57e-04", "0");
    assertThat(written(page, "measure", "[NaN, -Infinity, 'NaN', null, undefined]"))
        .containsOnly("–");
    assertThat(written(page, "metric", "[1e12, 0.97412, 2e-5, NaN]"))
        .containsExactly("1.00e+12", "0.974", "2.00e-05", "–");
    assertThat(written(page, "tick", "[2e29, 250000, 9500, 2.301, 5e-4, 0]"))
        .containsExactly("2e+29", "250K", "9,500", "2.301", "5e-04", "0");
  }

  private PageScene endedLongAgo() {
    Instant begin = Instant.now().minusSeconds(200 + (long) SINCE_THE_END);
    return new PageScene(new TestCluster(client), history, begin);
  }

  /** How long before now the time axis of a chart ends. */
  private static double secondsToNow(Page page, String chart) {
    Object seconds =
        page.evaluate(
            "async id => { const { getInstanceByDom } = await import('%s');".formatted(ECHARTS)
                + " const axis ="
                + " getInstanceByDom(document.getElementById(id)).getModel().getComponent('xAxis');"
                + " return (Date.now() - axis.axis.scale.getExtent()[1]) / 1000; }",
            chart);
    return ((Number) seconds).doubleValue();
  }

  /** What a function of format.js makes of each of these values. */
  private static List<String> written(Page page, String function, String values) {
    Object texts =
        page.evaluate(
            "async () => (await import('/app/format.js').then(f => %s.map(v => f.%s(v))))"
                .formatted(values, function));
    return ((List<?>) texts).stream().map(String::valueOf).toList();
  }

  @Test
  void showsHowJobsEnded() {
    scene = endedLongAgo();
    scene.nodes();
    scene.threeJobs();
    scene.finishAll();
    Page page = open(1360, 900, ColorScheme.LIGHT);

    assertThat(page.locator("#note-finished")).hasText("1 failed");
    assertThat(row(page, "glyphs")).containsText("accuracy 0.974");
    assertThat(row(page, "glyphs")).containsText("100 %");
    assertThat(row(page, "text")).containsText("Failed");
    row(page, "text").click();
    assertThat(page.locator("#why-message")).containsText("out of memory");
    assertThat(page.locator("#decisions li").first()).containsText("5 → 0");
    assertThat(page.locator("#decisions li").first()).containsText("out of memory");
    assertThat(page.locator("#decisions li").nth(1)).containsText("2 → 5");
    assertThat(page.locator("#allocation-hint")).containsText("nothing runs since");
    assertThat(page.locator("#chart-allocation"))
        .hasAttribute("aria-label", Pattern.compile(".*Now: none in use, of 12.*"));
    // The clock of a slow browser is read some time after it drew the chart.
    assertThat(secondsToNow(page, "chart-allocation")).isLessThan(SINCE_THE_END / 2);
    assertThat(secondsToNow(page, "chart-replicas"))
        .as("a job's own charts end with the job")
        .isGreaterThan(SINCE_THE_END);
    shoot(page, "finished");
  }

  @Test
  void tellsHowManyNodesThereShouldBeAndWhy() {
    scene.nodes();
    scene.threeJobs();
    scene.advise(advice);
    Page page = open(1360, 900, ColorScheme.LIGHT);

    Locator items = page.locator("#advice-list li");
    assertThat(items).hasCount(2);
    Locator dear = items.filter(new Locator.FilterOptions().setHasText("a100"));
    assertThat(dear.locator(".why-size")).hasText("1 → 2 nodes");
    assertThat(dear).containsText("1 nodes of type a100 should become 2");
    assertThat(dear).containsText("then 5");
    assertThat(dear).containsText("1 waiting");
    Locator stays = items.filter(new Locator.FilterOptions().setHasText("t4"));
    assertThat(stays.locator(".why-size")).hasText("2 nodes");
    shoot(page, "advice");

    Page phone = open(390, 844, ColorScheme.DARK);
    assertThat(phone.locator("#advice-list li")).hasCount(2);
    fits(phone);
    phone.locator("#advice").scrollIntoViewIfNeeded();
    shoot(phone, "advice-phone");
  }

  @Test
  void fitsAPhone() {
    scene.nodes();
    scene.threeJobs();
    Page page = open(390, 844, ColorScheme.DARK);

    assertThat(row(page, "glyphs")).isVisible();
    assertThat(page.locator("#chart-loss canvas")).hasCount(1);
    fits(page);
    shoot(page, "phone");
    row(page, "text").locator("a").click();
    assertThat(page.locator("#detail-name")).hasText("text");
    assertThat(page.locator("#detail-name")).isInViewport();
    shoot(page, "phone-job");
  }

  @Test
  void rowsSayWhyAJobWaitsOrFailed() {
    scene.nodes();
    scene.threeJobs();
    scene.refused();
    for (int width : new int[] {390, 820, 1440}) {
      Page page = open(width, 900, ColorScheme.LIGHT);

      assertThat(row(page, "waiting").locator(".reason")).hasText("NoRoom");
      assertThat(row(page, "waiting").locator(".reason"))
          .hasAttribute("title", "NoRoom: Needs at least 4 replicas; 3 slots are free.");
      assertThat(row(page, "without-queue").locator(".reason")).hasText("QueueNotFound");
      Locator failed = row(page, "diverged").locator(".reason");
      assertThat(failed).hasText("AReasonOfAPolicyThatIsLongerThanItsColumn");
      assertThat(failed).hasAttribute("title", Pattern.compile(".*Column: training diverged.*"));
      assertThat(row(page, "glyphs").locator(".reason")).isHidden();
      fits(page);
      shoot(page, "reasons-" + width);
      page.context().close();
    }
  }

  @Test
  void tellsTwentyJobsApart() {
    scene.nodes();
    scene.manyJobs(20);
    for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
      Page page = open(1440, 900, scheme);

      assertThat(page.locator("#rows tr")).hasCount(20);
      assertThat(backgrounds(page, "#rows .swatch")).hasSize(20).doesNotHaveDuplicates();
      assertThat(backgrounds(page, "#legend li:has-text('sweep-') .swatch"))
          .hasSize(20)
          .containsExactlyElementsOf(backgrounds(page, "#rows .swatch"));
      assertThat(backgrounds(page, "#nodes .cell.used")).hasSize(4).doesNotHaveDuplicates();
      Object patterns =
          page.evaluate(
              "async () => { const { getInstanceByDom } = await import('%s');".formatted(ECHARTS)
                  + " return"
                  + " getInstanceByDom(document.getElementById('chart-allocation')).getModel().getSeries().filter(s"
                  + " => s.name.startsWith('sweep-')).map(s =>"
                  + " Boolean(s.getData().getVisual('style').decal)); }");
      assertThat((List<?>) patterns).hasSize(20);
      assertThat(((List<?>) patterns).stream().filter(Boolean.TRUE::equals)).hasSize(12);
      page.locator("#chart-allocation").hover();
      assertThat(backgrounds(page, "#chart-allocation .tip .swatch")).doesNotHaveDuplicates();
      shoot(page, "twenty-jobs-" + scheme.name().toLowerCase(Locale.ROOT));
      page.context().close();
    }
  }

  private static List<String> backgrounds(Page page, String selector) {
    List<String> backgrounds = new ArrayList<>();
    // Elements that are drawn again between being found and being looked at have no style.
    page.waitForCondition(() -> {
      Object all =
          page.locator(selector).evaluateAll("all => all.map(e => getComputedStyle(e).background)");
      backgrounds.clear();
      ((List<?>) all).forEach(each -> backgrounds.add(String.valueOf(each)));
      return backgrounds.stream().noneMatch(String::isEmpty);
    });
    return backgrounds;
  }

  @Test
  void noLabelOfAChartIsCutOff() {
    scene.nodes();
    scene.threeJobs();
    scene.diverge("glyphs", 2.09687e29);
    for (int width : new int[] {390, 820, 1080, 1440}) {
      Page page = open(width, 900, ColorScheme.LIGHT);
      for (String job : List.of("glyphs", "text")) {
        row(page, job).locator("a").click();
        assertThat(page.locator("#detail-name")).hasText(job);
        assertThat(page.locator("#chart-loss"))
            .hasAttribute("aria-label", Pattern.compile("Loss over time: from .*"));
        Object cut = page.evaluate(CUT_LABELS, ECHARTS);
        assertThat((List<?>) cut).as("%s at %d px", job, width).isEmpty();
      }
      shoot(page, "labels-" + width);
      page.context().close();
    }
  }

  @Test
  void saysWhenTheConnectionIsLostAndComesBack() {
    scene.nodes();
    scene.threeJobs();
    BrowserContext context = browser.context(1280, 800, ColorScheme.LIGHT);
    Page page = context.newPage();
    page.route("**/api/v1/events", route -> route.abort());
    page.navigate("http://localhost:" + port + "/");

    assertThat(page.locator("#notice")).containsText("connection to the operator is lost");
    page.unroute("**/api/v1/events");

    assertThat(page.locator("#link-text")).hasText("Live");
    assertThat(page.locator("#notice")).isHidden();
    assertThat(row(page, "glyphs")).isVisible();
    context.close();
  }

  @Test
  void saysWhatAChangeWouldBring() {
    scene.nodes();
    scene.threeJobs();
    for (int width : new int[] {390, 820, 1440}) {
      Page page = open(width, 900, width == 820 ? ColorScheme.DARK : ColorScheme.LIGHT);
      page.locator("#whatif summary").click();
      assertThat(page.locator("#whatif-policy option")).not().hasCount(0);
      page.locator("#whatif-change").selectOption("nodes");
      page.locator("#whatif-count").fill("1");
      page.locator("#whatif-ask").click();

      assertThat(page.locator("#whatif-sentence")).containsText("With 1 cpu node more:");
      assertThat(page.locator("#whatif-rows tr")).hasCount(3);
      assertThat(page.locator("#whatif-rows tr[data-moved=sooner]")).not().hasCount(0);
      assertThat(page.locator("#whatif-assumed")).containsText("no other job comes");
      fits(page);
      page.locator("#whatif").scrollIntoViewIfNeeded();
      shoot(page, "whatif-" + width);

      page.locator("#whatif-change").selectOption("like");
      page.locator("#whatif-like").selectOption("default/waiting");
      page.locator("#whatif-ask").click();
      assertThat(page.locator("#whatif-sentence")).containsText("default/waiting-again would");
      assertThat(page.locator("#whatif-rows tr")).hasCount(4);
      page.locator("#whatif-change").selectOption("queue");
      assertThat(page.locator("#whatif-state")).containsText("none of these");
      assertThat(page.locator("#whatif-ask")).isDisabled();
      page.context().close();
    }
  }

  private static Locator row(Page page, String job) {
    return page.locator("#rows tr")
        .filter(
            new Locator.FilterOptions()
                .setHas(page.locator("a", new Page.LocatorOptions().setHasText(job))));
  }

  private Page open(int width, int height, ColorScheme scheme) {
    return browser.open(port, "/", width, height, scheme);
  }
}
