package dev.kastor.simulator.bench;

import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;

/** Decision times of all policies as one picture of two panels with logarithmic axes. */
final class DecisionChart {
  private static final int WIDTH = 760;
  private static final int HEIGHT = 560;
  private static final Color TEXT = new Color(0x1d2022);
  private static final Color GRID = new Color(0xe3e3dd);

  /** The colours of the operator's web page, in its order. */
  private static final List<Color> COLOURS =
      List.of(
          new Color(0x2f6fae),
          new Color(0xd0802c),
          new Color(0x2f8f75),
          new Color(0xab4f86),
          new Color(0x7466bd),
          new Color(0x96862a),
          new Color(0x3c98ad),
          new Color(0xbd574b));

  /** Milliseconds by policy over sizes; not a number where there is no measurement. */
  static final class Panel {
    private final String title;
    private final int[] sizes;
    private final Map<String, double[]> millis;

    Panel(String title, int[] sizes, Map<String, double[]> millis) {
      this.title = title;
      this.sizes = sizes;
      this.millis = millis;
    }
  }

  private DecisionChart() {}

  static void write(Path file, Panel... panels) throws IOException {
    System.setProperty("java.awt.headless", "true");
    List<XYChart> charts = new ArrayList<>();
    for (Panel panel : panels) {
      charts.add(chart(panel));
    }
    BitmapEncoder.saveBitmap(
        charts, 1, charts.size(), file.toString(), BitmapEncoder.BitmapFormat.PNG);
  }

  private static XYChart chart(Panel panel) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title("Time of a decision")
            .xAxisTitle(panel.title)
            .yAxisTitle("median CPU milliseconds")
            .build();
    chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true);
    chart.getStyler().setChartBackgroundColor(Color.WHITE).setChartFontColor(TEXT);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setLegendBorderColor(Color.WHITE);
    chart.getStyler().setPlotGridLinesColor(GRID).setPlotBorderVisible(false);
    chart.getStyler().setChartTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 16));
    int colour = 0;
    for (Map.Entry<String, double[]> line : panel.millis.entrySet()) {
      int known = (int) Arrays.stream(line.getValue()).filter(ms -> !Double.isNaN(ms)).count();
      Color own = COLOURS.get(colour++ % COLOURS.size());
      if (known > 0) {
        XYSeries series =
            chart.addSeries(
                line.getKey(),
                Arrays.stream(panel.sizes).limit(known).asDoubleStream().toArray(),
                Arrays.copyOf(line.getValue(), known));
        series.setLineColor(own);
        series.setMarkerColor(own);
      }
    }
    return chart;
  }
}
