"""Which process started this one; imported first, since the parent may be gone a second later."""

import os

PARENT = os.getppid()
