package baseline

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// RestrictModes takes all permissions of other users from the files in Fairlead's own folder, such as
// keys and the database; deep includes the folders directly in it. A command may have given them
// some.
func RestrictModes(home string, deep bool) {
	if home == "" || runtime.GOOS == "windows" {
		return
	}
	restrict(home)
	patterns := []string{"*"}
	if deep {
		patterns = append(patterns, "*/*")
	}
	for _, pattern := range patterns {
		names, _ := filepath.Glob(filepath.Join(home, pattern))
		for _, name := range names {
			restrict(name)
		}
	}
}

func restrict(name string) {
	const others = 0o077
	if info, err := os.Lstat(name); err == nil && (info.IsDir() || info.Mode().IsRegular()) && info.Mode()&(others|fs.ModeSetuid|fs.ModeSetgid) != 0 {
		os.Chmod(name, info.Mode().Perm()&^others)
	}
}
