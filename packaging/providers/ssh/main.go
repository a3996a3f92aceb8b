// Command ssh is a provider for hosts that exist: it installs the node on one over SSH, and removes it
// again. docs/providers.md has its settings.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"fairlead/gateway/provision/contract"
)

func main() { contract.Main(handle) }

// taskID matches the IDs of tasks, which become names of folders.
var taskID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func handle(ctx context.Context, r contract.Request, report func(contract.Line)) (contract.Line, error) {
	host, err := hostOf(r)
	if err != nil {
		return contract.Line{}, err
	}
	if r.Action == contract.Describe {
		return contract.Line{Summary: "the host " + host, Cost: "at no extra cost"}, nil
	}
	if !taskID.MatchString(r.TaskID) {
		return contract.Line{}, fmt.Errorf("invalid task ID %.80q", r.TaskID)
	}
	s := session{host, strings.Fields(r.Settings["ssh"])}
	switch r.Action {
	case contract.Create:
		report(contract.Line{Progress: "Installing on " + host, Reference: host})
		_, err = s.run(ctx, r.TaskID, create+r.Install+"\n")
		return contract.Line{Reference: host, Summary: "the host " + host}, err
	case contract.Delete:
		_, err = s.run(ctx, r.TaskID, remove)
		return contract.Line{}, err
	case contract.Status:
		state, err := s.run(ctx, r.TaskID, `[ -d "$dir" ] && echo running || echo absent`)
		return contract.Line{State: state, Reference: host}, err
	}
	return contract.Line{}, fmt.Errorf("the action %.40q is not supported", r.Action)
}

// hostOf returns the host of a machine: that of its name in the setting hosts, which has NAME=HOST
// words, otherwise the name itself, as ~/.ssh/config may define it.
func hostOf(r contract.Request) (string, error) {
	host := r.NodeName
	for word := range strings.FieldsSeq(r.Settings["hosts"]) {
		if name, value, ok := strings.Cut(word, "="); ok && name == r.NodeName {
			host = value
		}
	}
	if host == "" || strings.HasPrefix(host, "-") {
		return "", fmt.Errorf("%.80q is not a host", host)
	}
	return host, nil
}

// The scripts for the host. Everything of a task is in one folder. The node's program ends with it.
const (
	prepare = `set -eu
dir="$HOME/.fairlead/$task"
unit="fairlead-node-$task"
`
	create = `mkdir -p "$dir"
export FAIRLEAD_BIN="$dir/bin" FAIRLEAD_HOME="$dir/home" FAIRLEAD_UNIT="$task"
`
	remove = `for unit in "/etc/systemd/system/$unit.service" "$HOME/.config/systemd/user/$unit.service"; do
	[ -e "$unit" ] || continue
	case "$unit" in /etc/*) user=--system ;; *) user=--user ;; esac
	systemctl $user disable --now "${unit##*/}" || true
	rm -f "$unit"
	systemctl $user daemon-reload || true
done
for p in /proc/[0-9]*; do
	case "$(readlink "$p/exe" || true)" in
		"$dir"/*) kill -9 "${p##*/}" || true ;;
	esac
done 2>/dev/null
rm -rf "$dir"
`
)

// session runs scripts on a host with the system's ssh.
type session struct {
	host    string
	options []string // for ssh
}

// run runs a script on the host, which reads it from standard input: it may contain secrets.
func (s session) run(ctx context.Context, task, script string) (string, error) {
	args := append([]string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=20"}, s.options...)
	cmd := exec.CommandContext(ctx, "ssh", append(args, "--", s.host, "sh -s")...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("task='%s'\n%s%s", task, prepare, script))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, lastLine(problem.String()))
	}
	return lastLine(out.String()), nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
