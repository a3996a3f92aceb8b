package policy

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

// TestFloorSeesWhatRemovesARoot tries ways to write a command that removes a root, or runs as
// another user, with a rule that allows everything.
func TestFloorSeesWhatRemovesARoot(t *testing.T) {
	t.Parallel()
	set := must(t, `{"default":"allow","rules":[]}`)
	for _, c := range []struct {
		shell    string
		commands []string
	}{
		{"bash", []string{
			"rm -rf /h*", "rm -rf /[h]ome", "rm -rf /[[:lower:]]ome", "rm -rf {/h,/e}*", "rm -rf /?ome", "rm -rf /{h,}ome", "rm -rf ~/.*", `rm -rf "$HOME"/*`,
			"rm -rf /home/m*", "rm -rf /home/[!x]e", "rm -rf /*/me", "rm -rf /h*/m*/", "rm -rf /home/me/proj*", "rm -rf /home/me/*/", "rm -rf ~/*/*", "rm -rf ../proj*",
			"rm -rf ../p*/", "rm -rf ../*", "rm -rf /@(home|etc)", "rm -rf */", "rm -rf */*", "rm -rf ./[a-z]*", "rm -rf .[!.]*", "rm -rf -- /h*", "rm -r -f '/h'*",
			"find /h* -delete", "find ~/* -delete", "find /home/m? -exec rm {} +", "chmod -R 777 /home/m*", "rm -rf ../[P]roject",
			"2<&-rm 2<&--rf 2<&-/", "2>&-rm -rf /", "{fd}<&-rm -rf /", "{,rm} -rf /", "{,sudo} id", "{,} sudo id", "{,{,sudo}} id", "2<&-sudo id", "rm 2<&--rf /",
			"bash --posix -c '2<&-sudo id'", "echo a | time -o x sudo id", `"$@" sudo id`, `"${x[@]}" sudo id`, `"${x[@]:1}" sudo id`,
		}},
		{"sh", []string{"rm -rf sub/.*", "rm -rf sub/.?", "rm -rf sub/.[.]", "rm -rf sub/.*/*", "rm -rf .*/*", "rm -rf a/b/.*/.*", "rm -rf /h*", "rm -rf ~/.*", "2<&-sudo id"}},
		{"zsh", []string{"rm -rf /(home|etc)", "rm -rf /home/(me|you)", "rm -rf /home/m#e", "rm -rf /**/me", "rm -rf /home/^you", "rm -rf /home/m*~you", "- sudo id", "repeat 2 sudo id", "rm -rf ''~", `rm -rf ""~/*`}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			for _, command := range c.commands {
				if got := set.Decide(corpusCall(c.shell, command)); got.Verdict != Ask || !got.Floor {
					t.Errorf("%s: %q: got %s, floor %v (%s), want ask by the floor", c.shell, command, got.Verdict, got.Floor, got.Reason)
				}
			}
		})
	}
}

// TestPatternsBelowARootAreNotTheFloors checks that the floor does not apply to more than it
// should.
func TestPatternsBelowARootAreNotTheFloors(t *testing.T) {
	t.Parallel()
	set := must(t, `{"default":"allow","rules":[]}`)
	for _, command := range []string{
		"rm -rf out/*", "rm -rf *.o", "rm -rf build-*", "rm -rf sub/*/node_modules", "rm -rf /tmp/x*", "rm -rf ./a*/*.o", "rm -rf */node_modules", "rm -rf ~/Downloads/*.zip",
		"rm -rf out/[ab]", "rm -f *", "rm -rf out/.cache*", "find sub/* -delete",
	} {
		if got := set.Decide(corpusCall("bash", command)); got.Floor {
			t.Errorf("%q: got the floor (%s), want it left to the rules", command, got.Reason)
		}
	}
}

// TestAnotherUserIsAlwaysAskedAbout gives the command of a program a user, where everything is allowed.
func TestAnotherUserIsAlwaysAskedAbout(t *testing.T) {
	t.Parallel()
	set := must(t, `{"default":"allow","rules":[]}`)
	for user, asks := range map[string]bool{"": false, "me": false, "postgres": true} {
		args, err := json.Marshal(map[string]string{"command": "ls", "username": user})
		if err != nil {
			t.Fatal(err)
		}
		d := Policy{Rules: set}.Decide(Request{
			Tool: "pc__Bash", Node: "pc", Bare: "Bash", Effect: protocol.EffectExec, Args: args, Host: &protocol.HostInfo{User: "me", Workspace: corpusCwd, Home: corpusHome},
			Preview: &protocol.CallPreview{Folder: corpusCwd, Shell: "/bin/sh"},
		})
		if (d.Verdict == Ask) != asks || d.Floor != asks || asks && (d.Reason != "Runs as another user (postgres)" || len(d.Offers) > 0) {
			t.Errorf("%q: got %+v, want a question of the floor: %v", user, d, asks)
		}
	}
}
