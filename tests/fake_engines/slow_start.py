"""Never gets ready."""

import time

time.sleep(3600)
