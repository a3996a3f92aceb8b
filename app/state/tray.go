package state

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/transfer"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// TrayIcon is the state shown by the tray icon.
type TrayIcon int

const (
	TrayIdle TrayIcon = iota
	TrayWorking
	TrayNeedsYou
	TrayOffline
	TrayError
	TrayPaused
)

// Tray is the tray's content as a plain value: equal values look the same.
type Tray struct {
	Icon   TrayIcon
	Needs  int
	Status string
	// Items are the menu's entries from top to bottom.
	Items []TrayItem
}

// TrayItem is an entry of the menu. Do is its action; the fields after it are the action's parameters.
type TrayItem struct {
	Label     string
	Separator bool
	Disabled  bool
	Checked   bool
	Do        string
	Key       protocol.SessionKey
	Question  protocol.QuestionID
	Mode      int
	Node      protocol.NodeID
	Gateway   string // ID of a gateway
	Items     []TrayItem
}

// Actions of menu entries.
const (
	TrayOpen   = "open"
	TrayNew    = "new"
	TrayChat   = "chat"
	TrayReview = "review"
	TrayNeeds  = "needs" // all questions, in the main window
	TrayPause  = "pause"
	// changes the approval mode of the most recent chat: Mode is the index in ModeChoices
	TrayMode     = "mode"
	TraySettings = "settings"
	// TrayMachine shows a machine; an empty Node shows all.
	TrayMachine = "machine"
	// TrayTransfers shows the page of transfers.
	TrayTransfers = "transfers"
	// TrayGateway opens the window of another gateway.
	TrayGateway = "gateway"
	TrayQuit    = "quit"
)

const maxTrayItems = 8

// TrayOf returns the tray's content for a view. words returns the words of a question.
func TrayOf(v feed.View, words func(protocol.Question) question.Words) Tray {
	t := Tray{Needs: v.Needs(), Status: "Ready"}
	switch {
	case v.Status.Storage != "":
		t.Icon, t.Status = TrayError, "Cannot save data"
	case !v.Status.Connected && v.Status.Problem != "":
		t.Icon, t.Status = TrayOffline, "No connection to the gateway"
	case t.Needs > 0:
		t.Icon, t.Status = TrayNeedsYou, needsText(v, words)
	case !v.Status.Loaded:
		t.Status = "Starting"
	case v.Status.Paused:
		t.Icon, t.Status = TrayPaused, "Paused"
	case v.Working():
		t.Icon, t.Status = TrayWorking, "Working"
	}
	separator := TrayItem{Separator: true}
	t.Items = lists.Without([]TrayItem{
		{Label: t.Status, Disabled: true},
		separator,
		needsItem(v, words), transferItem(v),
		{Label: "Open", Do: TrayOpen},
		{Label: "New chat", Do: TrayNew},
		recentItem(v), machinesItem(v), separator,
		modeItem(v),
		{Label: "Pause agent", Do: TrayPause, Checked: v.Status.Paused},
		{Label: "Settings", Do: TraySettings},
		separator,
		{Label: "Quit", Do: TrayQuit},
	}, TrayItem.isEmpty)
	return t
}

// isEmpty reports whether an entry has neither an action nor entries: the menu omits it.
func (i TrayItem) isEmpty() bool {
	return !i.Separator && !i.Disabled && i.Do == "" && len(i.Items) == 0
}

// limitItems returns the first entries of a list; the others become one entry with their number.
func limitItems[T any](list []T, entry func(T) TrayItem, more TrayItem) (items []TrayItem) {
	for i, x := range list {
		if i == maxTrayItems {
			more.Label = fmt.Sprintf("%d more…", len(list)-i)
			return append(items, more)
		}
		items = append(items, entry(x))
	}
	return items
}

// needsText says how many questions wait for the person, or which one.
func needsText(v feed.View, words func(protocol.Question) question.Words) string {
	if v.Needs() == 1 {
		return words(v.Questions.Pending[0]).Title
	}
	return wording.Plural(v.Needs(), "question needs", "questions need") + " you"
}

func needsItem(v feed.View, words func(protocol.Question) question.Words) TrayItem {
	n := v.Needs()
	item := TrayItem{Label: fmt.Sprintf("Needs you (%d)", n)}
	item.Items = limitItems(v.Questions.Pending, func(q protocol.Question) TrayItem {
		return TrayItem{Label: format.Clip(words(q).Line, 60), Do: TrayReview, Question: q.ID}
	}, TrayItem{Do: TrayNeeds})
	if n > 1 && n <= maxTrayItems {
		item.Items = append(item.Items, TrayItem{Separator: true}, TrayItem{Label: "Show all", Do: TrayNeeds})
	}
	return item
}

func recentItem(v feed.View) TrayItem {
	recent := lists.Without(v.Sessions.List, func(s protocol.SessionEntry) bool { return s.Archived })
	items := lists.Map(recent[:min(len(recent), maxTrayItems)], func(s protocol.SessionEntry) TrayItem {
		return TrayItem{Label: format.Clip(feed.TitleOf(s), 40), Do: TrayChat, Key: s.SessionKey}
	})
	return TrayItem{Label: "Recent chats", Items: items}
}

func modeItem(v feed.View) TrayItem {
	if len(v.Sessions.List) == 0 {
		return TrayItem{}
	}
	newest := v.Sessions.List[0]
	item := TrayItem{Label: "Approvals in this chat"}
	now := chats.ModeOf(newest, time.Now())
	limit, trust := chats.TrustLimit(v.Machines)
	for i, c := range chats.ModeChoices {
		item.Items = append(item.Items, TrayItem{
			Label: c.Text, Do: TrayMode, Key: newest.SessionKey, Mode: i,
			Checked: c.Mode == now.Mode && c.For == 0, Disabled: c.Mode == protocol.ModeTrust && !trust,
		})
	}
	if limit != "" {
		item.Items = append(item.Items, TrayItem{Label: format.Clip(limit, 120), Disabled: true})
	}
	return item
}

func machinesItem(v feed.View) TrayItem {
	return TrayItem{Label: "Machines", Items: limitItems(v.Machines, func(n protocol.NodeInfo) TrayItem {
		presence := "offline"
		if n.Online {
			presence = "online"
		}
		return TrayItem{Label: format.Clip(feed.NameOf(n), 40) + " · " + presence, Do: TrayMachine, Node: n.ID}
	}, TrayItem{Do: TrayMachine})}
}

func transferItem(v feed.View) TrayItem {
	item := TrayItem{Label: fmt.Sprintf("Transfers (%d)", len(v.Transfers.List))}
	item.Items = limitItems(v.Transfers.List, func(x protocol.Transfer) TrayItem {
		label := format.Clip(transfer.Title(v, x), 40)
		switch {
		case x.State != protocol.TransferRunning:
			label += " · " + x.State
		case x.Bytes > 0:
			label += fmt.Sprintf(" · %.0f %%", math.Floor(100*transfer.Progress(x)))
		}
		return TrayItem{Label: label, Do: TrayTransfers}
	}, TrayItem{Do: TrayTransfers})
	return item
}

// GatewayLine is another gateway whose window can be opened.
type GatewayLine struct {
	ID, Name string
	Address  string // distinguishes it from another one of the same name; may be empty
	Needs    int    // number of pending approvals there, reported by its open window
}

// GatewayNames returns display names of gateways, distinct by their address or ID if needed.
func GatewayNames(list []GatewayLine) []string {
	count := map[string]int{}
	for _, g := range list {
		count[strings.ToLower(g.Name)]++
		count[strings.ToLower(g.Name)+" "+g.Address]++
	}
	names := make([]string, len(list))
	for i, g := range list {
		name := strings.ToLower(g.Name)
		switch {
		case count[name] == 1:
			names[i] = g.Name
		case g.Address != "" && count[name+" "+g.Address] == 1:
			names[i] = g.Name + " · " + g.Address
		default:
			names[i] = g.Name + " · " + g.ID[:min(len(g.ID), 8)]
		}
	}
	return names
}

// With returns the tray with other gateways, whose approvals count like local ones.
func (t Tray) With(list []GatewayLine) Tray {
	if len(list) == 0 {
		return t
	}
	item := TrayItem{Label: "Gateways"}
	there, where := 0, ""
	for i, name := range GatewayNames(list) {
		needs := list[i].Needs
		if needs > 0 {
			there += needs
			if where == "" || where == name {
				where = name
			} else {
				where = "other gateways"
			}
		}
		if i >= maxTrayItems {
			continue
		}
		label := name
		if needs > 0 {
			label = fmt.Sprintf("%s · needs you (%d)", name, needs)
		}
		item.Items = append(item.Items, TrayItem{Label: label, Do: TrayGateway, Gateway: list[i].ID})
	}
	t.Items = slices.Clone(t.Items)
	if there > 0 {
		item.Label = fmt.Sprintf("Gateways (%d)", there)
		if t.Needs == 0 && t.Icon != TrayError && t.Icon != TrayOffline {
			t.Status = wording.Plural(there, "approval waiting", "approvals waiting") + " at " + where
			t.Items[0].Label = t.Status
		}
		if t.Icon != TrayError {
			t.Icon = TrayNeedsYou
		}
		t.Needs += there
	}
	// below the machines and the other lists
	at := slices.IndexFunc(t.Items, func(i TrayItem) bool { return i.Do == TrayNew })
	for t.Items[at+1].Items != nil {
		at++
	}
	t.Items = slices.Insert(t.Items, at+1, item)
	return t
}
