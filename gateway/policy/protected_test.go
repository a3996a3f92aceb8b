package policy

import (
	"os"
	"strings"
	"testing"

	"fairlead/gateway/peer/sensitive"
)

// sensitivePaths returns a path for each entry of the table, and examples that were written
// independently of it.
func sensitivePaths(t *testing.T) (list []string) {
	t.Helper()
	for _, e := range sensitive.Entries() {
		if e.Kind&(sensitive.Secret|sensitive.Startup) == 0 {
			continue
		}
		file := strings.ReplaceAll(strings.Replace(e.Path, "**/", corpusCwd+"/sub/", 1), "*", "x")
		if e.Folder {
			list = append(list, file+"/some/file")
		}
		list = append(list, file)
	}
	data, err := os.ReadFile("../peer/sensitive/testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if kind, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok && kind != "#" && !strings.HasPrefix(line, "#") {
			list = append(list, file)
		}
	}
	return list
}

func TestWritingASensitiveFileAsksWhateverTheRulesSay(t *testing.T) {
	t.Parallel()
	s := must(t, `{"default":"allow","rules":[{"tool":"Bash","argv":["tee","**"],"verdict":"allow"},{"tool":"Bash","argv":["cp","**"],"verdict":"allow"},{"tool":"Write","path":"/**","verdict":"allow"},
		{"tool":"Edit","path":"/**","verdict":"allow"},{"tool":"Transfer","path":"/**","verdict":"allow"}]}`)
	list := sensitivePaths(t)
	if len(list) < 1000 {
		t.Fatalf("got %d paths, want at least 1000", len(list))
	}
	for _, file := range list {
		full := strings.Replace(file, "~/", corpusHome+"/", 1)
		calls := map[string]Call{
			"redirect": corpusCall("bash", "echo x > '"+full+"'"),
			"tee":      corpusCall("bash", "tee -a '"+full+"'"),
			"copy":     corpusCall("bash", "cp a '"+full+"'"),
		}
		for _, tool := range []string{"Write", "Edit", "Transfer"} {
			calls[tool] = Call{Tool: tool, Cwd: corpusCwd, Home: corpusHome, Paths: []string{full}}
		}
		calls["home workspace"] = Call{Tool: "Write", Cwd: corpusHome, Home: corpusHome, Paths: []string{full}}
		if tilde := strings.TrimPrefix(file, "~/"); tilde != file {
			calls["tilde"] = corpusCall("bash", "echo x > ~/'"+tilde+"'")
			calls["relative"] = Call{Tool: "Bash", Cwd: corpusHome, Home: corpusHome, Command: "echo x > '" + tilde + "'"}
		}
		for how, call := range calls {
			t.Run(how, func(t *testing.T) {
				if got := s.Decide(call); got.Verdict != Ask || !got.Floor {
					t.Errorf("%s %s: got %s, floor %v (%s), want ask by the floor", how, full, got.Verdict, got.Floor, got.Reason)
				}
			})
		}
	}
}

func TestMovingAFolderWithStartUpFilesAsks(t *testing.T) {
	t.Parallel()
	s := must(t, `{"default":"allow","rules":[{"tool":"Write","path":"/**","verdict":"allow"}]}`)
	for folder, want := range map[string]Verdict{"/.vscode": Ask, "/sub/.claude": Ask, "/src": Allow} {
		t.Run(folder, func(t *testing.T) {
			call := Call{Tool: "Write", Cwd: corpusCwd, Home: corpusHome, Paths: []string{corpusCwd + folder}, Whole: true}
			if got := s.Decide(call); got.Verdict != want || got.Floor != (want == Ask) {
				t.Errorf("%s: got %s, floor %v (%s), want %s", folder, got.Verdict, got.Floor, got.Reason, want)
			}
		})
	}
}

func TestReadingAStartUpFileIsLeftToTheRules(t *testing.T) {
	t.Parallel()
	s := must(t, `{"rules":[{"tool":"Read","path":"/**","verdict":"allow"}]}`)
	for _, file := range []string{corpusHome + "/.bashrc", corpusCwd + "/.git/config"} {
		if got := s.Decide(Call{Tool: "Read", Cwd: corpusCwd, Home: corpusHome, Paths: []string{file}}); got.Verdict != Allow {
			t.Errorf("reading %s: got %s (%s), want allow", file, got.Verdict, got.Reason)
		}
	}
}

func TestGitCommandsThatChangeItsFolderAreNotTheFloor(t *testing.T) {
	t.Parallel()
	s := must(t, `{"rules":[{"tool":"Bash","argv":["git","**"],"verdict":"allow"}]}`)
	for _, command := range []string{"git add -A", "git commit -m x", "git fetch origin", "git stash", "git tag v1", "git gc", "git -C . add a", "git checkout -b x"} {
		if got := s.Decide(corpusCall("bash", command)); got.Verdict != Allow {
			t.Errorf("%s: got %s (%s), want allow", command, got.Verdict, got.Reason)
		}
	}
}

// TestRuleForGitHoldsInTheWorkspacesOwnRepository: the settings of another repository name programs
// that git runs.
func TestRuleForGitHoldsInTheWorkspacesOwnRepository(t *testing.T) {
	t.Parallel()
	s := must(t, `{"rules":[{"tool":"Bash","argv":["git","status"],"cwd":"/home/me/project/**","verdict":"allow"},
		{"tool":"Bash","argv":["git","-C","lib","status"],"verdict":"allow"},{"tool":"Bash","argv":["cd","*"],"verdict":"allow"},
		{"tool":"Bash","argv":["git","log"],"cwd":"/home/me/project/lib","verdict":"allow"}]}`)
	for _, c := range []struct {
		command, cwd string
		want         Verdict
	}{
		{"git status", corpusCwd, Allow},
		{"git -C lib status", corpusCwd, Allow}, // the rule contains it
		{"git -C out/x status", corpusCwd, Ask},
		{"cd out/x && git status", corpusCwd, Ask},
		{"git status", corpusCwd + "/out/x", Ask},
		{"git log", corpusCwd + "/lib", Allow}, // the rule applies to that folder only
		{"git log", corpusCwd + "/out/x", Ask},
	} {
		got := s.Decide(Call{Tool: "Bash", Root: corpusCwd, Cwd: c.cwd, Home: corpusHome, Command: c.command})
		if got.Verdict != c.want || got.Verdict == Ask && (len(got.Offers) > 0 || !strings.Contains(got.Reason, "another repository") && !strings.Contains(c.command, "log")) {
			t.Errorf("%s in %s: got %s (%s), %d offers, want %s", c.command, c.cwd, got.Verdict, got.Reason, len(got.Offers), c.want)
		}
	}
	if got := readPolicy(t, "empty").Decide(corpusCall("bash", "cd out/x && git status")); len(got.Offers) > 0 {
		t.Errorf("got the offers %+v for git in another folder, want none", got.Offers)
	}
}
