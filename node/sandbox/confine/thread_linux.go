package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Rules are the restrictions of a thread that are the same for many commands.
type Rules struct {
	// Filter applies the system call filter. NoNet leaves only Unix sockets; NoConnect forbids
	// connections to other processes.
	Filter, NoNet, NoConnect bool
}

// Thread permanently restricts the calling thread and drops its privileges. The caller must have
// locked its goroutine to the thread and must never unlock it, so that the thread ends with the
// goroutine. After an error, nothing may be started from the thread.
func Thread(r Rules) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if r.Filter {
		return seccomp(r.NoNet, r.NoConnect)
	}
	return nil
}

// Bind permanently restricts the calling thread by the ruleset. Thread must be called first; the
// same conditions apply.
func (r *Ruleset) Bind() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("applying the Landlock ruleset: %w", errno)
	}
	return nil
}

// dropCapabilities removes all of root's privileges except those of its user ID: without NOROOT the
// next exec would restore them. Capabilities of files do not count, because no_new_privs is set.
func dropCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&hdr, &have[0]); err != nil {
		return fmt.Errorf("reading the capabilities: %w", err)
	}
	if have == ([2]unix.CapUserData{}) {
		return nil
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		const noRoot, noRootLocked = 1 << 0, 1 << 1
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			return fmt.Errorf("giving up root's privileges: %w", err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&hdr, &none[0]); err != nil {
		return fmt.Errorf("dropping the capabilities: %w", err)
	}
	return nil
}
