package provision

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision/contract"
)

var (
	providerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	// endings of programs on Windows.
	endings = []string{".exe", ".cmd", ".bat"}
)

const (
	maxLine   = 256 << 10 // bytes of a line of a provider
	maxText   = 500       // characters of a text of a provider
	maxStderr = 4 << 10   // bytes of standard error that an error shows
)

// limits are the times in which a provider must carry out an action.
var limits = map[string]time.Duration{contract.Describe: 30 * time.Second, contract.Create: 15 * time.Minute, contract.Status: time.Minute, contract.Delete: 15 * time.Minute}

// Folder finds the programs of providers: each file in it that can be run is one, with its name.
type Folder string

// Names returns the names of the providers, sorted.
func (f Folder) Names() []string {
	entries, _ := os.ReadDir(string(f)) // without the folder there are none
	names := []string{}
	for _, e := range entries {
		if name := nameOf(e.Name()); name != "" && f.program(name) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nameOf returns the name of the provider in a file; empty if it cannot be one.
func nameOf(file string) string {
	if runtime.GOOS == "windows" {
		if end := filepath.Ext(file); slices.Contains(endings, strings.ToLower(end)) {
			file = strings.TrimSuffix(file, end)
		} else {
			return ""
		}
	}
	return providerName.FindString(file)
}

// program returns the path of a provider's program; empty if the folder has no such program.
func (f Folder) program(name string) string {
	if !providerName.MatchString(name) {
		return ""
	}
	path, err := exec.LookPath(filepath.Join(string(f), name))
	if err != nil {
		return ""
	}
	return path
}

// Run runs a provider's program, and calls each with every line before the last, which Run returns.
// Texts are clipped, and secrets in them are hidden. The provider's failure is a *protocol.Fault.
// alive, if it is not nil, is inherited by the program.
func (f Folder) Run(ctx context.Context, name string, r contract.Request, alive *os.File, each func(contract.Line)) (last contract.Line, err error) {
	path := f.program(name)
	if path == "" {
		return last, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("there is no provider named %.40q: put its program into %s", name, f))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limits[r.Action], fmt.Errorf("the provider took longer than %s to %s", limits[r.Action], r.Action))
	defer cancel()
	r.Version = contract.Version
	request, err := json.Marshal(r)
	if err != nil {
		return last, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir, cmd.Stdin, cmd.Env = string(f), bytes.NewReader(request), environment()
	var stderr tail
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	runInGroup(cmd, alive)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return last, err
	}
	if err := cmd.Start(); err != nil {
		return last, providerFault(name, r, err.Error())
	}
	started(cmd, alive)
	last, problem := readLines(bufio.NewScanner(out), hide(r.Settings), each)
	if problem != "" {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case problem != "":
	case last.Error != "":
		problem = last.Error
	case ctx.Err() != nil:
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			problem = cause.Error()
			break
		}
		return last, ctx.Err()
	case err != nil:
		problem = cmp.Or(strings.TrimSpace(string(stderr)), err.Error())
	case !last.Done:
		problem = cmp.Or(strings.TrimSpace(string(stderr)), "it ended without a line with done or error")
	default:
		return last, nil
	}
	return last, providerFault(name, r, problem)
}

func providerFault(name string, r contract.Request, problem string) error {
	return protocol.NewFault(protocol.FaultFailedPrecondition, fmt.Sprintf("the provider %s could not %s %s: %s", name, r.Action, r.NodeName, hide(r.Settings)(problem)))
}

// readLines reads the lines of a provider. It returns the last one, or what is wrong with one.
func readLines(s *bufio.Scanner, clean func(string) string, each func(contract.Line)) (last contract.Line, problem string) {
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var l contract.Line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return last, fmt.Sprintf("it wrote %q instead of a line of JSON", clean(s.Text()))
		}
		if last.Done || last.Error != "" {
			return last, "it wrote a line after its last one"
		}
		for _, text := range []*string{&l.Progress, &l.Reference, &l.Summary, &l.Cost, &l.Error} {
			*text = clean(*text)
		}
		for i := range l.Notes {
			l.Notes[i] = clean(l.Notes[i])
		}
		last = l
		if !l.Done && l.Error == "" {
			each(l)
		}
	}
	if err := s.Err(); err != nil {
		return last, "its output could not be read: " + err.Error()
	}
	return last, ""
}

// hide returns a function that clips a text, and replaces the values of settings in it.
func hide(settings map[string]string) func(string) string {
	var pairs []string
	for _, v := range settings {
		if len(v) >= 6 { // a shorter one, such as a zone, would be replaced in words
			pairs = append(pairs, v, "…")
		}
	}
	replace := strings.NewReplacer(pairs...)
	return func(text string) string { return format.Line(replace.Replace(text), maxText) }
}

// environment returns the environment for providers, without that of Fairlead, which may have its
// token.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "FAIRLEAD_") })
}

// tail retains the end of what is written.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	*t = (*t)[max(0, len(*t)-maxStderr):]
	return len(p), nil
}
