package tools

import (
	"os/exec"
	"slices"
	"sync"

	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// child is a started command and what came from it. [sandbox.Process] is one.
type child interface {
	PID() int
	// Exited is closed when the command itself has ended, Done when everything that came from it has too, as far as that can be known.
	Exited() <-chan struct{}
	Done() <-chan struct{}
	// Wait gives how the command ended. After it nothing may be signalled but what outlived it.
	Wait() (sandbox.Exit, error)
	// Terminate asks all of it to end, Kill ends it. They do not wait.
	Terminate()
	Kill()
}

// profileOf is what a command may do in the box.
func (t *Jobs) profileOf(o order) sandbox.Profile {
	profile := t.opts.Profile
	if o.network {
		profile.Network = sandbox.NetAllowed
	}
	for _, f := range o.folders {
		f.Path = workspace.Unspell(f.Path)
		if f.Write {
			profile.Write = append(slices.Clone(profile.Write), f.Path)
		} else {
			profile.Read = append(slices.Clone(profile.Read), f.Path)
		}
	}
	return profile
}

// enforced says in one line what holds a command; empty without a box.
func (t *Jobs) enforced(o order) string {
	if t.opts.Box == nil {
		return ""
	}
	return Enforced(t.opts.Box.Report(), t.profileOf(o))
}

// launch starts a command in dir: in the box where there is one, else as a plain child of this process.
func (t *Jobs) launch(o order, s streams) (child, error) {
	command, dir, tty, stdin, stdout := o.command, o.dir, o.tty, s.childIn, s.childOut
	var console sandbox.Console
	if s.terminal != nil {
		console = s.terminal.console()
	}
	sh := shell()
	if t.opts.Box == nil {
		cmd := shellCommand(sh, command, tty)
		cmd.Dir, cmd.Env = dir, o.keyed(quiet(environ(dir), tty))
		if stdout != nil {
			cmd.Stdout, cmd.Stderr = stdout, stdout
		}
		if stdin != nil {
			cmd.Stdin = stdin
		}
		return startLone(cmd, console)
	}
	env := environ(dir)
	if t.opts.Profile.Mode != sandbox.Full {
		env = sandbox.Environ(dir, t.opts.Env)
	}
	p, err := t.opts.Box.Start(sandbox.Spec{
		Profile: t.profileOf(o), Argv: shellArgs(sh, command), Line: shellLine(sh, command), Dir: dir, Env: o.keyed(quiet(env, tty)),
		// One pipe for both keeps them in order.
		Stdin: stdin, Stdout: stdout, Stderr: stdout, PTY: tty, Console: console,
		// What a command leaves running is watched, not ended: tmux, a build's daemon, a server. It ends with Process or the node.
		Supervise: true,
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// lone is a child that nothing but its process group holds together.
type lone struct {
	cmd    *exec.Cmd
	exited chan struct{}
	reap   func()
}

func startLone(cmd *exec.Cmd, console sandbox.Console) (child, error) {
	if err := startCommand(cmd, console); err != nil {
		return nil, err
	}
	p := &lone{cmd: cmd, exited: make(chan struct{})}
	p.reap = sync.OnceFunc(func() { reap(cmd) })
	go func() {
		defer close(p.exited)
		awaitExit(cmd)
	}()
	return p, nil
}

func (p *lone) PID() int                { return p.cmd.Process.Pid }
func (p *lone) Exited() <-chan struct{} { return p.exited }
func (p *lone) Done() <-chan struct{}   { return p.exited }
func (p *lone) Terminate()              { terminate(p.cmd) }
func (p *lone) Kill()                   { kill(p.cmd) }

func (p *lone) Wait() (sandbox.Exit, error) {
	<-p.exited
	p.reap()
	return ended(p.cmd.ProcessState), nil
}
