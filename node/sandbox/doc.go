// Package sandbox starts the commands of the node's tools, contained as strongly as the machine allows, and ends all that they started.
//
// Two promises are kept apart. Life-time: every process that came from a command ends with it, also
// one that left its process group: when the command itself has ended, the others get SettleTime to
// end by themselves, then SIGTERM, and after TermGrace SIGKILL. All end with the node. Containment:
// what files, network and other processes a command can reach. What is really enforced on this
// machine is tried out by doing it, never assumed, and told by [Box.Report]; a profile that
// requires containment is refused with [Unavailable] when a try failed. Looking at the words of a
// command ([CheckTokens]) is help where nothing can be enforced, not containment.
//
// # Linux
//
// One helper process per box, this program started again, starts every command and is the parent of whatever a command leaves behind
// (PR_SET_CHILD_SUBREAPER). When the node is gone, in whatever way, its socket ends and the helper ends all commands: SIGTERM, after TermGrace
// SIGKILL until none is left. Which orphan belongs to which command is told by a badge that children inherit; see kin_linux.go.
//
// Landlock and seccomp bind a thread, so the helper binds a fresh thread, starts the command from it and lets the thread end (package confine).
// That saves the second exec of a launcher, some 4 ms of Go's start-up for each command, and needs no library that binds whole processes. The
// helper starts nothing of its own on such a thread, and its first thread, which cannot end, is never bound. Pdeathsig is not used: it follows
// the thread, not the process.
//
// With the network blocked a command has no sockets but Unix ones, and cannot connect those either before Landlock ABI 9, for behind them are
// services that would do anything for it (Docker, the user's systemd); nor has it any for datagrams then, which need no connection. What is hidden is
// everything under /dev but a few devices, the program's own folder, and where people keep keys; Landlock can only allow, so folders with something
// hidden in them are allowed entry by entry.
//
// Whatever the network may be, the filter refuses the system calls by which a command reaches other
// programs of the user (package confine has the table): looking into them and writing to them
// (ptrace, process_vm_readv, kcmp, perf_event_open and others), the kernel's keys, System V shared
// memory, semaphores and message queues, POSIX message queues, and priority, processors, scheduling
// and limits of other processes. So PostgreSQL, fakeroot and other programs that need System V
// memory do not run contained. A command may change its own priority and processors, as nice,
// ionice and taskset do, when it names itself by 0: a filter does not know its process number, so
// that "renice -p $$" and threads that are pinned by number are refused too. Signals are
// Landlock's, from ABI 6 on. Not refused, as they reach no other process: userfaultfd, pidfd_open,
// and io_uring where the network is allowed. Calls of 32-bit programs are all refused.
//
// bubblewrap is not put around Landlock. Where Landlock holds, it would add the view of processes and read-only hooks of git; a profile relies on
// neither, and the report says that both are not enforced. The price: it can only go around Landlock, which refuses every mount to what it binds,
// so that each command would be started twice over, and six times as slowly as bare, where the issue allows 1.3 (measured side by side: 16 to 40 ms
// against 2.5 to 5.6 ms); a user name space, which many systems forbid; and owners of files that look wrong in it.
//
// Where Landlock is not there (kernels before 5.13, and those that leave it out) bubblewrap holds files, if it is installed and a try works. All is
// shown read-only, what may be written is mounted over it, and over what is hidden something empty; with the network blocked there is none but an
// empty one, beside the filter. Signals of commands reach all of the user's programs then, as the report says, and a hidden folder that someone else
// makes while a command runs is seen by it. Who ends the command, its session, terminal, exit code and signals are as without: bubblewrap starts this
// program, which makes itself the command once all is set up, and bubblewrap's own process, which would only wait and turn signals into exit codes,
// is ended before that. --die-with-parent would end the command with it, and is not needed, as the helper ends what is left; --new-session would take
// the terminal. If the try fails, the report says why, and that files are not held.
//
// [Full] contains nothing, on any system. A single file, such as the one with the program's own tokens where there is no keychain, is not kept from it:
// a command with all the rights of the user could take the same from the program's memory, its keychain or a debugger, or change the program
// itself, so that hiding the file would only look like a guarantee. The report's gaps, questions, doctor and the windows say so instead.
//
// # Other systems
//
// macOS: sandbox-exec with a profile that denies by default. The processes of a command are those
// of its session and group and all that descend from them when they are looked for: a process that
// has left the session and whose parent has ended is not found, and a node that is killed leaves
// its commands running until its next start. Windows: a job object, which no process leaves and
// which ends with the command and with the node, at once, as Windows has no SIGTERM; and a token
// without privileges; neither files nor network are enforced. Elsewhere: the process group.
package sandbox
