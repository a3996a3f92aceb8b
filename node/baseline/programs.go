package baseline

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

// isHarmlessProgram reports whether a file of an environment of Python or of node_modules/.bin is
// what their tools write: it starts a package that is installed beside it, and takes the place of no
// other program. One that takes the place of an earlier file must be that for sure (packages.go).
func (s judge) isHarmlessProgram(path string, before, st state) bool {
	name, dir := filepath.Base(path), filepath.Dir(path)
	link := st.Mode&fs.ModeSymlink != 0
	switch {
	case st.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 || !link && !st.Mode.IsRegular():
		return false
	case strings.HasSuffix(name, ".rc"): // of direnv
		return false
	case name == "pyvenv.cfg":
		return s.baseOf(dir) != ""
	case strings.HasSuffix(name, ".pth"):
		return isHarmlessPath(string(s.disk.content(st)))
	case link && filepath.Base(dir) == ".bin":
		target := resolve(dir, st.Sum)
		return workspace.InFolder(target, filepath.Dir(dir)) && (!before.exists() || isOfPackage(target))
	case link:
		target := resolve(dir, st.Sum)
		return filepath.Dir(target) == dir || s.isSystem(target)
	case strings.Contains(strings.ToLower(name), "activate"):
		return s.isActivation(filepath.Dir(dir), name, string(s.disk.content(st)))
	}
	text := string(s.disk.content(st))
	switch {
	case isEntryPoint(text, dir), s.isActivation(filepath.Dir(dir), name, text), isRecorded(path, st.Sum):
		return true
	case !before.exists():
		return !s.isSystemProgram(name)
	}
	return isSameStarter(string(s.disk.content(before)), text, dir)
}

// isSystem reports whether commands cannot change a file, with all links on the way to it.
func (s judge) isSystem(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && !slices.ContainsFunc(s.folders, func(f string) bool { return workspace.InFolder(path, f) || workspace.InFolder(real, f) })
}

// isSystemProgram reports whether a program of the system has this name.
func (s judge) isSystemProgram(name string) bool {
	path, err := exec.LookPath(strings.TrimSuffix(name, filepath.Ext(name)))
	if err != nil {
		path, err = exec.LookPath(name)
	}
	return err == nil && s.isSystem(path)
}

// baseOf returns the folder of the interpreter of an environment; empty if commands can change it.
func (s judge) baseOf(environment string) string {
	data, _ := os.ReadFile(filepath.Join(environment, "pyvenv.cfg"))
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, "=")
		if home := strings.TrimSpace(value); strings.TrimSpace(key) == "home" && s.isSystem(home) {
			return home
		}
	}
	return ""
}

// startLine matches lines of .pth files that run code and are written by Python's packaging tools.
// They import modules from the folder of the file.
var startLine = regexp.MustCompile(`^import (_virtualenv|_distutils_hack|__editable___\w+; __editable___\w+\.install\(\w*\)|` +
	`os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os\.environ\.get\(var, '(local|stdlib)'\) == 'local'; enabled and __import__\('_distutils_hack'\)(\.add_shim\(\))?;?)\s*$`)

// isHarmlessPath reports whether a .pth file only adds folders, or has one of the known lines.
func isHarmlessPath(text string) bool {
	for line := range strings.Lines(text) {
		if (strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t")) && !startLine.MatchString(line) {
			return false
		}
	}
	return true
}

// entryLine matches the lines of a script that starts a function of an installed package, as pip and
// other installers write it.
var entryLine = regexp.MustCompile(`^\s*(|#.*|import re|import sys|from [\w.]+ import \w+|if __name__ == ['"]__main__['"]:|else:|if sys\.argv\[0\]\.endswith\(['"][-\w.]+['"]\):|` +
	`sys\.argv\[0\] = [^;#]*|sys\.exit\([\w.]+\(\)\))\s*$`)

// relocatableEntry is the interpreter of a script in a relocatable environment.
var relocatableEntry = regexp.MustCompile(`^\$\(dirname -- "\$\(realpath -- "\$0"\)"\)"/'python[\d.]*'$`)

// isEntryPoint recognizes such a script, which the interpreter in its own folder runs.
func isEntryPoint(text, dir string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	if first == "#!/bin/sh" { // for a long path
		second, after, _ := strings.Cut(rest, "\n")
		_, more, _ := strings.Cut(after, "\n")
		first, rest = "#!"+strings.Trim(strings.TrimSuffix(strings.TrimPrefix(second, "'''exec' "), ` "$0" "$@"`), `"`), more
	}
	interpreter := strings.TrimPrefix(first, "#!")
	if relocatableEntry.MatchString(interpreter) {
		interpreter = filepath.Join(dir, "python")
	}
	if filepath.Dir(interpreter) != dir || !strings.HasPrefix(filepath.Base(interpreter), "python") {
		return false
	}
	return hasOnly(entryLine, rest)
}

// loaderData matches what Yarn writes about the packages of a project into its loader: one literal
// of JSON.
var loaderData = regexp.MustCompile(`(?m)^const RAW_RUNTIME_STATE =\n'(?:[^'\\\n]|\\\n|\\[^\n])*';$`)

// hasSameCode reports whether two loaders of Yarn differ only in the packages of the project.
func hasSameCode(before, after []byte) bool {
	return len(before) > 0 && bytes.Equal(loaderData.ReplaceAll(before, nil), loaderData.ReplaceAll(after, nil))
}
