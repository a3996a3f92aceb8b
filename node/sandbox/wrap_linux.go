package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"fairlead/node/sandbox/confine"
)

// bubblewrap is the name of a layer, and what a report says of who holds the files where it does.
const bubblewrap = "bubblewrap"

// landlockABI is the version of Landlock that is used, 0 for none.
func landlockABI(opts Options) int {
	if slices.Contains(opts.Missing, "landlock") {
		return 0
	}
	return confine.ABI()
}

// wrapper is bubblewrap's program where it is the one that could hold files; empty where Landlock does, or where there is none.
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

// wrapKey is what a kept result depends on where bubblewrap is used.
func wrapKey(path string) string {
	if info, err := os.Stat(path); err == nil {
		return path + " " + info.ModTime().String()
	}
	return ""
}
