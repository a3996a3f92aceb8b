package provision

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision/contract"
)

// Store stores tasks durably before it returns ([store.Tasks]).
type Store interface {
	List(ctx context.Context) ([]protocol.ProvisionTask, error)
	Put(ctx context.Context, t protocol.ProvisionTask, lines ...protocol.AuditEntry) error
	Delete(ctx context.Context, id protocol.TaskID, lines ...protocol.AuditEntry) error
}

// Devices pairs the rented machines ([pairing.Manager]).
type Devices interface {
	List(ctx context.Context) (protocol.DeviceListResult, error)
	Invite(ctx context.Context, by string, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error)
	Uninvite(ctx context.Context, id string) error
	Forget(ctx context.Context, by string, id protocol.DeviceID) error
}

// Options are the parts that a [Manager] uses.
type Options struct {
	Store   Store
	Secrets keychain.Store
	Folder  Folder // with the programs of the providers
	Locks   string // folder for the locks of tasks
	Devices Devices
	// Node returns what is known about a machine.
	Node func(protocol.NodeID) (protocol.NodeInfo, bool)
	Bus  *event.Bus
	// Move moves a machine into a network.
	Move func(ctx context.Context, by string, p protocol.NetworkMoveParams) (protocol.NodeInfo, error)
	// Every is the interval at which the manager looks whether a machine has connected, and that of
	// the first repetition of a failed step; 0: a second.
	Every time.Duration
}

// Manager rents machines and deletes them. It is safe for concurrent use.
type Manager struct {
	o       Options
	workers *crash.Workers

	mu    sync.Mutex // guards tasks and the fields of each
	tasks map[protocol.TaskID]*task
}

// task is a task with the goroutine that works on it.
type task struct {
	protocol.ProvisionTask
	isInvited bool // in this process: its machine can still pair
	stop      context.CancelFunc
	ended     chan struct{} // closed when nothing works on it
	changed   chan struct{} // closed and replaced at each change
}

// Open loads the tasks. [Manager.Run] continues them.
func Open(ctx context.Context, o Options) (*Manager, error) {
	o.Every = cmp.Or(o.Every, time.Second)
	m := &Manager{o: o, workers: crash.NewWorkers(), tasks: make(map[protocol.TaskID]*task)}
	list, err := o.Store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the rented machines: %w", err)
	}
	for _, t := range list {
		if t.State == protocol.TaskFailed && time.Since(time.UnixMilli(t.CreatedAt)) > keepFailed {
			if err := o.Store.Delete(ctx, t.ID); err != nil {
				return nil, err
			}
			continue
		}
		m.tasks[t.ID] = newTask(t)
	}
	return m, nil
}

// keepFailed is the time for which a failed task is listed.
const keepFailed = 7 * 24 * time.Hour

func newTask(t protocol.ProvisionTask) *task {
	ended := make(chan struct{})
	close(ended)
	return &task{ProvisionTask: t, stop: func() {}, ended: ended, changed: make(chan struct{})}
}

// Run continues the tasks of earlier starts, and blocks until ctx ends and no step runs.
func (m *Manager) Run(ctx context.Context) {
	for _, t := range m.List() {
		if t.State == protocol.TaskCreating { // nobody knows how far it was
			if err := m.fail(t.ID, "Fairlead was stopped while the machine was created"); err != nil {
				slog.Error("A machine that was being created is not deleted", "task", t.ID, "err", err)
				continue
			}
		}
		m.start(t.ID)
	}
	<-ctx.Done()
	m.workers.Close(context.Cause(ctx))
}

// List returns the tasks, oldest first.
func (m *Manager) List() []protocol.ProvisionTask {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []protocol.ProvisionTask{}
	for _, t := range m.tasks {
		list = append(list, t.ProvisionTask)
	}
	slices.SortFunc(list, func(a, b protocol.ProvisionTask) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	return list
}

// Get returns a task.
func (m *Manager) Get(id protocol.TaskID) (protocol.ProvisionTask, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tasks[id]; t != nil {
		return t.ProvisionTask, nil
	}
	return protocol.ProvisionTask{}, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("there is no provisioning task %.60q", id))
}

// Providers returns the providers with the names of their settings.
func (m *Manager) Providers() []protocol.ProvisionProvider {
	list := []protocol.ProvisionProvider{}
	for _, name := range m.o.Folder.Names() {
		settings, err := Settings(m.o.Secrets, name)
		if err != nil {
			slog.Warn("The settings of a provider cannot be read", "provider", name, "err", err)
		}
		list = append(list, protocol.ProvisionProvider{Name: name, Settings: slices.Sorted(maps.Keys(settings))})
	}
	return list
}

// Overview returns the tasks and the providers.
func (m *Manager) Overview() protocol.ProvisionListResult {
	return protocol.ProvisionListResult{Tasks: m.List(), Providers: m.Providers(), Folder: string(m.o.Folder)}
}

const settingsPrefix = "provider."

// Settings returns the stored settings of a provider.
func Settings(secrets keychain.Store, provider string) (map[string]string, error) {
	settings := map[string]string{}
	text, err := secrets.Get(settingsPrefix + provider)
	switch {
	case errors.Is(err, keychain.ErrNotFound):
		return settings, nil
	case err != nil:
		return settings, err
	}
	return settings, json.Unmarshal([]byte(text.Reveal()), &settings)
}

// SetSettings stores the settings of a provider in the keychain, in place of earlier ones.
func (m *Manager) SetSettings(_ context.Context, _ string, p protocol.ProvisionSettingsParams) error {
	switch {
	case m.o.Folder.program(p.Provider) == "":
		return protocol.ErrNotFound.With(fmt.Sprintf("there is no provider named %.40q: put its program into %s", p.Provider, m.o.Folder))
	case len(p.Settings) == 0:
		return m.o.Secrets.Delete(settingsPrefix + p.Provider)
	}
	return m.o.Secrets.Set(settingsPrefix+p.Provider, keychain.Secret(protocol.Encode(p.Settings)))
}

// Offer checks a request and returns what the provider would create, without creating it. Errors are
// a *protocol.Fault.
func (m *Manager) Offer(ctx context.Context, p protocol.ProvisionParams) (o protocol.ProvisionOffer, err error) {
	p.Provider = cmp.Or(p.Provider, protocol.DefaultProvider)
	p.CPU, p.Memory = cmp.Or(p.CPU, protocol.DefaultCPU), cmp.Or(p.Memory, protocol.DefaultMemory)
	if err := m.check(p); err != nil {
		return o, err
	}
	settings, err := Settings(m.o.Secrets, p.Provider)
	if err != nil {
		return o, err
	}
	r := contract.Request{Action: contract.Describe, NodeName: string(p.Node), CPU: p.CPU, Memory: p.Memory, Settings: settings}
	last, err := m.o.Folder.Run(ctx, p.Provider, r, nil, func(contract.Line) {})
	return protocol.ProvisionOffer{ProvisionParams: p, Summary: cmp.Or(last.Summary, contract.Size(p.CPU, p.Memory)), Cost: last.Cost}, err
}

// check returns why a machine cannot be rented.
func (m *Manager) check(p protocol.ProvisionParams) error {
	_, err := protocol.ParseNodeID(string(p.Node))
	_, isKnown := m.o.Node(p.Node)
	switch {
	case err != nil:
		return protocol.NewFault(protocol.FaultInvalidArgs, "node_name: "+err.Error())
	case p.CPU < protocol.MinCPU || p.CPU > protocol.MaxCPU:
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("cpu must be %d to %d (1024 is 1 vCPU), not %d", protocol.MinCPU, protocol.MaxCPU, p.CPU))
	case p.Memory < protocol.MinMemory || p.Memory > protocol.MaxMemory:
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("memory must be %d to %d MiB, not %d", protocol.MinMemory, protocol.MaxMemory, p.Memory))
	case isKnown || m.TaskOf(p.Node) != "":
		return protocol.NewFault(protocol.FaultAlreadyExists, fmt.Sprintf("a machine is already called %s: choose another name", p.Node))
	case m.o.Folder.program(p.Provider) == "":
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("there is no provider named %.40q: this gateway has %s", p.Provider, cmp.Or(strings.Join(m.o.Folder.Names(), ", "), "none")))
	}
	return nil
}

// InNetwork returns the names of the machines that are rented for a network.
func (m *Manager) InNetwork(network protocol.NetworkID) (names []string) {
	for _, t := range m.List() {
		if t.Network == network && t.State != protocol.TaskFailed {
			names = append(names, string(t.Node))
		}
	}
	return names
}

// TaskOf returns the task that rented a machine; empty if it was not rented.
func (m *Manager) TaskOf(node protocol.NodeID) protocol.TaskID {
	for _, t := range m.List() {
		if strings.EqualFold(string(t.Node), string(node)) && t.State != protocol.TaskFailed {
			return t.ID
		}
	}
	return ""
}

// Create begins to rent a machine. The task is stored when it returns.
func (m *Manager) Create(ctx context.Context, by string, p protocol.ProvisionParams) (t protocol.ProvisionTask, err error) {
	offer, err := m.Offer(ctx, p)
	if err != nil {
		return t, err
	}
	now := time.Now().UnixMilli()
	t = protocol.ProvisionTask{
		ID: protocol.TaskID(protocol.NewID()), Node: p.Node, Network: p.Network, Provider: offer.Provider, CPU: offer.CPU, Memory: offer.Memory,
		State: protocol.TaskCreating, Summary: offer.Summary, Cost: offer.Cost, By: by, CreatedAt: now,
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.tasks { // another request may have come first
		if other.Node == t.Node && other.State != protocol.TaskFailed {
			return t, protocol.NewFault(protocol.FaultAlreadyExists, fmt.Sprintf("a machine is already called %s: choose another name", t.Node))
		}
	}
	if err := m.o.Store.Put(ctx, t, auditLine(by, "rented", t)); err != nil {
		return t, err
	}
	m.tasks[t.ID] = newTask(t)
	m.startLocked(m.tasks[t.ID])
	m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeDevices})
	return t, nil
}

func auditLine(by, what string, t protocol.ProvisionTask) protocol.AuditEntry {
	return protocol.AuditEntry{
		At: time.Now().UnixMilli(), Kind: protocol.AuditDevice, By: by, Node: t.Node,
		What: fmt.Sprintf("%s %s from %s (%s)", what, t.Node, t.Provider, t.ID),
	}
}

// Delete begins to delete a rented machine, also one that is being created. What was rented is
// deleted even if the caller does not wait.
func (m *Manager) Delete(ctx context.Context, by string, id protocol.TaskID) (protocol.ProvisionTask, error) {
	m.mu.Lock()
	t := m.tasks[id]
	if t == nil {
		m.mu.Unlock()
		return m.Get(id)
	}
	t.stop()
	ended := t.ended
	m.mu.Unlock()
	<-ended
	if err := m.set(id, func(t *protocol.ProvisionTask) { t.State, t.Failed, t.Problem = protocol.TaskDeleting, false, "" }, auditLine(by, "gave back", t.ProvisionTask)); err != nil {
		return protocol.ProvisionTask{}, err
	}
	m.start(id)
	return m.Get(id)
}

// Wait waits until a task is in none of some states, or has ended, or ctx ends. each is called with
// every change.
func (m *Manager) Wait(ctx context.Context, id protocol.TaskID, each func(protocol.ProvisionTask), states ...string) (t protocol.ProvisionTask, isKnown bool) {
	for {
		m.mu.Lock()
		now := m.tasks[id]
		if now == nil {
			m.mu.Unlock()
			return t, false
		}
		var changed chan struct{}
		t, changed = now.ProvisionTask, now.changed
		m.mu.Unlock()
		each(t)
		if !slices.Contains(states, t.State) {
			return t, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t, true
		}
	}
}

// set changes a task and stores it before anybody sees the change.
func (m *Manager) set(id protocol.TaskID, edit func(*protocol.ProvisionTask), lines ...protocol.AuditEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[id]
	if t == nil {
		return errors.New("the task has ended")
	}
	changed := t.ProvisionTask
	edit(&changed)
	if err := m.o.Store.Put(context.Background(), changed, lines...); err != nil {
		return err
	}
	t.ProvisionTask = changed
	m.changedLocked(t)
	return nil
}

// report shows the progress of a task, which is not stored.
func (m *Manager) report(id protocol.TaskID, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tasks[id]; t != nil && text != "" {
		t.Progress = text
		m.changedLocked(t)
	}
}

func (m *Manager) changedLocked(t *task) {
	close(t.changed)
	t.changed = make(chan struct{})
	m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeDevices})
}

// fail has what exists of a machine deleted, because a step failed.
func (m *Manager) fail(id protocol.TaskID, problem string) error {
	return m.set(id, func(t *protocol.ProvisionTask) {
		t.State, t.Failed, t.Problem, t.Progress = protocol.TaskDeleting, true, problem, ""
	})
}
