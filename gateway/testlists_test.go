package gateway_test

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testFunc     = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	longNames    = regexp.MustCompile(`(?m)^LONG := (.+)$`)
	longCommand  = regexp.MustCompile(`(?m)^\t.* -run '\$\(LONG\)' (.+)$`)
	alwaysAlone  = regexp.MustCompile(`grep -v '/(\S+)\$\$'`)
	wineLoop     = regexp.MustCompile(`^for name in (.+); do$`)
	wineBuild    = regexp.MustCompile(` test -c .* "?\./(\S+?)"?$`)
	wineNames    = regexp.MustCompile(`-test\.(?:run|skip) '([^']+)'`)
	alternative  = regexp.MustCompile(`(?:[^|()]|\([^)]*\))+`)
	groupOfNames = regexp.MustCompile(`^(.*)\(([^)]*)\)(.*)$`)
)

// A list that names a renamed test would no longer skip or run it, and nothing would fail.
func TestListsNameExistingTests(t *testing.T) {
	t.Parallel()
	t.Run("Makefile", func(t *testing.T) { checkLong(t, readText(t, "../Makefile")) })
	t.Run("wine-test.sh", func(t *testing.T) { checkWine(t, readText(t, "../packaging/wine-test.sh")) })
}

// checkLong checks that LONG names tests of the packages that run it, and none of the others, where
// they would be skipped and run nowhere.
func checkLong(t *testing.T, makefile string) {
	t.Helper()
	names := longNames.FindStringSubmatch(makefile)
	commands := longCommand.FindAllStringSubmatch(makefile, -1)
	if names == nil || len(commands) == 0 {
		t.Fatal("found neither LONG nor a command that runs it")
	}
	var run []string
	for _, c := range commands {
		for _, dir := range strings.Fields(c[1]) {
			run = append(run, strings.TrimPrefix(dir, "./"))
		}
	}
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	tests := testNames(t, &linux)
	checkNames(t, names[1], run, tests)
	always := alwaysAlone.FindStringSubmatch(makefile)
	if always == nil {
		t.Fatal("found no package that runs without the race detector")
	}
	pattern := regexp.MustCompile(names[1])
	for dir, list := range tests {
		for _, name := range list {
			if pattern.MatchString(name) && !slices.Contains(run, dir) && dir != always[1] {
				t.Errorf("LONG skips %s of %s, and no command runs it there", name, dir)
			}
		}
	}
}

// checkWine checks the names of each program of tests that is built for Windows.
func checkWine(t *testing.T, script string) {
	t.Helper()
	windows := build.Default
	windows.GOOS, windows.GOARCH, windows.CgoEnabled = "windows", "amd64", false
	tests := testNames(t, &windows)
	var loop, dirs []string
	checked := 0
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if m := wineLoop.FindStringSubmatch(line); m != nil {
			loop = strings.Fields(m[1])
		}
		if m := wineBuild.FindStringSubmatch(line); m != nil {
			dirs = []string{m[1]}
			if strings.Contains(m[1], "$name") {
				dirs = nil
				for _, name := range loop {
					dirs = append(dirs, strings.ReplaceAll(m[1], "$name", name))
				}
			}
		}
		for _, m := range wineNames.FindAllStringSubmatch(line, -1) {
			checkNames(t, m[1], dirs, tests)
			checked++
		}
	}
	if checked < 4 {
		t.Errorf("found %d lists of names, want those of all programs", checked)
	}
}

// checkNames checks that each alternative of a list matches a test of one of the packages.
func checkNames(t *testing.T, list string, dirs []string, tests map[string][]string) {
	t.Helper()
	for _, want := range alternatives(list) {
		pattern := regexp.MustCompile(want)
		if !slices.ContainsFunc(dirs, func(dir string) bool { return slices.ContainsFunc(tests[dir], pattern.MatchString) }) {
			t.Errorf("%q names no test of %v", want, dirs)
		}
	}
}

// alternatives returns what a list of names consists of: "Test(A|B)C|D" are TestAC, TestBC and D.
func alternatives(list string) (names []string) {
	for _, name := range alternative.FindAllString(list, -1) {
		m := groupOfNames.FindStringSubmatch(name)
		if m == nil {
			names = append(names, name)
			continue
		}
		for _, middle := range strings.Split(m[2], "|") {
			names = append(names, m[1]+middle+m[3])
		}
	}
	return names
}

// testNames returns the tests of every package as it is built for one system, by folder.
func testNames(t *testing.T, system *build.Context) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if ok, err := system.MatchFile(filepath.Dir(name), d.Name()); !ok || err != nil {
			return err
		}
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
		for _, m := range testFunc.FindAllStringSubmatch(readText(t, name), -1) {
			tests[dir] = append(tests[dir], m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
