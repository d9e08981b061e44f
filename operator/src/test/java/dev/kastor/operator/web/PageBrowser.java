package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Headless Chromium that opens pages of the operator and notes what is wrong with them. There is
 * one for all tests of the page, which starts with the first of them; its driver ends it when the
 * process of the tests has ended. Used by one thread.
 */
final class PageBrowser {
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final double PATIENCE_MILLIS = 300_000;
  private static final List<String> ARGUMENTS =
      List.of(
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync");

  private static final PageBrowser SHARED = new PageBrowser();

  private final Browser browser;
  private final List<String> complaints = new ArrayList<>();
  private final List<String> foreign = new ArrayList<>();

  /** The browser of all tests, without pages. */
  static PageBrowser shared() {
    return SHARED;
  }

  private PageBrowser() {
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    String chromium = Optional.ofNullable(System.getenv("CHROMIUM")).orElse("/usr/bin/chromium");
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(Path.of(chromium))
                    .setArgs(ARGUMENTS));
  }

  /**
   * Closes all pages, which otherwise go on painting beside the next tests; fails if one
   * complained, or asked another origin for anything, since the last call.
   */
  void checkAndClosePages() {
    List.copyOf(browser.contexts()).forEach(BrowserContext::close);
    List<String> said = List.copyOf(complaints);
    List<String> asked = List.copyOf(foreign);
    complaints.clear();
    foreign.clear();
    assertThat(said).as("what the browser complained about").isEmpty();
    assertThat(asked).as("requests to other origins").isEmpty();
  }

  /** Takes what pages complained of for expected. */
  void forget() {
    complaints.clear();
  }

  BrowserContext context(int width, int height, ColorScheme scheme) {
    return browser.newContext(
        new Browser.NewContextOptions()
            .setViewportSize(width, height)
            .setDeviceScaleFactor(width < 500 ? 2 : 1)
            .setReducedMotion(ReducedMotion.REDUCE)
            .setColorScheme(scheme));
  }

  /** Opens a path of the operator at this port. */
  Page open(int port, String path, int width, int height, ColorScheme scheme) {
    Page page = context(width, height, scheme).newPage();
    page.onConsoleMessage(message -> {
      if (message.type().equals("error") || message.type().equals("warning")) {
        complaints.add(message.text());
      }
    });
    page.onPageError(complaints::add);
    String origin = "http://localhost:" + port + "/";
    page.onRequest(request -> {
      if (!request.url().startsWith(origin)
          && !request.url().startsWith("blob:" + origin)
          && !request.url().startsWith("data:")) {
        foreign.add(request.url());
      }
    });
    page.navigate(origin + path.substring(1));
    return page;
  }

  /** Fails if anything sticks out on the right. */
  static void fits(Page page) {
    Object overflow =
        page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assertThat(((Number) overflow).intValue()).isZero();
    Object outside =
        page.evaluate(
            "[...document.querySelectorAll('main *:not(thead *), header *')].filter(e => {"
                + " const box = e.getBoundingClientRect();"
                + " return box.width > 0 && box.right > innerWidth + 1; }).map(e => e.className)");
    assertThat((List<?>) outside).isEmpty();
  }

  static void shoot(Page page, String name) {
    page.screenshot(
        new Page.ScreenshotOptions()
            .setFullPage(page.viewportSize().width > 500)
            .setPath(SCREENSHOTS.resolve(name + ".png")));
  }
}
