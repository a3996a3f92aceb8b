package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"fairlead/node/sandbox/confine"
)

// bubblewrap is the name of a layer; a report names it where it restricts files.
const bubblewrap = "bubblewrap"

// landlockABI returns the version of Landlock to use, 0 for none.
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

// wrapKey is the part of a cached result's key that depends on bubblewrap.
func wrapKey(path string) string {
	if info, err := os.Stat(path); err == nil {
		return path + " " + info.ModTime().String()
	}
	return ""
}
