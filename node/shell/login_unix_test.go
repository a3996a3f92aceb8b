//go:build unix

package shell

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// profileOf names the file of a shell's login profile in the home folder.
var profileOf = map[string]string{
	"bash": ".bash_profile", "zsh": ".zprofile", "dash": ".profile", "sh": ".profile", "ksh": ".profile", "mksh": ".profile", "fish": ".config/fish/config.fish",
}

// hostileProfiles are profiles after which a command must run as if there were none. Broken lists
// the shells that do not start commands then, or is eitherWay where that depends on the version.
var hostileProfiles = []struct {
	name, text string
	broken     string
	hangs      bool // its marker never arrives
	fish       bool // fish understands it
}{
	{name: "changes the folder", text: "cd /", fish: true},
	{name: "replaces the shell", text: "exec sh", broken: bourneShells + " fish", fish: true},
	{name: "ends", text: "exit 0", broken: bourneShells, fish: true},
	{name: "reads the input", text: "read answer", fish: true},
	{name: "prints", text: "echo noise; echo noise >&2", fish: true},
	{name: "prints to other descriptors", text: "echo noise >&7; echo noise >&8"},
	{name: "stops at errors", text: "set -eu"},
	{name: "has traps", text: "trap 'echo noise' EXIT"},
	{name: "has aliases", text: "alias cd='cd / #' printf=: read=false unset=: set=: true=false"},
	{name: "has functions", text: "cd() { echo noise; }; printf() { :; }; read() { return 1; }; true() { return 1; }"},
	{name: "has a search path of folders", text: "CDPATH=/usr; export CDPATH"},
	{name: "leaves a job running", text: "sleep 30 & echo $! >job"},
	{name: "changes the terminal", text: "stty -echo raw 2>/dev/null || :"},
	{name: "splits words differently", text: "IFS=os; export IFS"},
	{name: "sets the folder", text: "FAIRLEAD_DIR=/ FAIRLEAD_COMMAND='echo noise'; export FAIRLEAD_DIR FAIRLEAD_COMMAND; readonly FAIRLEAD_DIR"},
	{name: "has functions named like builtins", text: "command() { echo noise; }; test() { return 1; }; echo() { printf noise; }; pwd() { printf /; }; umask() { :; }"},
	{name: "prompts", text: "PROMPT_COMMAND='echo noise'; PS1='$(echo noise)'; PS4='$(echo noise)'; export PROMPT_COMMAND PS1 PS4; printf noise"},
	{name: "waits", text: "sleep 0.2; sleep 0.1 & wait"},
	{name: "reads everything", text: "cat >/dev/null; cat /dev/stdin >/dev/null"},
	{name: "sets limits", text: "umask 077; ulimit -c 0; ulimit -n 32"},
	{name: "has constants", text: "readonly PATH; readonly OLDPWD CDPATH answer; readonly IFS"},
	{name: "returns", text: "return 7"},
	{name: "stops at a failure", text: "set -e; false", broken: eitherWay},
	{name: "stops at a missing variable", text: "set -u; echo $MISSING_VARIABLE", broken: eitherWay},
	{name: "runs no commands", text: "set -n", broken: eitherWay},
	{name: "prints each command", text: "set -x; set -v; export SHELLOPTS 2>/dev/null || :"},
	{name: "names start files", text: "echo 'cd /; echo noise' >\"$HOME/start\"; BASH_ENV=$HOME/start ENV=$HOME/start; export BASH_ENV ENV"},
	{name: "kills itself", text: "kill -9 $$", broken: bourneShells},
	{name: "loops", text: "while :; do sleep 1; done", broken: bourneShells + " fish", hangs: true},
	{name: "starts itself again", text: "sleep 0.1; exec \"$SHELL\" -l", broken: bourneShells, hangs: true},
	{name: "stops itself", text: "kill -STOP $$", broken: bourneShells, hangs: true},
	{name: "is invalid", text: "if then (((", broken: "dash sh"},
	{name: "redirects the output", text: "exec >noise 2>&1; exec 8>noise", broken: bourneShells, hangs: true},
	{name: "closes the control", text: "exec 6<&-", broken: bourneShells},
}

const (
	bourneShells = "bash zsh dash sh ksh mksh"
	eitherWay    = "some"
)

func isBroken(shells, shell string) bool { return slices.Contains(strings.Fields(shells), shell) }

// withProfile makes a shell the login shell, with a profile in a new home folder.
func withProfile(t *testing.T, shell, text string) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(shell + " is not installed")
	}
	home := tooltest.Folder(t)
	file := filepath.Join(home, profileOf[shell])
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("export FROM_PROFILE=yes\n"+text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", path)
	os.Unsetenv("ZDOTDIR")
}

func TestProfilesDecideOnlyVariables(t *testing.T) {
	for shell := range profileOf {
		for _, p := range hostileProfiles {
			if shell == "fish" && !p.fish || p.hangs && shell != "bash" && shell != "dash" {
				continue // a profile that hangs takes long, and shells do not differ in that
			}
			t.Run(shell+" "+p.name, func(t *testing.T) {
				withProfile(t, shell, p.text)
				b := newBench(t)
				if p.hangs {
					b.jobs.launcher.profileLimit = time.Second / 5
				}
				if err := os.Mkdir(filepath.Join(b.WS.Dir(), "sub"), 0o700); err != nil {
					t.Fatal(err)
				}
				modes := []string{"foreground"}
				if shell == "bash" {
					modes = []string{"foreground", "yield", "pty", "background", "direct"}
				}
				checkCommand(t, b, modes, p.broken, shell)
			})
		}
	}
}

// checkCommand runs a command in modes and checks that it ran once in each, in its folder, with its
// newShortSessions output and exit code, and that only the first one says that the profile is left out.
func checkCommand(t *testing.T, b *bench, modes []string, broken, shell string) {
	t.Helper()
	dir := filepath.Join(b.WS.Dir(), "sub")
	isLeftOut := isBroken(broken, shell)
	for i, mode := range modes {
		out := runIn(t, b, mode, tooltest.Args{"workdir": "sub", "command": `pwd; echo ran >>count; cd / && pwd; echo "$FROM_PROFILE"; sh -c 'exit 3'`})
		got := strings.ReplaceAll(out.Output, "\r", "")
		if broken == eitherWay && i == 0 {
			isLeftOut = got == dir+"\n/\n\n"
		}
		want := dir + "\n/\nyes\n"
		if isLeftOut {
			want = dir + "\n/\n\n"
		}
		if got != want || out.ExitCode == nil || *out.ExitCode != 3 {
			t.Errorf("%s: got %q, %+v; want %q and exit code 3", mode, got, out, want)
		}
		if noted := strings.Contains(out.Note, "login profile"); noted != (isLeftOut && i == 0) {
			t.Errorf("%s: the note is %q, want the login profile in the first alone", mode, out.Note)
		}
	}
	if count, err := os.ReadFile(filepath.Join(dir, "count")); err != nil || string(count) != strings.Repeat("ran\n", len(modes)) {
		t.Errorf("runs of the profile: got %q, error %v; want %d", count, err, len(modes))
	}
}

// runIn runs a command in a mode and returns its result after its end.
func runIn(t *testing.T, b *bench, mode string, args tooltest.Args) bashOut {
	t.Helper()
	args[map[string]string{"yield": "yieldMs", "pty": "pty", "background": "background"}[mode]] = map[string]any{"yield": 60_000, "pty": true, "background": true}[mode]
	delete(args, "")
	out, err := tooltest.CallContext[bashOut](t.Context(), access.Call{Direct: mode == "direct"}, b.Bench, "Bash", args)
	if err != nil {
		t.Fatal(err)
	}
	if mode == "background" {
		j := b.jobs.get(out.SessionID)
		<-j.done
		out = b.jobs.report(j)
	}
	return out
}

// usualProfiles are what people and installers put into profiles. All of them set TOOL=ready.
var usualProfiles = []struct{ name, shells, text string }{
	{"a distribution's", "bash dash sh ksh mksh", `if [ -n "$BASH_VERSION" ] && [ -f "$HOME/.bashrc" ]; then . "$HOME/.bashrc"; fi
[ -d "$HOME/bin" ] && PATH="$HOME/bin:$PATH"
mesg n 2>/dev/null || true
TOOL=ready; export TOOL`},
	{"a version manager's", "bash zsh dash sh ksh mksh", `export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && . "$NVM_DIR/nvm.sh"
export TOOL=ready`},
	{"an environment manager's", "bash zsh", `__setup="$(echo 'export TOOL=ready' 2>/dev/null)"
if [ $? -eq 0 ]; then eval "$__setup"; else export PATH="/opt/none/bin:$PATH"; fi
unset __setup`},
	{"a theme's", "zsh", `export TOOL=ready ZSH="$HOME/.theme"
setopt prompt_subst auto_cd extended_glob; autoload -Uz compinit add-zsh-hook && compinit -u
precmd() { print -Pn '\e]0;%~\a' }; chpwd() { ls }; add-zsh-hook precmd precmd
PROMPT='%n@%m %~ $(git branch --show-current 2>/dev/null) %# '; ZLE_RPROMPT_INDENT=0; bindkey -e`},
	{"a terminal multiplexer's", "bash zsh ksh mksh", `export TOOL=ready
case $- in *i*) exec tmux new -A -s main ;; esac
[ -t 0 ] && stty -ixon
[ -t 1 ] && exec tmux`},
	{"an agent's", "bash zsh dash sh ksh mksh", `eval "$(echo 'SSH_AUTH_SOCK=/none; export SSH_AUTH_SOCK; echo Agent pid 1;')"
trap 'true' EXIT HUP; umask 027; ulimit -c 0; export TOOL=ready`},
	{"one of interactive shells only", "bash", `export TOOL=ready; [[ $- == *i* ]] || return; exec fish`},
	{"a greeting's", "fish", `set -gx TOOL ready; fish_add_path ~/bin; function fish_greeting; echo hello; end
if status is-interactive; exec tmux; end; function cd; echo noise; end`},
}

func TestUsualProfilesAreRead(t *testing.T) {
	for _, p := range usualProfiles {
		for shell := range strings.FieldsSeq(p.shells) {
			t.Run(shell+" "+p.name, func(t *testing.T) {
				withProfile(t, shell, p.text)
				b := newBench(t)
				for _, pty := range []bool{false, true} {
					out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "pwd; echo $FROM_PROFILE $TOOL", "pty": pty})
					if got, want := strings.ReplaceAll(out.Output, "\r", ""), b.WS.Dir()+"\nyes ready\n"; got != want || out.Note != "" {
						t.Errorf("terminal %v: got %q with the note %q, want %q", pty, got, out.Note, want)
					}
				}
			})
		}
	}
}

func TestProfilesDecideOnlyVariablesInABox(t *testing.T) {
	for _, missing := range [][]string{nil, {"landlock"}} {
		for _, p := range hostileProfiles[:3] {
			t.Run(p.name, func(t *testing.T) {
				withProfile(t, "bash", p.text)
				b := newBenchWith(t, sandbox.Options{Missing: missing}, sandbox.Profile{})
				if err := os.Mkdir(filepath.Join(b.WS.Dir(), "sub"), 0o700); err != nil {
					t.Fatal(err)
				}
				checkCommand(t, b, []string{"foreground", "yield", "pty"}, p.broken, "bash")
			})
		}
	}
}

func TestProgramsCommandsRunInTheirFolder(t *testing.T) {
	for _, p := range hostileProfiles {
		t.Run(p.name, func(t *testing.T) {
			withProfile(t, "sh", p.text)
			b := newBench(t)
			if p.hangs {
				b.jobs.launcher.profileLimit = time.Second / 5
			}
			out := tooltest.Must[commandOut](b.Bench, "command", tooltest.Args{"command": "pwd; exit 3", "workdir": b.WS.Dir(), "idle_timeout": 60})
			if out.Output != b.WS.Dir()+"\n" || out.ExitCode == nil || *out.ExitCode != 3 {
				t.Errorf("got %+v, want the folder and exit code 3", out)
			}
			if hasNote := strings.Contains(out.Note, "login profile"); hasNote != isBroken(p.broken, "sh") && p.broken != eitherWay {
				t.Errorf("the note is %q, want the login profile where it is broken", out.Note)
			}
		})
	}
}

func TestABrokenProfileIsReportedOnce(t *testing.T) {
	withProfile(t, "bash", "exec </dev/tty || exit 1") // works in a terminal
	b := newBench(t)
	for i, mode := range []string{"foreground", "pty", "foreground"} {
		out := runIn(t, b, mode, tooltest.Args{"command": "true"})
		if noted := strings.Contains(out.Note, "login profile"); noted != (i == 0) {
			t.Errorf("command %d: the note is %q, want the login profile in the first alone", i, out.Note)
		}
		if w := b.jobs.Warnings(); len(w) != (i+1)%2 {
			t.Errorf("command %d: warnings %q, want %d", i, w, (i+1)%2)
		}
	}
}

func TestHangingProfileIsLeftOut(t *testing.T) {
	withProfile(t, "bash", "echo noise; sleep 60")
	var log strings.Builder
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws, JobOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	b.jobs.launcher.profileLimit = 200 * time.Millisecond
	for i, want := range []string{"it does not end", ""} {
		out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "echo hi"})
		if out.Output != "hi\n" || !strings.Contains(out.Note, want) || want == "" && out.Note != "" {
			t.Errorf("command %d: got %+v, want hi and a note with %q", i, out, want)
		}
	}
	if n := strings.Count(log.String(), "Login profile does not start commands"); n != 1 {
		t.Errorf("the log has %d warnings, want 1:\n%s", n, &log)
	}
	if w := b.jobs.Warnings(); len(w) != 1 || !strings.Contains(w[0], "The login profile of bash") {
		t.Errorf(`warnings: got %q; want length 1 and "The login profile of bash" in w[0]`, w)
	}
	withProfile(t, "bash", "")
	b.jobs.launcher.profileLimit = profileLimit
	if out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "echo $FROM_PROFILE"}); out.Output != "yes\n" || len(b.jobs.Warnings()) != 0 {
		t.Errorf("with a correct profile: got %+v and warnings %q, want yes and no warnings", out, b.jobs.Warnings())
	}
}

func TestInputReachesTheCommandAfterItsProfile(t *testing.T) {
	withProfile(t, "bash", "read a; read b </dev/stdin; cat")
	b := newBench(t)
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "read line; echo got $line", "background": true})
	tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": out.SessionID, "data": "text"})
	<-b.jobs.get(out.SessionID).done
	if got := b.jobs.get(out.SessionID).out.tail(); got != "got text\n" {
		t.Errorf("got %q, want the submitted line", got)
	}
}
