package shell

import (
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// trimOutput cuts the output of the oldest finished commands to their tails.
func (t *Jobs) trimOutput() {
	var finished []*job
	total := 0
	for _, j := range t.jobs {
		if !j.isRunning() && !j.result.isOutputOpen {
			finished = append(finished, j)
			total += j.out.bufferSize()
		}
	}
	if total <= maxRetained {
		return
	}
	slices.SortFunc(finished, func(a, b *job) int { return a.result.at.Compare(b.result.at) })
	for _, j := range finished {
		if total <= maxRetained {
			return
		}
		before := j.out.bufferSize()
		j.out.shrink(tailBytes)
		total -= before - j.out.bufferSize()
	}
}

// moveToBackground makes a command a background one: it stays in the table, and its end is
// reported, also if it ended in between.
func (t *Jobs) moveToBackground(j *job) {
	t.mu.Lock()
	j.background.Store(true)
	t.events(j.event(protocol.ExecStarted))
	over := !j.isRunning()
	if over {
		t.jobs[j.id] = j
	}
	t.mu.Unlock()
	if over {
		t.reportEnd(j.endEvent())
	}
}

func (t *Jobs) prune() {
	for id, j := range t.jobs {
		if !j.isRunning() && time.Since(j.result.at) > retention {
			delete(t.jobs, id)
		}
	}
}

func (t *Jobs) get(id string) *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	return t.jobs[id]
}

// ReportPrograms reports the running commands of programs, all or the one with an ID: a gateway may
// have been started again since they began. The end of a command is not reported before.
func (t *Jobs) ReportPrograms(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.jobs {
		if j.caller != nil && j.isVisibleTo(nil) && j.isRunning() && (id == "" || j.id == id) {
			t.events(j.event(protocol.ExecStarted))
		}
	}
}

// list returns the background commands, and the running commands of programs, newest first, that a
// caller may see: a program does not see those of other programs.
func (t *Jobs) list(caller *protocol.ToolCaller) []*job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	var list []*job
	for _, j := range t.jobs {
		if j.isVisibleTo(caller) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return b.started.Compare(a.started) })
	return list
}
