package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/shell"
)

// suffixes may turn an allowed command into one that runs more.
var suffixes = []string{
	"\nevil", "\n\nevil x", ";evil", "; evil", "&evil", "& evil", "|evil", "| evil", "|&evil", "&&evil", "||evil",
	" $(evil)", "$(evil)", " `evil`",
	"`evil`", " <(evil)", " >(evil)", " > evil", ">evil", ">>evil", " >|evil", " &>evil", " <>evil", " < $evil", "\r\nevil", " \\\nevil", "\\\n; evil",
	" # \\\nevil", " $evil", "${evil}", " ${x:-$(evil)}", " \"$(evil)\"", " \"`evil`\"", " $((a[$(evil)]))", " <<X\n$(evil)\nX", " <<X\nX\nevil",
	" <<< $(evil)",
	" {fd}>evil", " > /dev/tcp/1/2", " &", ";;", "\u2028evil", "\u202eevil", "\x00evil", "; f() { evil; }", "; ! evil", "; time evil",
	"; { evil; }", "; (evil)",
	"; if evil; then evil; fi", "; X=1", "; coproc evil", "; eval evil", "; . evil", "; exec evil", "; env evil", "; bash -c evil",
	"; find . -exec evil {} +",
	"; trap evil EXIT", "; alias x=evil", " (", " \"", " '", " $'\\x41'",
}

// TestNoSuffixWidensAnAllowedCommand appends texts to every allowed command of the corpus that
// would make it run more.
func TestNoSuffixWidensAnAllowedCommand(t *testing.T) {
	t.Parallel()
	sets := policies(t)
	n := 0
	for k, c := range readCorpus(t) {
		// this policy allows writes everywhere in the workspace
		if c.want != Allow || sets[c.policy].fallback == Allow || c.policy == "daily" ||
			strings.Contains(c.command, "<<") || strings.Contains(c.command, "#") {
			continue
		}
		for i, suffix := range suffixes {
			if (c.policy == "wide" || c.policy == "paths") && (i+k)%4 != 0 {
				continue // many commands share the suffixes
			}
			isText := slices.Contains([]string{" $evil", "${evil}"}, suffix)
			if isText && slices.ContainsFunc(shell.Analyze(c.command, shell.Bash).Commands, func(c shell.Command) bool { return printers[c.Name()] || c.Name() == "printf" }) {
				continue
			}
			call := corpusCall(c.shell, c.command+suffix)
			if got := sets[c.policy].Decide(call); got.Verdict == Allow {
				t.Errorf("%s, %s: %q stays allowed: %+v", c.policy, c.shell, call.Command, got.Parts)
			}
			if (i+k)%5 == 0 && !slices.Contains([]string{" $evil", "${evil}", "; X=1"}, suffix) { // which are harmless there
				call.Contained = true
				if got := sets[c.policy].Decide(call); got.Verdict == Allow {
					t.Errorf("%s, %s, contained: %q stays allowed: %+v", c.policy, c.shell, call.Command, got.Parts)
				}
			}
			n++
		}
	}
	if n < 5000 {
		t.Errorf("only %d combinations, want at least 5000", n)
	}
}

// TestAnythingAllowedIsAllowedInAllItsParts inserts special characters anywhere into allowed
// commands: a result that is still allowed must consist of commands that are each allowed alone.
func TestAnythingAllowedIsAllowedInAllItsParts(t *testing.T) {
	t.Parallel()
	sets := policies(t)
	var cases []corpusCase
	for _, c := range readCorpus(t) {
		if c.want == Allow && c.policy == "dev" && c.shell == "bash" {
			cases = append(cases, c)
		}
	}
	r := rand.New(rand.NewPCG(3, 5))
	inserts := []string{
		"\n", ";", "&", "|", "$(", ")", "$(x)", "`", "'", "\"", "\\", "\\\n", ">", "<", ">x", "<<X\n",
		"{", "}", "{x,y}", "$", "*", "?", "~", "#", "(", "=",
		"!", "-o", "--output=x", "-exec", " -c ", "\r", "\u200b", "\t", "  ", "&&", "||", "if ", "then ", "fi",
	}
	still := 0
	for range 10_000 {
		c := cases[r.IntN(len(cases))]
		text := c.command
		for range 1 + r.IntN(2) {
			at := r.IntN(len(text) + 1)
			text = text[:at] + inserts[r.IntN(len(inserts))] + text[at:]
		}
		got := sets["dev"].Decide(corpusCall("bash", text))
		if got.Verdict != Allow {
			continue
		}
		still++
		for _, bad := range []string{"\\\n", "\r", "\u200b"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q is allowed although it holds %q", text, bad)
			}
		}
		facts := shell.Analyze(text, shell.Bash)
		if len(facts.Findings) > 0 {
			t.Errorf("%q is allowed although it %s", text, facts.Findings[0].Reason)
		}
		for _, cmd := range facts.Commands {
			for i, w := range cmd.Words {
				isFound := w.Text == "{}" && cmd.Via == "find" && readers[cmd.Name()] // a file of the workspace
				if (w.Dynamic || w.Ambiguous) && !cmd.Guess && !(isHarmlessText(w) && printsWord(cmd, i)) && !isFound {
					t.Errorf("%q is allowed although %q is not known", text, w.Text)
				}
			}
		}
		for _, p := range got.Parts {
			if p.Verdict != Allow {
				t.Errorf("%q is allowed although its part %q is %s, want %s", text, p.Text, p.Verdict, Allow)
			}
		}
	}
	if still < 50 {
		t.Errorf("only %d commands were still allowed: the test is too tame", still)
	}
}

// TestAddingAStrictRuleNeverLoosens adds ask and deny rules of all kinds to the policies.
func TestAddingAStrictRuleNeverLoosens(t *testing.T) {
	t.Parallel()
	more := []Rule{
		{Tool: "Bash", Argv: []string{"git", "**"}},
		{Tool: "Bash", Argv: []string{"ls"}},
		{Tool: "Bash", Argv: []string{"*", "-rf", "**"}},
		{Tool: "Bash"},
		{Tool: "*"},
		{Tool: "Write", Path: "**"},
		{Tool: "Read", Path: "!/etc/**"},
		{Tool: "Bash", Argv: []string{"**"}},
		{Tool: "Bash", Argv: []string{"git", "status"}, Cwd: corpusCwd},
		{Tool: "laptop__Bash", Argv: []string{"echo", "**"}},
		{Tool: "Bash", Argv: []string{"find", "**"}, Node: "elsewhere"},
		{Tool: "Bash", Argv: []string{"npm", "*", "**"}},
	}
	before := policies(t)
	cases := readCorpus(t)
	for _, v := range []Verdict{Ask, Deny} {
		for i, r := range more {
			r.Verdict = v
			after := map[string]*Set{}
			for name := range before {
				f := readFile(t, name)
				at := 0
				if i%2 == 1 {
					at = len(f.Rules)
				}
				f.Rules = slices.Insert(f.Rules, at, r)
				s, problems, err := New(f)
				if err != nil || len(problems) > 0 {
					t.Fatalf("got %v, %v; want no problems and no error", err, problems)
				}
				after[name] = s
			}
			for k, c := range cases {
				if k%3 != i%3 {
					continue // the rules share the cases
				}
				if v == Ask && before[c.policy].fallback == Deny {
					continue // with that policy, an ask rule is looser than none
				}
				call := corpusCall(c.shell, c.command)
				if got := after[c.policy].Decide(call); got.Verdict.rank() < c.want.rank() {
					t.Errorf("line %d, %s: with %+v %q went from %s to %s", c.line, c.policy, r, c.command, c.want, got.Verdict)
				}
				if k%9 != i%3 {
					continue
				}
				if got := after[c.policy].Decide(containedCall(c.shell, c.command)); got.Verdict.rank() < c.contained.rank() {
					t.Errorf("line %d, %s, contained: with %+v %q went from %s to %s", c.line, c.policy, r, c.command, c.contained, got.Verdict)
				}
			}
		}
	}
}

// TestWrappersDoNotHideADeniedCommand tries every wrapper with every deny rule.
func TestWrappersDoNotHideADeniedCommand(t *testing.T) {
	t.Parallel()
	wrappers := []string{
		"%s", "env %s", "env A=1 %s", "env -i %s", "sudo %s", "sudo -u x %s", "doas %s",
		"nohup %s", "nice %s", "nice -n 5 %s", "timeout 5 %s",
		"timeout -k 1 -s KILL 5s %s", "stdbuf -o0 %s", "setsid %s", "time %s", "/usr/bin/time -f x %s", "ionice -c 3 %s",
		"chrt 1 %s", "taskset 1 %s", "command %s",
		"builtin %s", "exec %s", "exec -a x %s", "eval %s", "eval '%s'", "bash -c '%s'", "bash -xec '%s'", "sh -c '%s'", "zsh -c '%s'", "dash -c '%s'",
		"/bin/bash -c '%s'", "bash -o pipefail -c '%s'", "ssh host %s", "ssh -p 22 me@host '%s'", "busybox %s", "busybox sh -c '%s'", "xargs %s",
		"xargs -n 1 -P 4 %s", "find . -exec %s ;", "find . -exec %s {} +", "find . -type f -execdir %s \\;", "fd -x %s", "flock /l %s", "watch -n 1 %s",
		"script -c '%s'", "unshare -n %s", "chroot / %s", "strace -f -o x %s", "npx %s", "parallel %s", "coproc %s", "( %s )", "{ %s; }",
		"! %s", "if %s; then :; fi", "while %s; do :; done", "for i in 1; do %s; done", "case a in a) %s;; esac", "f() { %s; }", "echo $(%s)", "echo `%s`",
		"echo \"$(%s)\"", "cat <(%s)", "X=$(%s)", "echo > \"$(%s)\"", "true && %s",
		"true | %s", "true & %s", "true; %s", "true\n%s", "%s | cat", "%s &", "%s; true",
		"%s > /dev/null 2>&1", "trap '%s' EXIT", "alias x='%s'", "bash <<< '%s'", "bash <<'X'\n%s\nX", "echo '%s' | sh", "git -c alias.x='!%s' x",
		"tar cf a --checkpoint-action=exec='%s' b", "env -S '%s'", "su x -c '%s'", "cat <<X\n$(%s)\nX", "echo ${x:-$(%s)}",
		"[[ $(%s) ]]", "echo $(( $(%s) ))",
		"a=( $(%s) )", "A=1 %s", "%s\nif then (", "sudo env nice timeout 3 bash -c 'nohup %s'",
	}
	for _, name := range []string{"small", "open"} {
		t.Run(name, func(t *testing.T) {
			set := readPolicy(t, name)
			for _, denied := range []string{"rm x", "curl https://example.org", "/bin/rm -f x", `r\m x`, `"rm" x`} {
				for _, w := range wrappers {
					if strings.Contains(w, "'%s'") && strings.ContainsAny(denied, `\"`) {
						continue
					}
					text := strings.ReplaceAll(w, "%s", denied)
					if got := set.Decide(corpusCall("bash", text)); got.Verdict != Deny {
						t.Errorf("%s: %q is %s: %s, want %s", name, text, got.Verdict, got.Reason, Deny)
					}
				}
			}
		})
	}
}
