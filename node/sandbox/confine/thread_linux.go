package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Rules are what a thread is bound by.
type Rules struct {
	// Files is nil where files are not restricted.
	Files *Ruleset
	// Filter applies the system call filter. NoNet leaves no sockets but Unix ones, NoConnect lets none reach for another process.
	Filter, NoNet, NoConnect bool
}

// Thread binds the calling thread for ever. The caller has locked its goroutine to it and never unlocks it, so that the thread ends with the
// goroutine. After an error nothing may be started from the thread.
func Thread(r Rules) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if r.Files != nil {
		if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.Files.fd), 0, 0); errno != 0 {
			return fmt.Errorf("apply the Landlock ruleset: %w", errno)
		}
	}
	if r.Filter {
		return seccomp(r.NoNet, r.NoConnect)
	}
	return nil
}

// dropCapabilities leaves nothing of root's power but what its user id gives: without NOROOT the next exec would bring all back.
func dropCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&hdr, &have[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	if have == ([2]unix.CapUserData{}) {
		return nil
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		const noRoot, noRootLocked = 1 << 0, 1 << 1
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			return fmt.Errorf("give up root's power: %w", err)
		}
		for c := uintptr(0); c <= 63; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				break // past the last capability that the kernel knows
			}
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&hdr, &none[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	return nil
}
