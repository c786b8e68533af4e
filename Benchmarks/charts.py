"""charts.py: draws what was measured, as SVG that reads on white and on black."""

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # after the choice of the backend

INK = "#7a7f87"  # readable on both
COLORS = ["#2f81f7", "#d29922", "#3fb950", "#a371f7", "#f85149", "#39c5cf"]
pyplot.rcParams.update({
    "svg.hashsalt": "thumbjob",  # so that the same figures give the same file
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "text.color": INK,
    "axes.labelcolor": INK, "axes.edgecolor": INK, "axes.titlecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=COLORS), "grid.color": INK, "grid.alpha": 0.25,
    "legend.frameon": False, "legend.labelcolor": INK, "savefig.transparent": True})


def save(figure, file):
    figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")
    pyplot.close(figure)
