"""`python -m sparsescope`: the same as the command `sparsescope`."""

import sys

from .cli import main

sys.exit(main())
