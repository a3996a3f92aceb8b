package sandbox

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"fairlead/node/sandbox/confine"
)

// layerCheck says which layer enforces a check, and what to report when none does.
type layerCheck struct{ id, by, why, fix string }

// layerChecks returns those of a machine with that version of Landlock. unwrapped is the reason why
// bubblewrap does not restrict files, if it was tried.
func layerChecks(abi int, unwrapped string) []layerCheck {
	const seccomp = "seccomp"
	landlock, files, sockets := fmt.Sprintf("Landlock ABI %d", abi), fmt.Sprintf("Landlock ABI %d", abi), seccomp
	abstract := landlock
	switch {
	case abi == 0:
		files, abstract = bubblewrap, seccomp
	case abi >= 9:
		sockets = landlock
	}
	open := "the kernel does not confine files"
	if unwrapped != "" {
		open += ", and bubblewrap does not work: " + unwrapped
	}
	kernel := "Use Linux 5.13 or newer with Landlock enabled (landlock among the lsm= modules), or install bubblewrap where user namespaces are allowed."
	noFilter := "Run on amd64 or arm64 with seccomp in the kernel."
	metadata, mend := "Landlock does not cover mode, owner and times of files that the user owns", ""
	if abi == 0 {
		metadata, mend = open, kernel
	}
	return []layerCheck{
		{CheckWriteOutside, files, open, kernel},
		{CheckReadSecrets, files, open, kernel},
		{CheckProtected, "a mount name space", "commands can change existing files that start programs later, such as hooks of Git", "Allow user name spaces for this program, or run the node as root."},
		{CheckMetadata, files, metadata, mend},
		{CheckTCP, seccomp, "no system call filter blocks the network", noFilter},
		{CheckUDP, seccomp, "no system call filter blocks the network", noFilter},
		{CheckMPTCP, seccomp, "no system call filter blocks the network", noFilter},
		{CheckRaw, seccomp, "no system call filter blocks the network", noFilter},
		{CheckUring, seccomp, "io_uring bypasses a socket filter", noFilter},
		{CheckTrace, seccomp, "a command can read the memory of the user's other programs", noFilter},
		{CheckIPC, seccomp, "a command can use shared memory, semaphores and message queues of the user's other programs", noFilter},
		{CheckSignal, landlock, "Landlock covers signals from ABI 6 on", "Use Linux 6.12 or newer."},
		{CheckPriority, seccomp, "a command can change priority, processors and limits of the user's other programs", noFilter},
		{CheckAbstract, abstract, "Landlock covers abstract Unix sockets from ABI 6 on", "Use Linux 6.12 or newer."},
		{CheckUnix, sockets, "a command can use the user's services over Unix sockets, such as Docker", noFilter},
		{CheckPIDs, "", "a command sees the user's other processes", ""},
		{CheckCaps, "no capabilities", "a command keeps root's privileges", ""},
		{CheckPrivs, "no_new_privs", "a command can gain privileges with programs such as sudo", ""},
		{CheckPrograms, "seccomp", "nothing watches which programs a command starts", "Use Linux 5.13 or newer with Landlock and seccomp."},
		{CheckForks, "RLIMIT_NPROC", "the kernel does not limit root's processes", "Run the node as an ordinary user."},
	}
}

// bubblewrap is the name of a layer; a report names it where it restricts files.
const bubblewrap = "bubblewrap"

func landlockABI(opts Options) int {
	if slices.Contains(opts.Missing, "landlock") {
		return 0
	}
	return confine.ABI()
}

// wrapper returns the path of bubblewrap if it is needed and could restrict files; empty if
// Landlock does, or if it does not have any.
func wrapper(opts Options) string {
	if landlockABI(opts) > 0 || slices.Contains(opts.Missing, bubblewrap) {
		return ""
	}
	path, err := exec.LookPath("bwrap")
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}
