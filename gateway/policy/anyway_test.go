package policy

import (
	"strings"
	"testing"
)

// launchesAnything are ways to run a command by means of another one.
var launchesAnything = []string{
	"%s", "env %s", "env -C / %s", "nice %s", "timeout 5 %s", "stdbuf -o0 %s", "setsid %s", "time %s", "command %s", "builtin %s", "exec %s", "eval '%s'", "bash -c '%s'",
	"bash -lc '%s'", "sh -c '%s'", "zsh -c '%s'", "echo '%s' | sh", "bash <<< '%s'", "bash <<'X'\n%s\nX", "bash /dev/stdin <<< '%s'", "xargs %s", "find . -exec %s ;",
	"flock /l %s", "unshare -r %s", "setarch -R %s", "systemd-run %s", "( %s )", "{ %s; }", "! %s", "if %s; then :; fi", "for i in 1; do %s; done", "f() { %s; }; f",
	"echo $(%s)", "cat <(%s)", "X=$(%s)", "true && %s", "true | %s", "%s | cat", "%s &", "trap '%s' EXIT", "alias x='%s'", "git -c alias.x='!%s' x", "git rebase -x '%s' HEAD~1",
	"git bisect run %s", "git submodule foreach '%s'", "hyperfine '%s'", "nodemon --exec '%s'", "watch '%s'", "npx -c '%s'", "pnpm exec %s", "uv run %s", "busybox %s",
	"cmake -E env %s", "parallel '%s' ::: a", "sudo %s", "vim -c '!%s'", "make SHELL='%s'", "tar xf a --to-command='%s'", "ssh localhost '%s'", "coproc %s", "A=1 %s",
}

// TestNoWayToRunACommandHidesAFileItWrites combines every way to run a command with commands that
// write a denied file.
func TestNoWayToRunACommandHidesAFileItWrites(t *testing.T) {
	t.Parallel()
	trusted := readPolicy(t, "paths")
	trusted.fallback = Allow
	sets := map[string]*Set{"open": readPolicy(t, "writes"), "trusted": trusted}
	for name, set := range sets {
		t.Run(name, func(t *testing.T) {
			for _, writes := range []string{"tee .env", "cp x .env", "rm .env", "touch sub/.env", "sed -i s/a/b/ .env", "dd if=x of=.env", "install x .env", "mv x .env"} {
				for _, w := range launchesAnything {
					text := strings.ReplaceAll(w, "%s", writes)
					if got := set.Decide(corpusCall("bash", text)); got.Verdict == Allow {
						t.Errorf("%s: %q is allowed", name, text)
					}
				}
			}
		})
	}
}
