package confine

// Restrictions describe what a contained command can do. Landlock, the system call filter and the
// mounts of Linux, and the profile of macOS, are all made from them. Paths are absolute. Settings of
// the node add the secrets, which no command can read.
type Restrictions struct {
	// Writable are folders and files that the command can change, even in a hidden folder.
	Writable []string
	// Readable are hidden paths that the command can read.
	Readable []string
	// ReadOnly are existing paths in Writable that the command cannot change, replace or move, and
	// neither the folders that contain them.
	ReadOnly []string
	// Denied are the paths of ReadOnly that a rule denies. No question lifts them.
	Denied []string
	// Hidden are existing paths that the command can neither read nor change, because a rule denies
	// that.
	Hidden []string
	// Network reports whether the command can use the network.
	Network bool
	// Programs cannot be started, by whatever the command runs.
	Programs []Program
}
