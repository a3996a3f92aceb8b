// Command docker is a provider of containers on this computer, through the command line of Docker or
// Podman. docs/providers.md has its settings.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"fairlead/gateway/provision/contract"
)

func main() { contract.Main(handle) }

// label marks the container of a task.
const label = "fairlead.task"

func handle(ctx context.Context, r contract.Request, report func(contract.Line)) (contract.Line, error) {
	d, err := find(r.Settings)
	if err != nil {
		return contract.Line{}, err
	}
	size := contract.Line{Summary: contract.Size(r.CPU, r.Memory), Cost: "at no extra cost"}
	if r.Action == contract.Describe {
		return size, nil
	}
	existing, err := d.run(ctx, "", "ps", "-aq", "--no-trunc", "--filter", "label="+label+"="+r.TaskID)
	if err != nil {
		return contract.Line{}, err
	}
	ids := strings.Fields(existing)
	switch r.Action {
	case contract.Create:
		if len(ids) > 0 {
			size.Reference = ids[0]
			return size, nil
		}
		report(contract.Line{Progress: "Creating a container of " + d.image})
		size.Reference, err = d.create(ctx, r, report)
		return size, err
	case contract.Delete:
		if len(ids) > 0 {
			_, err = d.run(ctx, "", append([]string{"rm", "-f", "-v"}, ids...)...)
		}
		return contract.Line{}, err
	case contract.Status:
		if len(ids) == 0 {
			return contract.Line{State: contract.Absent}, nil
		}
		state, err := d.run(ctx, "", "inspect", "--format", "{{.State.Status}}", ids[0])
		return contract.Line{State: state, Reference: ids[0]}, err
	}
	return contract.Line{}, fmt.Errorf("the action %.40q is not supported", r.Action)
}

// docker is a program that has Docker's command line.
type docker struct {
	program string
	image   string
	options []string // for create
}

func find(settings map[string]string) (d docker, err error) {
	d = docker{image: cmp.Or(settings["image"], "debian:stable"), options: strings.Fields(settings["options"])}
	if d.program = settings["program"]; d.program != "" {
		return d, nil
	}
	for _, name := range []string{"docker", "podman"} {
		if path, err := exec.LookPath(name); err == nil {
			d.program = path
			return d, nil
		}
	}
	return d, errors.New("neither docker nor podman is installed here")
}

// create creates and starts a container, and installs the node in it. The command for that reaches the
// container on standard input: everybody here can read arguments.
func (d docker) create(ctx context.Context, r contract.Request, report func(contract.Line)) (id string, err error) {
	args := []string{
		"run", "-d", "--init", "--label", label + "=" + r.TaskID, "--hostname", r.NodeName,
		"--cpus", strconv.FormatFloat(float64(r.CPU)/1024, 'f', -1, 64), "--memory", strconv.Itoa(r.Memory) + "m", "--restart", "unless-stopped",
	}
	args = append(append(args, d.options...), d.image, "sh", "-c", "while :; do sleep 3600; done")
	out, err := d.run(ctx, "", args...)
	if err != nil {
		return "", err
	}
	id = out[strings.LastIndex(out, "\n")+1:] // an image that is pulled prints lines, too
	report(contract.Line{Progress: "Installing the node", Reference: id})
	_, err = d.run(ctx, tools+r.Install+"\n", "exec", "-i", id, "sh", "-s")
	return id, err
}

// tools installs curl in images that lack it.
const tools = `command -v curl >/dev/null || { apt-get update -q && apt-get install -qy --no-install-recommends curl || apk add -q curl; } >/dev/null 2>&1 </dev/null
`

// run runs the program and returns what it prints.
func (d docker) run(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.program, args...)
	cmd.Env = os.Environ()
	cmd.Stdin = strings.NewReader(input)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(problem.String())
		return "", fmt.Errorf("%s %s: %s", d.program, args[0], cmp.Or(text[strings.LastIndex(text, "\n")+1:], err.Error()))
	}
	return strings.TrimSpace(out.String()), nil
}
