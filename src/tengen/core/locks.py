"""File locks between processes. The operating system releases a lock when the process that holds it ends."""

from __future__ import annotations

import sys
import time

_ATTEMPTS, _RETRY_S = 20, 0.05

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Try to lock a file without waiting, and return whether that succeeded.

        The lock lasts until the file is closed. A shared lock fails only while another process holds an exclusive one.
        """
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def wait_for_lock(descriptor: int) -> bool:
    """Lock a file exclusively and return whether that succeeded.

    Retries for one second, because readers briefly lock the file to find out whether it is in use.
    """
    for _ in range(_ATTEMPTS):
        if try_lock(descriptor):
            return True
        time.sleep(_RETRY_S)
    return False
