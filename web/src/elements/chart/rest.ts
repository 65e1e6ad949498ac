/** The parts of ECharts that no picture of a single line or row of bars waits for. */
import { GaugeChart, HeatmapChart, PieChart, ScatterChart } from "echarts/charts";
import { DataZoomComponent, LegendComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { use } from "echarts/core";

export function register(): void {
  use([GaugeChart, HeatmapChart, PieChart, ScatterChart, DataZoomComponent, LegendComponent, TooltipComponent, VisualMapComponent]);
}
