"""The solvers. Importing this package registers them; ``sparsescope.registry.solvers`` lists their names."""

# ruff: noqa: I001  (the order of these imports is the order of menus)
from .base import Solver, State
from .bcd import BCD, BCDConstant
from .ista import ISTA
from .forward_backward import ForwardBackward
from .fista import FISTA
from .sparsa import SpaRSA
from .fobos import FOBOS
from .parallel_bcd import ParallelBCD
from .fbpd import FBPD
from .fbpd_constrained import FBPDConstrained
from .fbpd_linear import FBPDLinear
from .pd_sparse import PDSparse
from .lhac import LHAC
from .newglmnet import NewGLMNET
from .gls import GLS
from .cls import CLS
from .stagewise import Stagewise
from .quic import QUIC
from .lhac_covariance import LHACCovariance
from .working_set import WorkingSet
from .auto import Auto
from .shared.smallest_hinge import SmallestHinge, smallest_hinge
from .shared.step_search import search_eta0

__all__ = ["BCD", "CLS", "FBPD", "FISTA", "FOBOS", "GLS", "ISTA", "LHAC", "QUIC", "Auto", "BCDConstant",
           "FBPDConstrained", "FBPDLinear", "ForwardBackward", "LHACCovariance", "NewGLMNET", "PDSparse", "ParallelBCD",
           "SmallestHinge", "Solver", "SpaRSA", "Stagewise", "State", "WorkingSet", "search_eta0", "smallest_hinge"]
