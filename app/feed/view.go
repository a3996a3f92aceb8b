package feed

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// View is a picture of all facts. Its slices and maps must not be changed.
type View struct {
	Status    Status
	Sessions  Sessions
	Runs      Runs
	Texts     Texts // of the active runs
	Calls     CallList
	Questions Questions
	Machines  MachineList // the gateway's own first, then those that are online
	Transfers Transfers
	Notice    *protocol.Notice // the latest notice; nil without one
	// Models are the choices of the model menu in the header.
	Models  []ModelChoice
	Pulls   PullList
	Pairing Pairing
	Apps    ConnectedApps
	Servers ServerList
	// Exposures are the ways in to the gateway.
	Exposures Exposures
	Changed   Changed
}

// Status is the state of the connection and of the gateway.
type Status struct {
	protocol.Status
	Connected bool
	// Problem says why there is no connection; empty while connected and at first.
	Problem string
	Loaded  bool // the first snapshot has arrived
	// Remote reports whether the gateway is remote; Device is this paired computer's ID there.
	Remote bool
	Device protocol.DeviceID
}

// IsLost reports whether there is no connection, so that nothing can be asked of the gateway.
func (s Status) IsLost() bool { return !s.Connected && s.Problem != "" }

// Changed counts changes of what pages load as a whole, so that they load it again.
type Changed struct{ Config, History, Skills, Files, Channels, Rules, Schedules, LocalModels, Forwards, Services, Terminals int }

// counters returns the counters by the kind of change.
func (c *Changed) counters() map[string]*int {
	return map[string]*int{
		protocol.ChangeRules: &c.Rules, protocol.ChangeFile: &c.Files, protocol.ChangeSkills: &c.Skills,
		protocol.ChangeChannels: &c.Channels, protocol.ChangeConfig: &c.Config,
		protocol.ChangeTransferRemoved: &c.History, protocol.ChangeSchedules: &c.Schedules,
		protocol.ChangeLocalModels: &c.LocalModels, protocol.ChangeForwards: &c.Forwards, protocol.ChangeServices: &c.Services,
		protocol.ChangeTerminals: &c.Terminals,
	}
}

// Needs returns the number of questions that wait for the person.
func (v View) Needs() int { return len(v.Questions.Pending) }

// Working reports whether any run is in progress.
func (v View) Working() bool {
	return slices.ContainsFunc(v.Runs.List, func(r protocol.RunInfo) bool { return !r.Over() && r.State != protocol.RunQueued })
}

// Session finds a chat. An unknown one has only its key, and Main if the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, list := range [][]protocol.SessionEntry{v.Sessions.List, v.Sessions.Scheduled} {
		if s, ok := lists.Find(list, func(s protocol.SessionEntry) bool { return s.SessionKey == key }); ok {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// IsMainAlias reports whether a key leads to the main chat, although that has another key.
func (v View) IsMainAlias(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// PlaceName returns the name of a place with files: a machine, or the agent's own files if empty.
func (v View) PlaceName(id protocol.NodeID) string {
	n, ok := v.Machines.Find(id)
	switch {
	case id == "":
		return "Agent's files"
	case ok && n.Local && !v.Status.Remote:
		return n.DisplayName() + " (this computer)"
	}
	return v.Machines.Name(id)
}

// ChatName returns the display name of a chat key, even if the chat no longer exists.
func (v View) ChatName(key protocol.SessionKey) string {
	if s, ok := v.Session(key); ok {
		return TitleOf(s)
	}
	return string(key)
}
