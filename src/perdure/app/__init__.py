"""The composition root: configuration, the running platform, and the list of its operations."""

from perdure.app.config import Config as Config
from perdure.app.config import load_config as load_config
from perdure.app.perdure import Perdure as Perdure
from perdure.app.views import CallView as CallView
from perdure.app.views import WaitingFor as WaitingFor
