package dev.kastor.local.api;

/**
 * Settings of the JDK's HTTP server, which reads them once, when the first server of a process is
 * made.
 */
public final class HttpSettings {
  /** Time for a request to come in, its body included. */
  private static final int REQUEST_SECONDS = 10;

  /** Each costs some 30 kB of a heap of 320 MB. */
  private static final int MOST_CONNECTIONS = 2_000;

  private HttpSettings() {}

  /** Makes the settings; call before a server is made. */
  public static void apply() {
    // Without the first two, requests that never end would be held open for ever.
    System.setProperty("sun.net.httpserver.maxReqTime", Integer.toString(REQUEST_SECONDS));
    System.setProperty("jdk.httpserver.maxConnections", Integer.toString(MOST_CONNECTIONS));
    // Without it the JDK's server answers each kept-alive request up to 40 ms late.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }
}
