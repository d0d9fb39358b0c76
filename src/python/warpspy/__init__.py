"""Drive warpspy, an explorer for sparse matrices on GPUs, from Python and notebooks."""
from .errors import Cancelled, Crashed, Error, Note
from .records import Plot, Records
from .session import Session

__version__ = "0.1.0"
__all__ = ["Cancelled", "Crashed", "Error", "Note", "Plot", "Records", "Session"]
