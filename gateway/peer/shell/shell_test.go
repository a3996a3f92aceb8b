package shell

import (
	"fmt"
	"strings"
	"testing"
)

// brief formats facts in one line: words in brackets, followed by marks if they are not plain.
func brief(f Facts) string {
	var list []string
	for _, c := range f.Commands {
		var words []string
		for _, w := range c.Words {
			mark := ""
			for _, m := range []struct {
				on   bool
				text string
			}{{w.Dynamic, "$"}, {w.Glob, "*"}, {w.Tilde, "~"}, {w.Ambiguous, "?"}} {
				if m.on {
					mark += m.text
				}
			}
			words = append(words, w.Text+mark)
		}
		text := "[" + strings.Join(words, "|") + "]"
		if c.Guess {
			text = "maybe" + text
		}
		if c.Via != "" {
			text = c.Via + ">" + text
		}
		list = append(list, text)
	}
	for _, r := range f.Redirects {
		list = append(list, fmt.Sprintf("%s:%s", map[bool]string{true: "write", false: "read"}[r.Write], r.Path.Text))
	}
	for _, a := range f.Assigns {
		list = append(list, a.Name+"="+a.Value.Text)
	}
	for _, x := range f.Findings {
		list = append(list, "!"+x.Reason)
	}
	return strings.Join(list, " ")
}

func TestCommandsAreTakenApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ls":                               "[ls]",
		`l\s "a b" 'c d' e" "f`:            "[ls|a b|c d|e f]",
		`echo "a\"b\$c\d" 'x\y'`:           `[echo|a"b$c\d|x\y]`,
		"ls *.go '*.go' \\*.go ~/x '~'":    "[ls|*.go*|*.go|*.go|~/x~|~]",
		"ls {a,b}c {1..3}":                 "[ls|ac|bc|1|2|3]",
		"ls $X ${Y} $((1)) <(a)":           "[ls|$X$|${Y}$|$((1))$|<(a)$] maybe[ls?] [a]",
		"a | b && c || d; e":               "[a] [b] [c] [d] [e]",
		"a\nb":                             "[a] [b]",
		"a & b":                            "[a] [b] !continues in the background",
		"a $(b `c`)":                       "[a|$(b `c`)$] maybe[a?] [b|`c`$] maybe[b?] [c]",
		"a > x 2>> y < z 2>&1 &>/dev/null": "[a] write:x write:y read:z write:/dev/null",
		"A=1 B=$(c) d":                     "[c] [d] A=1 B=$(c)",
		"if a; then b; elif c; then d; else e; fi": "[a] [b] [c] [d] [e]",
		"for i in $(a); do b; done":                "[a] [b]",
		"case x in a) b;; *) c;; esac":             "[b] [c]",
		"f() { a; }":                               "[a] !defines a function",
		"cat <<'X'\n$(a)\nX":                       "[cat]",
		"cat <<X\n$(a)\nX":                         "[cat] [a] !contains a here-document with variables or commands",
		"sudo -u me env -i A=1 timeout -s KILL 5 a b": "[sudo|-u|me|env|-i|A=1|timeout|-s|KILL|5|a|b] sudo>[env|-i|A=1|timeout|-s|KILL|5|a|b] " +
			"env>[timeout|-s|KILL|5|a|b] timeout>[a|b] A=1",
		"find . -name x -exec a {} \\; -o -exec b +": "[find|.|-name|x|-exec|a|{}|;|-o|-exec|b|+] find>[a|{}$] find>[b|+]",
		"xargs -0 -n 1 a b":                          "[xargs|-0|-n|1|a|b] xargs>[a|b|…$]",
		"bash -ec 'a; b' c":                          "[bash|-ec|a; b|c] bash>[a] bash>[b]",
		"bash <<'X'\na\nX":                           "[bash] bash>[a]",
		"echo a b | sh":                              "[echo|a|b] [sh] sh>[a|b]",
		"eval 'a $(b)' c":                            "[eval|a $(b)|c] eval>[a|$(b)$|c] eval>maybe[a?|c?] eval>[b]",
		"ssh -p 22 h 'a; b'":                         "[ssh|-p|22|h|a; b] ssh>[a] ssh>[b]",
		"git -c alias.x='!a b' x":                    "[git|-c|alias.x=!a b|x] git>[a|b]",
		"git -c core.pager=a log":                    "[git|-c|core.pager=a|log] git>[a]",
		"tar cf x --checkpoint-action=exec='a b' y":  "[tar|cf|x|--checkpoint-action=exec=a b|y] tar>[a|b]",
		"test -v 'x[$(a)]'":                          "[test|-v|x[$(a)]] [a] !contains a quoted substitution that the shell may run",
		"[[ 'x[$(a)]' -eq 1 ]]":                      "[a] !is evaluated by the shell itself",
		"a=rm; $a x":                                 "[$a$|x] maybe[rm?|x?] a=rm",
		"r${x}m y":                                   "[r${x}m$|y] maybe[rm?|y?]",
		"rm${IFS}-rf${IFS}/":                         "[rm${IFS}-rf${IFS}/$] maybe[rm?|-rf?|/?]",
		"exec 3>x":                                   "[exec] write:x !redirects the shell's own input or output",
		"a\nif (":                                    "[a] maybe[a] maybe[a] !",
	} {
		if got := brief(Analyze(text, Bash)); got != want && !(strings.HasSuffix(want, "!") && strings.HasPrefix(got, want)) {
			t.Errorf("%q is\n  %s\nwant\n  %s", text, got, want)
		}
	}
}

func TestTextsThatMayReadDifferentlyAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a\r", "a\r\nb", "a \\\nb", "a\x00", "a\x1b[1m", "a\u200b", "a\u202e", "a\u00a0b", "a\u2028b", "a \xff",
		"a '\u200d'", "a # \u2066",
		`bash -c $'a # \\\nb'`, "a <&-b", "a >& -b", "2<&-a", "a 12>x", "{a[0]}>x b", "a >&1-", "a >&12", "a >&'$(b)'", "a >&$b",
		"{,a} b", "/bin/r[m] x", "env q* a", "a {b,,c}", "a {b},c}", "a {01..3}", "a {1..9..2}", "a {b..C}", "time -x a", "a | time b", "a-b=c[d]", "a <<'X'# ; b\nX\nX#\n", "a <<X\"Y\"# ; b\nXY\n",
		"a '\u2018'", "a" + strings.Repeat(" ", 80) + "b", strings.Repeat("a ", 20_000),
	} {
		if f := Analyze(text, Bash); len(f.Findings) == 0 {
			t.Errorf("%.40q has no finding", text)
		}
	}
	for _, text := range []string{
		"a\tb", "a 'é ü 你好 emoji 😀'", "a\n\n\nb", "a # done", "echo 'x — y'",
		"a 2>&1", "a <&-", "a >&- b", "a >&b", "a b{,c}", "a {b,c}", "a b@{u}..c", "a {} +", "time -p a", "a '{,}' '>&-b'",
	} {
		if f := Analyze(text, Bash); len(f.Findings) > 0 {
			t.Errorf("got %q %s; want no findings", text, f.Findings[0].Reason)
		}
	}
}

func TestShellsThatReadATextDifferentlyAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k    Kind
		text string
	}{{Zsh, "a $${b c}"}, {POSIX, "a &> b"}, {POSIX, "a <(b)"}, {POSIX, "a {fd}> x"}, {POSIX, "[[ a ]]"}, {Zsh, "a &!"}, {Zsh, "a *(.)"}, {Zsh, "() { a }"}, {
		Zsh,
		"a {b,c}d |& e &|",
	}} {
		t.Run(c.text, func(t *testing.T) {
			if f := Analyze(c.text, c.k); len(f.Findings) == 0 {
				t.Errorf("%s: %q has no finding: %s", c.k, c.text, brief(f))
			}
		})
	}
}

func TestShellNamesAreKnown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{
		"": Bash, "bash": Bash, "/bin/bash": Bash, "/usr/bin/zsh": Zsh, "dash": POSIX, "/bin/sh": POSIX,
		`C:\Git\bin\bash.exe`: Bash,
	} {
		if k, ok := ParseKind(name); !ok || k != want {
			t.Errorf("%q is %q, %v; want ok and k %v", name, k, ok, want)
		}
	}
	for _, name := range []string{"fish", "nu", "powershell", "pwsh", "cmd", "cmd.exe", "tcsh", "xonsh", "bash2000"} {
		if k, ok := ParseKind(name); ok {
			t.Errorf("%q is taken for %q", name, k)
		}
	}
}

func TestVariablesThatMayHoldACommandAreNotCountedWith(t *testing.T) {
	t.Parallel()
	const hides = "x='a[$(b)]'; "
	for _, text := range []string{
		hides + "c $((x))", hides + "c \"$((1+x))\"", hides + "c $[x]", hides + "c ${y[x]}", hides + "c ${y:0:x}", hides + "c ${!x}", "c ${x@P}", hides + "c >$((x))",
		"for i in 'a[$(b)]'; do case $((i)) in *) c;; esac; done", "set -- 'a[$(b)]'; c $(($1))", "read x; c $((x))", "x=1; x=$(b); c $((x))", "c $(($(b)))", "c $((x))",
		"x=1 y=x; c $((y))", "export x=1; read x; c $((x))", "env x='a[$(b)]' bash -c 'c $((x))'", "x=1; c ${x:='a[$(b)]'} $((x))", "for i in $((x)); do c; done",
	} {
		if f := Analyze(text, Bash); len(f.Findings) == 0 {
			t.Errorf("%q: got %s, want a finding", text, brief(f))
		}
	}
	for _, text := range []string{
		"i=0; i=$((i+1)); c $i", "for i in 1 2 {3..5}; do c $((i*2)); done", "c $((1+2)) $((RANDOM%5)) $(($#-1))", "c ${x:0:3} ${a[0]} ${a[@]} ${#a[@]} ${!a[@]} ${x@Q}",
		"n=${#x}; c $((n-1))", "i=5; c ${x:i}",
	} {
		if f := Analyze(text, Bash); len(f.Findings) > 0 {
			t.Errorf("%q: got %s, want no finding", text, brief(f))
		}
	}
}

// FuzzAnalyze: no text makes the analysis panic, and no text without a finding contains an unknown
// part.
func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{
		"a | b", "a $(b)", "x=1 y", "cat <<X\n$(a)\nX", "for i in a; do b; done", "bash -c 'a; b'", "a {b,c}",
		"find . -exec a {} +", "a\\\nb", "git -c a=!b c",
		"[[ a -eq b ]]", "f() { a; }", "sudo env -S 'a b'", "a 'b", "a >& b", "eval a \"$b\"",
	} {
		for _, k := range []string{"bash", "sh", "zsh"} {
			f.Add(s, k)
		}
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		k, ok := ParseKind(name)
		if !ok {
			k = Bash
		}
		facts := Analyze(text, k)
		for i, c := range facts.Commands {
			if len(c.Words) == 0 || c.Parent >= i {
				t.Fatalf("%q: command %d: %+v; want some Words and Parent below %v", text, i, c, i)
			}
			for _, w := range c.Words {
				if w.Plain() && len(facts.Findings) == 0 && strings.ContainsAny(w.Text, "\r\x00") {
					t.Fatalf("%q: the word %q passes", text, w.Text)
				}
			}
		}
	})
}
