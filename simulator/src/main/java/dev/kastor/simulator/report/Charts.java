package dev.kastor.simulator.report;

import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.traces.AtomicFile;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Replays as PNG pictures: the distribution of completion times, queue, utilisation and efficiency
 * with a line for each policy, and the allocation over time of each policy.
 */
public final class Charts {
  private static final int WIDTH = 1200;
  private static final int HEIGHT = 640;
  private static final int SPANS = 300;

  /** The colours of the report's page, in its order. */
  private static final List<Color> COLOURS =
      List.of(
          new Color(0x2f6fae),
          new Color(0xd0802c),
          new Color(0x2f8f75),
          new Color(0xab4f86),
          new Color(0x7466bd),
          new Color(0x96862a),
          new Color(0x3c98ad),
          new Color(0xbd574b),
          new Color(0x4b5563),
          new Color(0x7a4a21),
          new Color(0x6a9a2d),
          new Color(0x1f3b7a));

  /** Lines beyond so many are dashed as well. */
  private static final int SOLID = 8;

  private static final Color TEXT = new Color(0x1d2022);
  private static final Color MUTED = new Color(0x5c6368);
  private static final Color GRID = new Color(0xe3e3dd);

  private Charts() {}

  /**
   * Draws all pictures; several workloads or seeds get a folder each.
   *
   * @return the files
   */
  public static List<Path> write(List<Outcome> outcomes, Path folder) throws IOException {
    // Without a screen, whatever the environment says.
    System.setProperty("java.awt.headless", "true");
    List<Path> files = new ArrayList<>();
    List<Group> groups = Group.of(outcomes);
    for (Group group : groups) {
      Path at = groups.size() == 1 ? folder : folder.resolve(group.folder());
      files.add(png(at.resolve("jct-cdf.png"), completions(group)));
      files.add(
          png(
              at.resolve("queue.png"),
              overTime(group, "Jobs waiting for a GPU", "jobs", Timeline::queued)));
      files.add(
          png(
              at.resolve("utilisation.png"),
              overTime(group, "GPUs in use", "% of all GPUs", t -> percent(t.utilisation()))));
      files.add(
          png(
              at.resolve("efficiency.png"),
              overTime(
                  group,
                  "Statistical efficiency of running jobs",
                  "%",
                  t -> percent(t.efficiency()))));
      for (Outcome outcome : group.outcomes()) {
        String name =
            "allocation-%s.png".formatted(outcome.replay().policy().replaceAll("[:=]", "-"));
        files.add(png(at.resolve(name), allocation(group, outcome)));
      }
    }
    return files;
  }

  private static XYChart completions(Group group) {
    XYChart chart =
        chart("Completion times: " + group.title(), "job completion time, hours", "% of jobs");
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisMin(0.0).setYAxisMax(100.0);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideSE);
    int colour = 0;
    for (Outcome outcome : group.outcomes()) {
      double[] sorted =
          outcome.replay().jobs().stream()
              .mapToDouble(Replay.Completed::completionSeconds)
              .map(seconds -> seconds / 3600)
              .sorted()
              .toArray();
      int jobs = sorted.length;
      double[] hours = new double[jobs + 2];
      double[] shares = new double[jobs + 2];
      for (int i = 0; i < jobs; i++) {
        hours[i + 1] = sorted[i];
        shares[i + 1] = 100 * (i + 0.5) / jobs;
      }
      hours[0] = sorted[0];
      hours[jobs + 1] = sorted[jobs - 1];
      shares[jobs + 1] = 100;
      line(chart, outcome.replay().policy(), hours, shares, colour++);
    }
    return chart;
  }

  private static XYChart overTime(
      Group group, String title, String unit, Function<Timeline, double[]> value) {
    XYChart chart = chart(title + ": " + group.title(), "hours", unit);
    double end = group.endSeconds() / 3600;
    chart.getStyler().setYAxisMin(0.0).setXAxisMin(0.0).setXAxisMax(end);
    if (unit.startsWith("%")) {
      chart.getStyler().setYAxisMax(100.0);
    }
    int colour = 0;
    for (Outcome outcome : group.outcomes()) {
      Timeline timeline = Timeline.of(outcome.replay(), group.endSeconds(), SPANS);
      line(
          chart,
          outcome.replay().policy(),
          edged(timeline.hours(), 0, end),
          edged(value.apply(timeline)),
          colour++);
    }
    return chart;
  }

  private static XYChart allocation(Group group, Outcome outcome) {
    XYChart chart =
        chart(
            "Allocation under %s: %s".formatted(outcome.replay().policy(), group.title()),
            "hours",
            "GPUs");
    double end = group.endSeconds() / 3600;
    chart.getStyler().setYAxisMin(0.0).setXAxisMin(0.0).setXAxisMax(end);
    chart.getStyler().setYAxisMax((double) outcome.run().cluster().gpus());
    Timeline timeline = Timeline.of(outcome.replay(), group.endSeconds(), SPANS);
    // Areas hide what is behind them, so the tallest pile comes first.
    double[] pile = new double[SPANS];
    List<double[]> piles = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (Map.Entry<String, double[]> gpus : timeline.gpusByApplication().entrySet()) {
      for (int i = 0; i < SPANS; i++) {
        pile[i] += gpus.getValue()[i];
      }
      piles.add(pile.clone());
      names.add(gpus.getKey());
    }
    for (int i = piles.size() - 1; i >= 0; i--) {
      XYSeries series =
          chart.addSeries(names.get(i), edged(timeline.hours(), 0, end), edged(piles.get(i)));
      Color colour = COLOURS.get(i % COLOURS.size());
      series.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Area);
      series.setMarker(SeriesMarkers.NONE);
      series.setFillColor(colour);
      series.setLineColor(colour);
      // The legend shows lines only.
      series.setLineWidth(1.5f);
    }
    return chart;
  }

  static void line(XYChart chart, String name, double[] x, double[] y, int colour) {
    XYSeries series = chart.addSeries(name, x, y);
    series.setMarker(SeriesMarkers.NONE);
    series.setLineColor(COLOURS.get(colour % COLOURS.size()));
    series.setLineWidth(2f);
    if (colour >= SOLID) {
      series.setLineStyle(
          new BasicStroke(
              2f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {6, 4}, 0));
    }
  }

  /** With the first value before and the last behind, so that a line reaches both edges. */
  private static double[] edged(double[] values) {
    return edged(values, values[0], values[values.length - 1]);
  }

  private static double[] edged(double[] values, double before, double behind) {
    double[] edged = new double[values.length + 2];
    System.arraycopy(values, 0, edged, 1, values.length);
    edged[0] = before;
    edged[edged.length - 1] = behind;
    return edged;
  }

  private static double[] percent(double[] shares) {
    double[] percent = new double[shares.length];
    for (int i = 0; i < shares.length; i++) {
      percent[i] = 100 * shares[i];
    }
    return percent;
  }

  static XYChart chart(String title, String x, String y) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    XYStyler style = chart.getStyler();
    style.setChartBackgroundColor(Color.WHITE);
    style.setPlotBorderVisible(false);
    style.setPlotGridLinesColor(GRID);
    style.setPlotGridLinesStroke(new BasicStroke(1));
    style.setPlotGridVerticalLinesVisible(false);
    style.setAxisTickMarksColor(GRID);
    style.setAxisTickLabelsColor(MUTED);
    style.setChartFontColor(TEXT);
    style.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 18));
    style.setChartTitleBoxVisible(false);
    style.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 15));
    style.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 14));
    style.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 14));
    style.setLegendBorderColor(GRID);
    style.setLegendBackgroundColor(Color.WHITE);
    style.setLegendPosition(Styler.LegendPosition.OutsideE);
    style.setXAxisTickMarkSpacingHint(90);
    style.setYAxisTickMarkSpacingHint(60);
    style.setAntiAlias(true);
    style.setChartPadding(18);
    return chart;
  }

  static Path png(Path file, XYChart chart) throws IOException {
    ByteArrayOutputStream png = new ByteArrayOutputStream();
    BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    try {
      chart.paint(graphics, WIDTH, HEIGHT);
    } finally {
      graphics.dispose();
    }
    ImageIO.write(image, "png", png);
    AtomicFile.write(file, png.toByteArray());
    return file;
  }
}
