"""Long calls on a thread of their own, so that Ctrl-C arrives while they are made."""

import threading


def call(work, on_interrupt=None):
    """Returns work(). At Ctrl-C `on_interrupt` tells the work to end, which is then waited for; without it Ctrl-C comes
    out when the work has ended."""
    outcome = {}
    done = threading.Event()  # Thread.join() would take a thread for ended that Ctrl-C has interrupted it with

    def body():
        try:
            outcome["result"] = work()
        except BaseException as error:  # it goes to the thread that waits
            outcome["error"] = error
        done.set()

    threading.Thread(target=body, name="gnnplan", daemon=True).start()
    interrupt = None
    while not done.is_set():
        try:
            done.wait(0.1)
        except KeyboardInterrupt as pressed:
            if on_interrupt is None:
                interrupt = pressed
            else:
                on_interrupt()
    if "error" in outcome:
        raise outcome["error"]
    if interrupt is not None:
        raise interrupt
    return outcome["result"]
