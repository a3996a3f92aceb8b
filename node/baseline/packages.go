package baseline

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

// A package manager replaces a program that it installed before by one of a package: the package
// names it. A command can write both, as it can write everything else in the package.

// isRecorded reports whether an installed package of Python lists a program with its checksum, as
// files from wheels are (PyPA specification "Recording installed projects").
func isRecorded(path, sum string) bool {
	raw, err := hex.DecodeString(sum)
	if err != nil || len(raw) == 0 {
		return false
	}
	folder, environment := filepath.Base(filepath.Dir(path)), filepath.Dir(filepath.Dir(path))
	line := "/" + folder + "/" + filepath.Base(path) + ",sha256=" + base64.RawURLEncoding.EncodeToString(raw) + ","
	records := globIn(environment, "lib", "*", "site-packages", "*.dist-info", "RECORD")
	records = append(records, globIn(environment, "Lib", "site-packages", "*.dist-info", "RECORD")...)
	return slices.ContainsFunc(records, func(record string) bool {
		data, _ := os.ReadFile(record)
		return strings.Contains(string(data), line)
	})
}

// isOfPackage reports whether the package.json of a package names a file as one of its programs.
func isOfPackage(file string) bool {
	for dir := filepath.Dir(file); filepath.Base(dir) != "node_modules" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var p struct {
			Bin         any
			Directories struct{ Bin string }
		}
		json.Unmarshal(data, &p) // a field of another type is not what npm accepts
		isIt := func(v any) bool {
			name, ok := v.(string)
			return ok && name != "" && filepath.Join(dir, filepath.FromSlash(name)) == file
		}
		programs, _ := p.Bin.(map[string]any)
		for _, v := range programs {
			if isIt(v) {
				return true
			}
		}
		return isIt(p.Bin) || p.Directories.Bin != "" && workspace.InFolder(file, filepath.Join(dir, filepath.FromSlash(p.Directories.Bin)))
	}
	return false
}

// starterPath matches the paths in a script that npm, pnpm or Yarn writes to start a program: that
// of the program, from the folder of the script, and those where Node.js finds modules.
var starterPath = regexp.MustCompile(`(\$basedir|%~?dp0%?|\$PSScriptRoot)[/\\]+(\.\.[\w@.+/\\-]*)|NODE_PATH=["']?([\w@.+/:;\\-]*)`)

// isSameStarter reports whether two such scripts differ only in these paths, which are in
// node_modules.
func isSameStarter(before, after, dir string) bool {
	if filepath.Base(dir) != ".bin" || starterPath.ReplaceAllString(before, "") != starterPath.ReplaceAllString(after, "") {
		return false
	}
	paths := starterPath.FindAllStringSubmatch(after, -1)
	for _, p := range paths {
		target := filepath.FromSlash(strings.ReplaceAll(p[2], `\`, "/"))
		if target != "" && !workspace.InFolder(filepath.Join(dir, target), filepath.Dir(dir)) {
			return false
		}
		for part := range strings.FieldsFuncSeq(p[3], func(r rune) bool { return r == ':' || r == ';' }) {
			if len(part) > 1 && !strings.Contains(part, "node_modules") { // one letter is a drive
				return false
			}
		}
	}
	return len(paths) > 0
}
