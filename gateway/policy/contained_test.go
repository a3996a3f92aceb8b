package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// containedRequest is a command of an agent on a machine that contains commands.
func containedRequest(command, mode string) Request {
	q := writeRequest("", mode)
	q.Bare, q.Effect, q.Preview = "Bash", protocol.EffectExec, &protocol.CallPreview{Folder: corpusCwd, Shell: "bash"}
	q.Args, _ = json.Marshal(map[string]string{"command": command})
	e := q.Host.Enforcement
	e.Network, e.Summary, e.SetsAside = "blocked", "contained", []string{corpusCwd, "/tmp"}
	for _, id := range append(slices.Clone(RequiredChecks), "fs.read.secrets") {
		e.Checks = append(e.Checks, protocol.EnforcedCheck{ID: id, Enforced: true})
	}
	return q
}

func TestOnlyAMachineThatEnforcesEverythingContains(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[{"tool":"Bash","argv":["git","**"],"verdict":"allow"}]}`)}
	for name, weaken := range map[string]func(*Request){
		"nothing":         func(*Request) {},
		"no report":       func(q *Request) { q.Host.Enforcement = nil },
		"full access":     func(q *Request) { q.Host.Enforcement.Mode = "full" },
		"network":         func(q *Request) { q.Host.Enforcement.Network = "allowed" },
		"network lent":    func(q *Request) { q.Preview.Network = true },
		"another user":    func(q *Request) { q.Args = json.RawMessage(`{"command":"git st","username":"x"}`) },
		"no preview":      func(q *Request) { q.Preview = nil },
		"start-up files":  func(q *Request) { q.Host.Enforcement.Checks[0].Enforced = false },
		"writes, secrets": func(q *Request) { q.Host.Enforcement.Checks = q.Host.Enforcement.Checks[:1] },
		"secrets":         func(q *Request) { q.Host.Enforcement.Checks[len(RequiredChecks)+1].Enforced = false },
	} {
		t.Run(name, func(t *testing.T) {
			q := containedRequest("git st", protocol.ModeAsk)
			weaken(&q)
			d, want := p.Decide(q), Ask
			if name == "nothing" {
				want = Allow
			}
			if d.Verdict != want || q.Call().Contained != (want == Allow) {
				t.Errorf("without %s: got %s (%s), contained %v, want %s", name, d.Verdict, d.Reason, q.Call().Contained, want)
			}
		})
	}
}

// What git records is lifted only if nothing else can run that would use it.
func TestUnknownCodeLiftsNothing(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[]}`)}
	for command, want := range map[string]bool{
		"git push origin main": true, "git switch x && git push": true, "rm -rf clone": true,
		"git push --receive-pack=./evil ../x": false, "git push --new-option origin": false, "GIT_SSH_COMMAND=./evil git push": false,
		"git fetch ../x && git push ../x main && sed 's/a/b/e' f": false, "git switch x && find . -exec ./evil {} +": false,
		"git p": false, "git -C sub push": false, "git push && awk 'BEGIN{system(\"./evil\")}'": false, "git push < x && vim -S s": false,
	} {
		if d := p.Decide(containedRequest(command, protocol.ModeTrust)); (len(d.Lifts)+len(d.Records) > 0) != want {
			t.Errorf("%s: got the lifts %q and the records %q, want some: %v", command, d.Lifts, d.Records, want)
		}
	}
}

// A patch that the machine has read asks only about the start-up files in it. Elsewhere it asks.
func TestPatchThatTheMachineHasReadAsksAboutStartupFilesOnly(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[{"tool":"Bash","argv":["git","**"],"verdict":"allow"},{"tool":"Bash","argv":["patch","**"],"verdict":"allow"}]}`)}
	for _, command := range []string{"git apply x.patch", "git am x.mbox", "patch -p1 -i x.patch"} {
		q := containedRequest(command, protocol.ModeAsk)
		q.Preview.PatchesRead = true
		if d := p.Decide(q); d.Verdict != Allow {
			t.Errorf("%s: got %s (%s), want allow", command, d.Verdict, d.Reason)
		}
		q.Preview.Changes = []string{corpusCwd + "/.envrc"}
		if d := p.Decide(q); d.Verdict != Ask || !strings.Contains(d.Reason, ".envrc") {
			t.Errorf("%s with .envrc: got %s (%s), want a question about it", command, d.Verdict, d.Reason)
		}
		q.Preview.Changes, q.Host.Enforcement.Network = nil, "allowed"
		if d := p.Decide(q); d.Verdict != Ask {
			t.Errorf("%s where nothing is contained: got %s (%s), want a question", command, d.Verdict, d.Reason)
		}
	}
}

func TestMachineEnforcesDenyRulesForReading(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[{"tool":"Read","path":"secrets/**","verdict":"deny"}]}`)}
	if d := p.Decide(containedRequest("npm test", protocol.ModeTrust)); d.Verdict != Allow || d.Rules == nil || len(d.Rules.Hidden) != 1 {
		t.Errorf("npm test in a trusted chat: got %s (%s), rules %+v, want allow, and the machine hides the folder", d.Verdict, d.Reason, d.Rules)
	}
	q := containedRequest("npm test", protocol.ModeTrust)
	q.Host.Enforcement.Network = "allowed"
	if d := p.Decide(q); d.Verdict != Ask {
		t.Errorf("npm test where nothing is contained: got %s (%s), want a question", d.Verdict, d.Reason)
	}
}

// A machine that sets aside what a command creates under a rule enforces it, with wildcards and in its
// private /tmp; elsewhere, and on an older machine, code needs an approval.
func TestDenyRuleForWritingIsEnforcedWhereItIsSetAside(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Verdict{
		"release.txt": Allow, "dist/**": Allow, "**/.env": Allow, "*.pem": Allow, "dist/*": Allow, "/tmp/flag": Allow, "/tmp/**/*.sock": Allow, "~/**/*.pem": Allow,
		"/etc/x": Allow, "/var/tmp/x": Ask, "/var/tmp/**": Ask, "/**/*.pem": Ask, "**": Ask,
	} {
		t.Run(path, func(t *testing.T) {
			p := Policy{Rules: must(t, `{"rules":[{"tool":"Write","path":"`+path+`","verdict":"deny"}]}`)}
			if d := p.Decide(containedRequest("python3 build.py", protocol.ModeTrust)); d.Verdict != want {
				t.Errorf("%s: got %s (%s), want %s", path, d.Verdict, d.Reason, want)
			}
			old := containedRequest("python3 build.py", protocol.ModeTrust)
			old.Host.Enforcement.SetsAside = nil
			if path == "/etc/x" { // no command can write there
				return
			}
			if d := p.Decide(old); d.Verdict != Ask {
				t.Errorf("%s on a machine that sets nothing aside: got %s (%s), want a question", path, d.Verdict, d.Reason)
			}
		})
	}
}

// Outside of the workspace, a machine finds files of a rule with wildcards if the rule has no **.
func TestDenyRuleForReadingOutsideIsEnforcedWhereItsFilesAreFound(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Verdict{
		"~/clients/*/private": Allow, "~/clients/*/private/**": Allow, "/srv/*.key": Allow, "~/clients/**/private": Ask, "~/*/private": Ask, "/*/key": Ask, "/tmp/*.key": Ask,
	} {
		p := Policy{Rules: must(t, `{"rules":[{"tool":"Read","path":"`+path+`","verdict":"deny"}]}`)}
		q := containedRequest("python3 build.py", protocol.ModeTrust)
		q.Host.Enforcement.HidesOutside = true
		if d := p.Decide(q); d.Verdict != want || want == Allow && len(d.Rules.Hidden) != 1 {
			t.Errorf("%s: got %s (%s), rules %+v, want %s", path, d.Verdict, d.Reason, d.Rules, want)
		}
		q.Host.Enforcement.HidesOutside = false
		if d := p.Decide(q); d.Verdict != Ask {
			t.Errorf("%s on an older machine: got %s (%s), want a question", path, d.Verdict, d.Reason)
		}
	}
}

// Files that exist are hidden in the workspace only, or outside of what commands write.
func TestDenyRuleForReadingInTmpAsks(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Verdict{"**/*.key": Allow, "/tmp/*.key": Ask} {
		p := Policy{Rules: must(t, `{"rules":[{"tool":"Read","path":"`+path+`","verdict":"deny"},{"tool":"Write","path":"`+path+`","verdict":"deny"}]}`)}
		if d := p.Decide(containedRequest("python3 build.py", protocol.ModeTrust)); d.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", path, d.Verdict, d.Reason, want)
		}
	}
}
