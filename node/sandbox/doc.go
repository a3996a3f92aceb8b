// Package sandbox starts the commands of the node's tools, contains them as strongly as the machine
// permits, and ends every process that they started.
//
// It makes two separate promises. Lifetime: every process that came from a command ends with it,
// even one that left its process group. When the command itself has ended, the others have
// SettleTime to end by themselves; then they get SIGTERM, and after TermGrace SIGKILL. All end with
// the node. Containment: which files, networks and other processes a command can reach. The package
// tests by trial what this machine really enforces; [Box.Report] has the result.
//
// # Linux
//
// Each box has one helper process, which is this program started again (package supervisor). It
// starts every command and is the parent of whatever a command leaves behind. When the node ends for
// any reason, the helper's socket closes and the helper ends all commands.
//
// Landlock and seccomp restrict a thread, so the helper restricts a new thread, starts the command
// from it and lets the thread end (package confine). That saves the second exec of a launcher, about
// 4 ms per command. Pdeathsig is not used, because it follows the thread and not the process.
//
// With the network blocked, a command has only Unix sockets. Before Landlock ABI 9 it cannot
// connect those either, because services behind them would do anything for it (Docker, the user's
// systemd), and it has no datagram sockets, which need no connection. Hidden are everything under
// /dev except a few devices, the program's own folder, and the locations where people store keys.
// Landlock can only allow, so folders with hidden entries are allowed entry by entry.
//
// Whatever the network setting, the filter refuses the system calls by which a command reaches
// other programs of the user. So PostgreSQL, fakeroot and other programs that need System V memory
// do not run contained, and a command may change its own priority and processors only when it names
// itself by 0: "renice -p $$" is refused. All system calls of 32-bit programs are refused.
//
// Landlock can only allow, and so cannot except single files of a writable folder. The files that
// start programs later (package floor) are therefore read-only by mounts: each command has a mount
// name space, in which these files and the folders above them are mounted on themselves, so that
// they can neither be changed nor moved. An ordinary user needs a user name space for that, which
// the helper for contained commands then has; there, the files of all other users belong to nobody.
// The filter refuses every system call that could change a mount or create a name space, and
// mounts also hold for io_uring, which no filter sees. Where user name spaces are forbidden, the
// report says that these files are not protected. Not protected, either, are files that do not
// exist when the command starts, and those that another program replaces or moves while it runs: a
// mount needs something to be on, and neither Landlock nor a mount can except a name from a folder
// in which others may be created. Package baseline looks for those after the command.
//
// With a mount name space, commands also get what many programs expect of a system: a /tmp,
// shared memory in /dev/shm (a quarter of the memory at most) and pseudo terminals. Their /tmp is
// the folder of TMPDIR, on the disk, shared by the commands of a box and removed with it. When less
// than a tenth of the disk is free, and less than 10 GiB, it may hold as much as is still free: a
// look every second ends the latest command that wrote more, and what was written since its start is
// removed. The file
// tools show it as /tmp, too ([workspace.Config]). A command that may write to further paths in the
// system's /tmp has another one. No other program reads it by accident, so nothing in it is
// protected. It has links to what is in
// the system's /tmp, which is mounted read-only in a folder of /dev: Landlock adds up the rules
// of all folders above a file, and /dev has none. So the rights in the private folder do not
// apply to files of the system, nor to services that have their sockets there. A workspace in
// /tmp stays at its path, and the folders above it cannot be moved. Without mounts, only TMPDIR
// is writable; the system's shared memory and terminals stay inaccessible, because Landlock could
// not tell those of other programs from the command's.
//
// While a rule denies a program, every exec of a command waits for the helper, which reads the
// program and its arguments from the memory of the process and refuses what the rule denies, also
// as the interpreter of a script. The memory may change after the check, a program may do the same
// under another name, and code that a program loads needs no exec: this is a second line, not
// containment. Without such a rule, nothing is watched.
//
// A command can rename or link files only within one mount: moving a file into or out of a folder
// with protected files fails with EXDEV, after which programs such as mv copy it.
//
// Where Landlock works, bubblewrap is not added: it would start each command twice. A separate view
// of processes is therefore reported as not enforced.
//
// Without Landlock (kernels before 5.13), bubblewrap restricts files if it is installed and its
// trial succeeds. With the network blocked the command also gets an empty network name space.
// Signals of commands then reach all of the user's programs, and a command can see a hidden folder
// that another program creates while it runs. Its option --die-with-parent would end the command
// with bubblewrap's own process, and --new-session would take away the terminal.
//
// [Full] contains nothing, on any system, not even for the file with the program's own tokens: a
// command with all rights of the user could read the same from the program's memory. The report,
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
// nor network are restricted. Elsewhere: the process group.
package sandbox
