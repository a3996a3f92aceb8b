package provision

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/provision/contract"
)

const (
	// connectLimit is the time in which a machine must connect once it exists.
	connectLimit = 10 * time.Minute
	// maxPause is the longest time until a failed deletion is tried again.
	maxPause = 5 * time.Minute
)

// start works on a task, unless something does already or the gateway stops.
func (m *Manager) start(id protocol.TaskID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tasks[id]; t != nil {
		m.startLocked(t)
	}
}

func (m *Manager) startLocked(t *task) {
	select {
	case <-t.ended:
	default:
		return
	}
	ctx, stop := context.WithCancel(m.workers.Context())
	ended := make(chan struct{})
	t.stop, t.ended = stop, ended
	id := t.ID
	if !m.workers.Start(func() {
		defer close(ended)
		defer stop()
		m.work(ctx, id)
	}) {
		stop()
		close(ended)
	}
}

// work carries out the steps of a task until it needs none. A step that fails is repeated.
func (m *Manager) work(ctx context.Context, id protocol.TaskID) {
	pause := m.o.Every
	for {
		err := m.step(ctx, id)
		switch {
		case errors.Is(err, errNoStep), ctx.Err() != nil:
			return
		case err == nil:
			pause = m.o.Every
			continue
		}
		slog.Warn("A step of a rented machine failed", "task", id, "err", err)
		m.report(id, "Trying again: "+err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// errNoStep is the result of a step when nothing is left to do for a task.
var errNoStep = errors.New("nothing to do")

// step carries out the next step of a task. Its error means that the step must be repeated.
func (m *Manager) step(ctx context.Context, id protocol.TaskID) error {
	t, err := m.Get(id)
	if err != nil {
		return errNoStep
	}
	switch t.State {
	case protocol.TaskConnecting:
		return m.connect(ctx, t)
	case protocol.TaskCreating, protocol.TaskDeleting:
	default:
		return errNoStep
	}
	alive, err := holdTask(m.o.Locks, string(id))
	if err != nil {
		return err
	}
	if alive != nil {
		defer os.Remove(alive.Name())
		defer alive.Close()
	}
	if t.State == protocol.TaskCreating {
		return m.create(ctx, t, alive)
	}
	return m.delete(ctx, t, alive)
}

// request returns what a provider needs for an action.
func (m *Manager) request(t protocol.ProvisionTask, action string) (contract.Request, error) {
	settings, err := Settings(m.o.Secrets, t.Provider)
	return contract.Request{
		Action: action, TaskID: string(t.ID), NodeName: string(t.Node), CPU: t.CPU, Memory: t.Memory, Reference: t.Reference, Settings: settings,
	}, err
}

// create has the provider create the machine. If that fails, the machine is deleted.
func (m *Manager) create(ctx context.Context, t protocol.ProvisionTask, alive *os.File) error {
	r, err := m.request(t, contract.Create)
	if err != nil {
		return m.fail(t.ID, err.Error())
	}
	invite, err := m.o.Devices.Invite(ctx, t.By, protocol.DeviceInviteParams{Role: protocol.RoleNode, Name: string(t.Node), Minutes: 30, Unattended: true})
	switch {
	case err != nil:
		return m.fail(t.ID, err.Error())
	case invite.Install == "":
		m.o.Devices.Uninvite(ctx, invite.ID)
		return m.fail(t.ID, "this gateway ships no node programs: put fairlead-node-OS-ARCH into the folder nodes beside it")
	}
	r.Install = invite.Install
	var unstored error
	last, err := m.o.Folder.Run(ctx, t.Provider, r, alive, func(l contract.Line) {
		if l.Reference != "" && l.Reference != t.Reference {
			t.Reference = l.Reference
			unstored = errors.Join(unstored, m.set(t.ID, func(t *protocol.ProvisionTask) { t.Reference = l.Reference }))
		}
		m.report(t.ID, l.Progress)
	})
	if err = errors.Join(err, unstored); err != nil {
		m.o.Devices.Uninvite(context.WithoutCancel(ctx), invite.ID) // it may have been used
		if ctx.Err() != nil {
			return err // the machine is given back, or the next start deletes it
		}
		return m.fail(t.ID, err.Error())
	}
	m.mu.Lock()
	m.tasks[t.ID].isInvited = true
	m.mu.Unlock()
	return m.set(t.ID, func(t *protocol.ProvisionTask) {
		t.State, t.ConnectedAt, t.Notes, t.Progress = protocol.TaskConnecting, time.Now().UnixMilli(), last.Notes, ""
		if last.Reference != "" {
			t.Reference = last.Reference
		}
		if last.Summary != "" {
			t.Summary = last.Summary
		}
	})
}

// connect waits until the machine has connected.
func (m *Manager) connect(ctx context.Context, t protocol.ProvisionTask) error {
	m.mu.Lock()
	isInvited := m.tasks[t.ID].isInvited
	m.mu.Unlock()
	for {
		device, err := m.o.device(ctx, t)
		if err != nil {
			return err
		}
		node, _ := m.o.Node(t.Node)
		switch {
		case device != "" && node.Online:
			if t.Network != "" && node.Network != t.Network {
				if _, err := m.o.Move(ctx, t.By, protocol.NetworkMoveParams{NodeID: t.Node, Network: string(t.Network)}); err != nil {
					return err
				}
			}
			return m.set(t.ID, func(t *protocol.ProvisionTask) { t.State, t.Progress = protocol.TaskRunning, "" })
		case device == "" && !isInvited:
			return m.fail(t.ID, "Fairlead was stopped before the machine had connected")
		case time.Since(time.UnixMilli(t.ConnectedAt)) > connectLimit:
			return m.fail(t.ID, fmt.Sprintf("the machine did not connect within %s", connectLimit))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.o.Every):
		}
	}
}

// device returns the pairing of a task's machine; empty if it is not paired.
func (o *Options) device(ctx context.Context, t protocol.ProvisionTask) (protocol.DeviceID, error) {
	list, err := o.Devices.List(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range list.Devices {
		if d.Role == protocol.RoleNode && d.NodeID == t.Node && d.PairedAt >= t.CreatedAt && d.RevokedAt == 0 {
			return d.ID, nil
		}
	}
	return "", nil
}

// delete has the provider delete the machine, and ends its pairing.
func (m *Manager) delete(ctx context.Context, t protocol.ProvisionTask, alive *os.File) error {
	r, err := m.request(t, contract.Delete)
	if err != nil {
		return err
	}
	if _, err = m.o.Folder.Run(ctx, t.Provider, r, alive, func(l contract.Line) { m.report(t.ID, l.Progress) }); err != nil {
		return err
	}
	device, err := m.o.device(ctx, t)
	if err != nil {
		return err
	}
	if device != "" {
		if err := m.o.Devices.Forget(ctx, t.By, device); err != nil {
			return err
		}
	}
	if t.Failed {
		return m.set(t.ID, func(t *protocol.ProvisionTask) { t.State, t.Reference, t.Progress = protocol.TaskFailed, "", "" })
	}
	if err := m.o.Store.Delete(context.Background(), t.ID, auditLine(t.By, "deleted", t)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	task := m.tasks[t.ID]
	delete(m.tasks, t.ID)
	m.changedLocked(task)
	return errNoStep
}
