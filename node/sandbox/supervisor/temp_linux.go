package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox/confine"
	"fairlead/node/workspace"
)

// temp is a private temporary folder of commands.
type temp struct {
	dir string
	// kept are the writable paths in the system's folder, which stay there.
	kept []string
	// replacesSystem says that the commands have it in place of the system's.
	replacesSystem bool
}

// tempFor returns the private temporary folder for a command. It exists as long as the helper, so
// that a command finds the files of the previous one.
func (c *confiner) tempFor(p *confine.Restrictions) (*temp, error) {
	kept, canReplace := c.keptInTemp(p)
	key := strings.Join(kept, "\x00")
	if t := c.temps[key]; t != nil && isFolder(t.dir) {
		return t, nil
	}
	if err := c.makeTemps(); err != nil {
		return nil, err
	}
	t := &temp{dir: filepath.Join(c.temp, strconv.Itoa(len(c.temps))), kept: kept}
	t.replacesSystem = canReplace && c.files && !workspace.InFolder(c.temp, confine.TempDir)
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, err
	}
	c.temps[key] = t
	return t, nil
}

func isFolder(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// keptInTemp returns the writable paths in the system's folder for temporary files, and whether a
// private one can take its place. It cannot if the command may write to all of it, or if rights for
// the private one would apply to what the command may only read, or to a secret.
func (c *confiner) keptInTemp(p *confine.Restrictions) (kept []string, canReplace bool) {
	inTemp := func(paths []string) (list []string) {
		for _, path := range paths {
			if path = workspace.RealPath(path); workspace.InFolder(path, confine.TempDir) && exists(path) {
				list = append(list, path)
			}
		}
		slices.Sort(list)
		return slices.CompactFunc(list, func(a, b string) bool { return workspace.InFolder(b, a) })
	}
	isIn := func(path string) bool {
		return slices.ContainsFunc(kept, func(k string) bool { return workspace.InFolder(path, k) })
	}
	kept = inTemp(p.Writable)
	for _, w := range p.Writable {
		if workspace.InFolder(confine.TempDir, workspace.RealPath(w)) {
			return nil, false
		}
	}
	for _, r := range inTemp(p.Readable) {
		if !isIn(r) {
			return kept, false
		}
	}
	return kept, workspace.RealPath(confine.TempDir) == confine.TempDir && !slices.ContainsFunc(c.settings.Hidden, func(h string) bool {
		return isIn(workspace.RealPath(h))
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// giveOwn gives a view what the command has for itself. A command in a terminal of the node keeps
// the terminals of the system, of which it can open only that one, because its programs look it
// up there.
func (c *confiner) giveOwn(v *confine.View, t *temp, o *wireRequest) error {
	if !c.files {
		return nil // the command may use those of the system
	}
	v.OwnTerminals = !o.PTY
	v.OwnMemory = !slices.ContainsFunc(v.Writable, func(w string) bool { return workspace.InFolder("/dev/shm", w) })
	system := systemTemp(slices.Concat(v.Writable, o.Restrictions.Readable))
	// A command that starts in another folder there must find itself at its path.
	dir := workspace.RealPath(o.Dir)
	isElsewhere := workspace.InFolder(dir, confine.TempDir) && !slices.ContainsFunc(t.kept, func(k string) bool { return workspace.InFolder(dir, k) })
	if !t.replacesSystem || system == "" || isElsewhere {
		return nil
	}
	v.Temp = &confine.Temp{Dir: t.dir, System: system, Kept: t.kept}
	if err := os.Chmod(t.dir, 0o700); err != nil { // a command may have closed it
		return err
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return v.Temp.Mirror(root)
}

// systemTemp returns the folder where commands see the system's temporary files. It is one of /dev,
// which is hidden as a whole: below any other folder, the rules of that would apply to them, too.
func systemTemp(granted []string) string {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return ""
	}
	names := []string{"mqueue"} // its system calls are refused
	for _, e := range entries {
		if e.IsDir() && e.Name() != "shm" && e.Name() != "pts" {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		dir := "/dev/" + name
		isGranted := slices.ContainsFunc(granted, func(g string) bool { return workspace.InFolder(g, dir) || workspace.InFolder(dir, g) })
		if !isGranted && isFolder(dir) {
			return dir
		}
	}
	return ""
}

const tempPrefix = "fairlead-commands-"

// makeTemps creates the folder of all temporary folders. It is not in the system's, which
// commands see only by links.
func (c *confiner) makeTemps() (err error) {
	if c.temp != "" {
		return nil
	}
	base, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	sweepTemps(base)
	const other = "/var/tmp"
	if c.mounts && c.files && workspace.InFolder(base, confine.TempDir) && unix.Access(other, unix.W_OK) == nil {
		sweepTemps(other)
		base = other
	}
	if c.temp, c.tempLock, err = makeTemp(base); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.temp, blankName), nil, 0); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(c.temp, blankFolderName), 0); err != nil {
		return err
	}
	c.copySystemFiles()
	return nil
}

// makeTemp creates a folder that is locked while its helper lives.
func makeTemp(base string) (string, *os.File, error) {
	dir, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Open(dir)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	return dir, lock, err
}

// sweepTemps removes the folders of killed helpers.
func sweepTemps(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		lock, err := os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		// A folder that is being created is not locked yet, but new.
		info, err := lock.Stat()
		if err == nil && time.Since(info.ModTime()) > time.Minute && unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
