"""Long calls on a thread of their own, so that Ctrl-C arrives while they are made."""

import threading


def call(work, on_interrupt=None):
    """Returns work(). At Ctrl-C `on_interrupt` tells the work to end, which is then waited for; without it, and when it is
    pressed again, Ctrl-C comes out at once, and the work goes on in the background until it ends by itself."""
    outcome = {}
    done = threading.Event()  # Thread.join() would take a thread for ended that Ctrl-C has interrupted it with

    def body():
        try:
            outcome["result"] = work()
        except BaseException as error:  # it goes to the thread that waits
            outcome["error"] = error
        done.set()

    threading.Thread(target=body, name="gnnplan", daemon=True).start()
    while not done.is_set():
        try:
            done.wait(0.1)
        except KeyboardInterrupt:
            if on_interrupt is None:
                raise
            on_interrupt()
            on_interrupt = None
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
