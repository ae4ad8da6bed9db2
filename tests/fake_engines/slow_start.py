"""Never answers START."""

import time

time.sleep(3600)
