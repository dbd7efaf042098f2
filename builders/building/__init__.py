"""The whole build: all stages in their order, each run only when what it depends on has changed."""

from builders.building.build import Finished, Told, build
from builders.building.forecast import Forecast, forecast

__all__ = ["Finished", "Forecast", "Told", "build", "forecast"]
