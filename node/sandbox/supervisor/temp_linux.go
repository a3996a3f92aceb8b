package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
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
	mirrored       mirrorState
}

// mirrorState is the state of the system's folder and of a private one after a [confine.Temp.Mirror].
type mirrorState struct {
	system         string
	folder, mirror unix.Timespec
}

func (t *temp) mirrorState(system string) mirrorState {
	s := mirrorState{system: system}
	var st unix.Stat_t
	if unix.Stat(confine.TempDir, &st) == nil {
		s.folder = st.Mtim
	}
	if unix.Lstat(t.dir, &st) == nil {
		s.mirror = st.Mtim
	}
	return s
}

// tempFor returns the private temporary folder for a command, which finds the files of the previous
// one there.
func (c *confiner) tempFor(p *confine.Restrictions) (*temp, error) {
	if err := c.makeTemps(); err != nil {
		return nil, err
	}
	kept, canReplace := keptInTemp(p, c.settings.Hidden)
	dir := tempFolder(c.temp, kept)
	t := c.temps[dir]
	if t == nil {
		t = &temp{dir: dir, kept: kept}
		c.temps[dir] = t
	}
	t.replacesSystem = canReplace && c.files && !workspace.InFolder(c.temp, confine.TempDir)
	return t, os.MkdirAll(dir, 0o700)
}

// TempFolder returns the private temporary folder, in Temp, of commands with these restrictions.
func (s Settings) TempFolder(p *confine.Restrictions) string {
	kept, _ := keptInTemp(p, nil)
	return tempFolder(s.Temp, kept)
}

// tempFolder returns the private temporary folder in dir, of [MakeTemp], for commands with the same
// writable paths in the system's.
func tempFolder(dir string, kept []string) string {
	sum := sha256.Sum256([]byte(strings.Join(kept, "\x00")))
	return filepath.Join(dir, hex.EncodeToString(sum[:4]))
}

func isFolder(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// PrivateTemp returns the folder in dir, of [MakeTemp], that commands with these restrictions have
// in place of the system's if the helper can mount it there; empty if they use the system's.
func (s Settings) PrivateTemp(p *confine.Restrictions) string {
	kept, canReplace := keptInTemp(p, s.Hidden)
	isDisabled := slices.Contains(s.Missing, "landlock") || slices.Contains(s.Missing, "mounts")
	if !canReplace || isDisabled || confine.ABI() == 0 || workspace.InFolder(s.Temp, confine.TempDir) || systemTemp(slices.Concat(p.Writable, p.Readable)) == "" {
		return ""
	}
	return tempFolder(s.Temp, kept)
}

// keptInTemp returns the writable paths in the system's folder for temporary files, and whether a
// private one can take its place. It cannot if the command may write to all of it, or if rights for
// the private one would apply to what the command may only read, or to a secret.
func keptInTemp(p *confine.Restrictions, hidden []string) (kept []string, canReplace bool) {
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
	if len(kept) > 0 && (slices.ContainsFunc(hidden, isIn) || slices.ContainsFunc(realPaths(hidden), isIn)) {
		return kept, false
	}
	return kept, workspace.RealPath(confine.TempDir) == confine.TempDir
}

// realPaths returns paths without symbolic links. Most do not exist, but many are in the same folder.
func realPaths(paths []string) []string {
	folders := map[string]string{}
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		if exists(path) {
			list = append(list, workspace.RealPath(path))
			continue
		}
		dir := filepath.Dir(path)
		if folders[dir] == "" {
			folders[dir] = workspace.RealPath(dir)
		}
		list = append(list, filepath.Join(folders[dir], filepath.Base(path)))
	}
	return list
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// giveOwn gives a view what the command has for itself.
func (c *confiner) giveOwn(v *confine.View, t *temp, o *wireRequest) error {
	if !c.files {
		return nil // the command may use those of the system
	}
	v.OwnTerminals = !o.PTY || strings.HasPrefix(v.Terminal, "/dev/pts/")
	v.OwnMemory = !slices.ContainsFunc(v.Writable, func(w string) bool { return workspace.InFolder("/dev/shm", w) })
	system := systemTemp(slices.Concat(v.Writable, o.Restrictions.Readable))
	if !t.replacesSystem || system == "" || t.isElsewhere(o.Dir) {
		return nil
	}
	v.Temp = &confine.Temp{Dir: t.dir, System: system, Kept: t.kept}
	if err := os.Chmod(t.dir, 0o700); err != nil { // a command may have closed it
		return err
	}
	if t.mirrorState(system) == t.mirrored {
		return nil
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	before := t.mirrorState(system)
	if err := v.Temp.Mirror(root); err != nil {
		return err
	}
	// What changed meanwhile is mirrored with the next command, and so is what another change in the
	// same tick of the clock could hide. The times do not show changes in folders above kept ones.
	t.mirrored = mirrorState{}
	isBelow := func(kept string) bool { return filepath.Dir(kept) != confine.TempDir }
	if after := t.mirrorState(system); !slices.ContainsFunc(t.kept, isBelow) && after.folder == before.folder && time.Since(time.Unix(after.folder.Unix())) > mirrorDelay {
		t.mirrored = after
	}
	return nil
}

// mirrorDelay is longer than a tick of the clock of file systems.
const mirrorDelay = 100 * time.Millisecond

// isElsewhere reports whether a command starts in a folder of the system's that is not kept. It must
// find itself at its path.
func (t *temp) isElsewhere(dir string) bool {
	dir = workspace.RealPath(dir)
	if !workspace.InFolder(dir, confine.TempDir) || slices.ContainsFunc(t.kept, func(k string) bool { return workspace.InFolder(dir, k) }) {
		return false
	}
	own, err := os.OpenRoot(t.dir)
	if err != nil {
		return true
	}
	defer own.Close()
	sub, err := own.OpenRoot("." + strings.TrimPrefix(dir, confine.TempDir))
	if err != nil {
		return true
	}
	sub.Close()
	return false
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
