package policy

import (
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

// linked returns a machine on which /home is a link to /usr/home, and the workspace in it is a link
// to another disk.
func linked(c Call) Call {
	c.Node, c.Home, c.Root = "n", "/home/me", "/data/proj"
	if c.Cwd == "" {
		c.Cwd = c.Root
	}
	c.Aliases = []protocol.Alias{
		{Path: "/home", Folder: "/usr/home"},
		{Path: "/home/me/proj", Folder: "/data/proj"},
		{Path: "/usr/home/me/proj", Folder: "/data/proj"},
		{Path: "/tmp", Folder: "/private/tmp"},
		{Path: "relative", Folder: "/data"},
		{Path: "/", Folder: "/data"},
	}
	return c
}

func rulesFile(t *testing.T, format string, args ...any) *Set {
	t.Helper()
	s, problems, err := Parse(fmt.Appendf(nil, format, args...))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	return s
}

// names of one file of the workspace, and of one in the home folder.
var (
	inside = []string{"/data/proj/secret/a", "/home/me/proj/secret/a", "/usr/home/me/proj/secret/a"}
	beside = []string{"/home/me/notes/a", "/usr/home/me/notes/a"}
)

func TestDenyHoldsForEveryNameOfItsFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules, files []string
	}{
		{[]string{"secret/**", "/data/proj/secret/**", "/home/me/proj/secret/**", "/usr/home/me/proj/secret/**", "~/proj/secret/**", "/home/**"}, append(inside, "secret/a", "~/proj/secret/a")},
		{[]string{"!/home/me/notes/**", "/home/me/notes/*", "!/usr/home/**", "~/notes/**", "/home/*/notes/**"}, append(beside, "~/notes/a", "/usr/home/me/../me/notes/a")},
		{[]string{"/tmp/**", "/private/tmp/**", "!/tmp/x"}, []string{"/tmp/x", "/private/tmp/x"}},
	} {
		for _, rule := range c.rules {
			s := rulesFile(t, `{"default":"allow","rules":[{"tool":"*","path":%q,"verdict":"deny"}]}`, rule)
			for _, file := range c.files {
				checkDenied(t, s, rule, file)
			}
		}
	}
}

// checkDenied checks that a rule denies file tools and commands the access to a file, and commands
// that would move or remove it with its folder.
func checkDenied(t *testing.T, s *Set, rule, file string) {
	t.Helper()
	calls := []Call{{Tool: "Bash", Command: "cat " + file}}
	if file[0] == '/' {
		calls = append(calls, Call{Tool: "Read", Paths: []string{file}}, Call{Tool: "Write", Paths: []string{file}})
	}
	for _, c := range calls {
		if got := s.Decide(linked(c)); got.Verdict != Deny {
			t.Errorf("deny %s: %s %s of %s: got %s, want deny", rule, c.Tool, c.Command, file, got.Verdict)
		}
	}
	commands := []string{"echo x > " + file, "cd /home/me/proj && cat " + file}
	for _, folder := range []string{"/data", "/home", "/usr/home", "/private"} {
		if _, in := relativeTo(file, folder); in {
			commands = append(commands, "grep -r x "+folder+"/")
		}
	}
	for _, command := range commands {
		if got := s.Decide(linked(Call{Tool: "Bash", Command: command})); got.Verdict == Allow {
			t.Errorf("deny %s: %q is allowed", rule, command)
		}
	}
}

func TestAllowHoldsForEveryNameOfItsFolder(t *testing.T) {
	t.Parallel()
	all := []string{"secret/**", "/data/proj/secret/**", "/home/me/proj/secret/**", "/usr/home/me/proj/secret/**", "~/proj/secret/**", "**"}
	notes := []string{"!/home/me/notes/**", "/home/me/notes/**", "/usr/home/me/notes/*", "~/notes/**"}
	for _, c := range []struct {
		rules, allowed, asked []string
	}{
		{all, inside, append(beside, "/etc/passwd", "/data/other/secret/a")},
		{notes, beside, append(inside, "/home/you/notes/a", "/data/proj/notes/a")},
		// The target of a link is not in the link's folder, and a file in the workspace is not
		// outside.
		{[]string{"/home/**", "~/**", "!/home/**", "!/home/me/proj/**", "!/data/**"}, nil, inside},
	} {
		for _, rule := range c.rules {
			s := rulesFile(t, `{"rules":[{"tool":"Write","path":%q,"verdict":"allow"}]}`, rule)
			for want, files := range map[Verdict][]string{Allow: c.allowed, Ask: c.asked} {
				for _, file := range files {
					if got := s.Decide(linked(Call{Tool: "Write", Paths: []string{file}})); got.Verdict != want {
						t.Errorf("allow %s: Write of %s: %s, want %s", rule, file, got.Verdict, want)
					}
				}
			}
		}
	}
}

func TestRuleForAFolderHoldsForEveryName(t *testing.T) {
	t.Parallel()
	for _, verdict := range []Verdict{Allow, Deny} {
		def := map[Verdict]Verdict{Allow: Ask, Deny: Allow}[verdict]
		for _, cwd := range []string{"/data/proj/**", "/home/me/proj/**", "/usr/home/me/proj/**", "/home/me/proj"} {
			t.Run(cwd, func(t *testing.T) {
				s := rulesFile(t, `{"default":%q,"rules":[{"tool":"Bash","argv":["make"],"cwd":%q,"verdict":%q}]}`, def, cwd, verdict)
				for _, dir := range []string{"/data/proj", "/home/me/proj", "/usr/home/me/proj"} {
					if got := s.Decide(linked(Call{Tool: "Bash", Command: "make", Cwd: dir})); got.Verdict != verdict {
						t.Errorf("%s in %s: make in %s: got %s, want the rule's verdict", verdict, cwd, dir, got.Verdict)
					}
					if got := s.Decide(linked(Call{Tool: "Bash", Command: "make", Cwd: "/data/projects"})); got.Verdict != def {
						t.Errorf("%s in %s: make elsewhere: got %s, want %s", verdict, cwd, got.Verdict, def)
					}
				}
			})
		}
	}
	// A deny rule applies to the name of the folder that contains the link; an allow rule does not
	// follow the link.
	for verdict, want := range map[Verdict]Verdict{Allow: Ask, Deny: Deny} {
		s := rulesFile(t, `{"rules":[{"tool":"Bash","argv":["make"],"cwd":"/home/me/**","verdict":%q}]}`, verdict)
		if got := s.Decide(linked(Call{Tool: "Bash", Command: "make"})); got.Verdict != want {
			t.Errorf("%s in /home/me and below: %s, want %s", verdict, got.Verdict, want)
		}
	}
}

func TestRuleAboutAFolderHoldsForItsOtherNames(t *testing.T) {
	t.Parallel()
	for _, writable := range []string{"/data/proj", "/home/me/proj"} {
		for _, rule := range []string{"secret/**", "/home/me/proj/secret/**", "/data/proj/secret/**", "~/proj/secret/**"} {
			t.Run(rule, func(t *testing.T) {
				s := rulesFile(t, `{"default":"allow","rules":[{"tool":"Write","path":%q,"verdict":"deny"}]}`, rule)
				c := linked(Call{Tool: "Bash", Command: "make"})
				c.Sandbox = Sandbox{Writes: true, Writable: []string{writable}}
				if got := s.Decide(c); got.Verdict != Ask || len(got.Unenforced) != 1 {
					t.Errorf("deny %s where %s may be written: %s, held %q; want %s", rule, writable, got.Verdict, got.Enforced, Ask)
				}
			})
		}
	}
}

func TestFloorHoldsForEveryName(t *testing.T) {
	t.Parallel()
	s := rulesFile(t, `{"default":"allow","rules":[]}`)
	for _, command := range []string{
		"rm -rf /data/proj", "rm -rf /home/me/proj", "rm -rf /usr/home/me/proj/", "rm -rf /home/me", "rm -rf /usr/home/me", "rm -rf /home", "find /home/me/proj -delete",
		"echo x > /home/me/.bashrc", "echo x > /usr/home/me/.bashrc",
	} {
		if got := s.Decide(linked(Call{Tool: "Bash", Command: command})); got.Verdict != Ask || !got.Floor {
			t.Errorf("%q: %s, floor %v; want Verdict %v and Floor", command, got.Verdict, got.Floor, Ask)
		}
	}
}
