package shell

import (
	"context"
	_ "embed"
	"math"
	"os"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Time limits of a command, as in GSV. The length of a command is limited by maxCommand, which is
// the system's limit for one argument of a program, because the shell gets the command as one
// argument. The length of workdir is limited by the system's maximum path length.
const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 24 * time.Hour
	minYield       = 10 * time.Millisecond
	maxYield       = 120 * time.Second
	progressEvery  = 100 * time.Millisecond
)

type bashIn struct {
	Command    string   `json:"command" jsonschema:"the command line, as you would type it in a shell"`
	Workdir    string   `json:"workdir,omitempty" jsonschema:"folder to run it in; relative to the workspace; default the workspace"`
	Timeout    *float64 `json:"timeout,omitempty" jsonschema:"milliseconds after which the command and everything it started are ended; default 300000, and no limit for background commands; 0 means no limit"`
	Background bool     `json:"background,omitempty" jsonschema:"start it and return at once with a sessionId for the Process tool"`
	YieldMs    *float64 `json:"yieldMs,omitempty" jsonschema:"wait this long (10 to 120000 ms), then leave the command running in the background and return a sessionId"`
	Pty        bool     `json:"pty,omitempty" jsonschema:"run it in a terminal (120 by 40), for programs that need one; type with Process, which also resizes it"`
	Network    bool     `json:"network,omitempty" jsonschema:"true if the command needs the network; the person is asked for approval if this machine allows that"`
	Changes    []string `json:"changes,omitempty" jsonschema:"protected files or folders that the command has to change, such as .envrc or .git/config; the person is asked for approval"`
}

// bashOut is the output of Bash. Its status is completed, failed or running.
type bashOut struct {
	Status     string `json:"status" jsonschema:"completed (exit code 0), failed, or running"`
	SessionID  string `json:"sessionId"`
	PID        int    `json:"pid,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	Cancelled  bool   `json:"cancelled,omitempty"`
	StartedAt  int64  `json:"startedAt"`
	EndedAt    int64  `json:"endedAt,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Output     string `json:"output,omitempty"`
	Tail       string `json:"tail"`
	Truncated  bool   `json:"truncated,omitempty"`
	Workdir    string `json:"workdir"`
	// Enforced says in one line how the command was contained (extension). It is empty where
	// commands run as plain children.
	Enforced string `json:"enforced,omitempty"`
	// Note has further remarks on the command's start and end (extension).
	Note string `json:"note,omitempty"`
	// PutBack are the protected files that the command changed unasked and that have been put back, or
	// moved to the trash (extension).
	PutBack []protocol.ProtectedChange `json:"putBack,omitempty"`
	// OutputStillOpen reports that a process could not be ended and still has the output open; its
	// later output is lost (extension).
	OutputStillOpen bool `json:"outputStillOpen,omitempty"`
}

// MarshalJSON writes every field that belongs to the status, including empty ones, as GSV does.
func (o bashOut) MarshalJSON() ([]byte, error) {
	if o.Status == "running" {
		return protocol.Marshal(runningOut(o))
	}
	var signal *string
	if o.Signal != "" {
		signal = &o.Signal
	}
	return protocol.Marshal(endedOut{runningOut(o), o.ExitCode, signal, o.TimedOut, o.EndedAt, o.DurationMs, o.Output, o.Truncated})
}

// runningOut and endedOut are the forms of bashOut on the wire.
type (
	runningOut bashOut
	endedOut   struct {
		runningOut
		ExitCode   *int    `json:"exitCode"`
		Signal     *string `json:"signal"`
		TimedOut   bool    `json:"timedOut"`
		EndedAt    int64   `json:"endedAt"`
		DurationMs int64   `json:"durationMs"`
		Output     string  `json:"output"`
		Truncated  bool    `json:"truncated"`
	}
)

// Tools makes Bash and Process.
func Tools(ws *workspace.Root, jobs *Jobs) []toolkit.Tool[access.Call] {
	return []toolkit.Tool[access.Call]{bashTool(ws, jobs), processTool(jobs)}
}

//go:embed bash.md
var bashDoc string

func bashTool(ws *workspace.Root, jobs *Jobs) toolkit.Tool[access.Call] {
	t := toolkit.Define("Bash", bashDoc, toolkit.Traits{Effect: protocol.EffectExec, AcceptsKey: true, Caps: []string{protocol.CapExec}},
		func(ctx context.Context, call access.Call, in bashIn) (bashOut, error) {
			return runBash(ctx, ws, jobs, call, in)
		})
	t = toolkit.WithResults(t, runningOut{}, endedOut{})
	return toolkit.WithPreview(t, func(ctx context.Context, _ access.Call, in bashIn) (protocol.CallPreview, error) {
		return previewBash(ctx, ws, jobs, in, Path()), nil
	})
}

type bashPlan struct {
	dir     string
	timeout time.Duration
	yield   time.Duration // 0: wait for the end
}

func planBash(ws *workspace.Root, in bashIn) (p bashPlan, err error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return p, toolkit.Failf("command must not be empty")
	case strings.ContainsRune(in.Command, 0):
		return p, toolkit.Failf("command contains a zero byte")
	case len(in.Command) > maxCommand:
		return p, toolkit.Failf("command is too long (%d bytes, at most %d). Write it to a script file and run that.", len(in.Command), maxCommand)
	}
	// A command may use any folder that the user may use, so its folder is not restricted.
	dir, err := ws.Resolve(in.Workdir)
	if err != nil && dir.Abs == "" {
		return p, err
	}
	p.dir = dir.Abs
	info, err := os.Stat(ws.CommandView().Locate(p.dir))
	if err != nil {
		return p, toolkit.Failf("Failed to execute: folder '%s': %w", dir, format.WithoutPath(err))
	}
	if !info.IsDir() {
		return p, toolkit.Failf("Failed to execute: '%s' is not a folder", dir)
	}
	otherwise := defaultTimeout
	if in.Background || in.YieldMs != nil {
		otherwise = 0
	}
	if p.timeout, err = milliseconds("timeout", in.Timeout, otherwise); err != nil {
		return p, err
	}
	p.timeout = min(p.timeout, maxTimeout)
	if in.YieldMs != nil && !in.Background {
		if p.yield, err = milliseconds("yieldMs", in.YieldMs, 0); err != nil {
			return p, err
		}
		p.yield = min(max(p.yield, minYield), maxYield)
	}
	return p, nil
}

// milliseconds reads an optional duration in milliseconds. Fractions are rounded up to a whole one.
func milliseconds(name string, v *float64, otherwise time.Duration) (time.Duration, error) {
	if v == nil {
		return otherwise, nil
	}
	if *v < 0 {
		return 0, &toolkit.InputError{Err: toolkit.Failf("%s must be 0 or more milliseconds, not %v", name, *v)}
	}
	return time.Duration(math.Ceil(min(*v, float64(maxTimeout.Milliseconds())))) * time.Millisecond, nil
}

func runBash(ctx context.Context, ws *workspace.Root, jobs *Jobs, call access.Call, in bashIn) (bashOut, error) {
	plan, err := planBash(ws, in)
	if err != nil {
		return bashOut{}, err
	}
	if err := ctx.Err(); err != nil {
		return bashOut{}, toolkit.Failf("cancelled before it started")
	}
	if err := jobs.confinement.checkNetwork(in, Path(), call.Network); err != nil {
		return bashOut{}, err
	}
	o := newRequest(call, "Bash")
	o.command, o.dir, o.timeout, o.tty, o.network = in.Command, plan.dir, plan.timeout, in.Pty, in.Network
	j, err := jobs.start(ctx, o, in.Background || plan.yield > 0)
	if err != nil {
		return bashOut{}, err
	}
	if in.Background {
		jobs.moveToBackground(j)
		return jobs.report(j), nil
	}
	if wait(ctx, j, plan.yield, call.Progress) {
		return jobs.report(j), nil
	}
	found := j.look.Look()
	jobs.moveToBackground(j)
	out := jobs.report(j)
	out.PutBack = append(found.PutBack, out.PutBack...)
	out.Note = strings.TrimSpace(out.Note + " " + found.Note())
	return out, nil
}

// wait waits for the end of j and reports its output meanwhile. If ctx ends, j is ended. With a
// yield, wait stops waiting after that time and returns false.
func wait(ctx context.Context, j *job, yield time.Duration, progress func(tail string, bytes int64)) bool {
	enough := after(yield)
	var tick <-chan time.Time
	if progress != nil {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	cancelled := ctx.Done()
	var reported int64
	for {
		select {
		case <-j.done:
			return true
		case <-cancelled:
			j.requestStop(byCancel)
			cancelled = nil
		case <-enough:
			return false
		case <-tick:
			if n := j.out.size(); n != reported {
				reported = n
				progress(j.out.tail(), n)
			}
		}
	}
}

func (t *Jobs) report(j *job) bashOut {
	o := bashOut{SessionID: j.id, StartedAt: j.started.UnixMilli(), Workdir: workspace.Spell(j.dir), Enforced: j.enforcement, Note: j.remarks()}
	if j.isRunning() {
		o.Status, o.PID, o.Tail = "running", j.pid, j.out.tail()
		return o
	}
	o.Status, o.PutBack = "failed", j.result.found.PutBack
	if j.result.hasSucceeded() {
		o.Status = "completed"
	}
	o.ExitCode, o.Signal, o.OutputStillOpen = j.result.code, j.result.signal, j.result.isOutputOpen
	o.TimedOut, o.Cancelled = j.result.reason == byTimeout, j.result.reason == byCancel
	o.EndedAt, o.DurationMs = j.endedAt()
	v := j.out.snapshot()
	o.Output, o.Truncated, o.Tail = v.text, v.truncated, j.out.tail()
	return o
}
