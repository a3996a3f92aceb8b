// Package sandbox starts the commands of the node's tools, contains them as strongly as the machine
// permits, and ends every process that they started.
//
// It makes two separate promises. Lifetime: every process that came from a command ends with it,
// even one that left its process group. When the command itself has ended, the others have
// SettleTime to end by themselves; then they get SIGTERM, and after TermGrace SIGKILL. All end with
// the node. Containment: which files, networks and other processes a command can reach. The package
// tests by trial what this machine really enforces and never assumes it; [Box.Report] has the
// result. A profile that requires containment is refused with [Unavailable] when its trial failed.
// Checking the words of a command ([CheckTokens]) is an aid where nothing can be enforced; it is
// not containment.
//
// # Linux
//
// Each box has one helper process, which is this program started again. It starts every command and
// is the parent of whatever a command leaves behind (PR_SET_CHILD_SUBREAPER). When the node ends
// for any reason, the helper's socket closes and the helper ends all commands: SIGTERM, and after
// TermGrace SIGKILL until none remains. A hard limit of file locks
// (RLIMIT_LOCKS), which children inherit and kernels ignore, tells which command an orphan belongs
// to; see supervisor/processes_linux.go.
//
// Landlock and seccomp restrict a thread, so the helper restricts a new thread, starts the command
// from it and lets the thread end (package confine). That saves the second exec of a launcher,
// about 4 ms of Go's startup per command, and needs no library that restricts whole processes. The
// helper starts nothing of its own on such a thread, and never restricts its first thread, which
// cannot end. Pdeathsig is not used, because it follows the thread and not the process.
//
// With the network blocked, a command has only Unix sockets. Before Landlock ABI 9 it cannot
// connect those either, because services behind them would do anything for it (Docker, the user's
// systemd), and it has no datagram sockets, which need no connection. Hidden are everything under
// /dev except a few devices, the program's own folder, and the locations where people store keys.
// Landlock can only allow, so folders with hidden entries are allowed entry by entry.
//
// Whatever the network setting, the filter refuses the system calls by which a command reaches
// other programs of the user (package confine has the table): inspecting and writing to processes
// (ptrace, process_vm_readv, kcmp, perf_event_open and others), the kernel's keys, System V shared
// memory, semaphores and message queues, POSIX message queues, and priority, processors, scheduling
// and limits of other processes. So PostgreSQL, fakeroot and other programs that need System V
// memory do not run contained. A command may change its own priority and processors, as nice,
// ionice and taskset do, when it names itself by 0. A filter does not know the process number, so
// "renice -p $$" and pinning threads by number are refused too. Landlock restricts signals from ABI
// 6 on. userfaultfd and pidfd_open are permitted, as is io_uring where the network is allowed,
// because they reach no other process. All system calls of 32-bit programs are refused.
//
// Where Landlock works, bubblewrap is not added. It would add a separate view of processes and
// read-only git hooks; no profile relies on either, and the report says that both are not enforced.
// Its price: it can only go around Landlock, which forbids every mount to what it restricts, so
// each command would be started twice and take six times as long as a bare start (16 to 40 ms
// against 2.5 to 5.6 ms, measured side by side), while our limit is 1.3 times. It also needs a user
// name space, which many systems forbid and in which owners of files look wrong.
//
// Without Landlock (kernels before 5.13, and those built without it), bubblewrap restricts files if
// it is installed and its trial succeeds. The file system is mounted read-only, writable folders
// are mounted over it, and empty ones over hidden entries. With the network blocked the command
// gets an empty network name space in addition to the filter. Signals of commands then reach all of
// the user's programs, as the report says, and a command can see a hidden folder that another
// program creates while it runs. Ending the command, its session, terminal, exit code and signals
// work as without bubblewrap: bubblewrap starts this program, which becomes the command once
// everything is set up; bubblewrap's own process, which would only wait and turn signals into exit
// codes, is ended before that. --die-with-parent would end the command with it, and is not needed,
// because the helper ends the remaining processes; --new-session would take away the terminal. If
// the trial fails, the report says why, and that files are not restricted.
//
// [Full] contains nothing, on any system. Not even a single file, such as the one with the
// program's own tokens where there is no keychain, is protected from it: a command with all rights
// of the user could read the same from the program's memory, its keychain or a debugger, or change
// the program itself. Hiding the file would only look like a guarantee. Instead, the report's gaps,
// approvals, doctor and the windows say so.
//
// # Other systems
//
// macOS: sandbox-exec with a profile that denies by default. The processes of a command are those
// of its session and group and all their descendants at the time of the search. A process that has
// left the session and whose parent has ended is not found, and a node that is killed leaves its
// commands running until its next start.
//
// Windows: a job object, which no process can leave and which ends with the command and with the
// node, immediately, because Windows has no SIGTERM; and a token without privileges. Neither files
// nor network are restricted.
//
// Elsewhere: the process group.
package sandbox
