package tray

import (
	"fmt"
	"math"
	"slices"
	"time"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/gateways"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/transfer"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Icon is the state shown by the tray icon.
type Icon int

const (
	Idle Icon = iota
	Working
	NeedsYou
	Offline
	Error
	Paused
)

// Content is the tray's content as a plain value: equal values look the same.
type Content struct {
	Icon   Icon
	Needs  int
	Status string
	// Public says what is public without sign-in; empty if nothing is. The icon has a mark then.
	Public string
	// Items are the menu's entries from top to bottom.
	Items []Item
}

// Item is an entry of the menu. Do is its action; the fields after it are the action's parameters.
type Item struct {
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
	Items     []Item
}

// Actions of menu entries.
const (
	ActionOpen   = "open"
	ActionNew    = "new"
	ActionChat   = "chat"
	ActionReview = "review"
	ActionNeeds  = "needs" // all questions, in the main window
	ActionPause  = "pause"
	// changes the approval mode of the most recent chat: Mode is the index in ModeChoices
	ActionMode     = "mode"
	ActionSettings = "settings"
	// ActionMachine shows a machine; an empty Node shows all.
	ActionMachine = "machine"
	// ActionTransfers shows the page of transfers.
	ActionTransfers = "transfers"
	// ActionGateway opens the window of another gateway.
	ActionGateway = "gateway"
	// ActionExposure shows who can reach what.
	ActionExposure = "exposure"
	ActionQuit     = "quit"
)

const maxItems = 8

// ContentOf returns the tray's content for a view.
func ContentOf(v feed.View, now time.Time) Content {
	t := Content{Needs: v.Needs(), Status: "Ready", Public: display.PublicExposures(v.Exposures.List)}
	switch {
	case v.Status.Storage != "":
		t.Icon, t.Status = Error, "Cannot save data"
	case !v.Status.Connected && v.Status.Problem != "":
		t.Icon, t.Status = Offline, "No connection to the gateway"
	case t.Needs > 0:
		t.Icon, t.Status = NeedsYou, needsText(v, now)
	case !v.Status.Loaded:
		t.Status = "Starting"
	case v.Status.Paused:
		t.Icon, t.Status = Paused, "Paused"
	case v.Working():
		t.Icon, t.Status = Working, "Working"
	}
	separator := Item{Separator: true}
	t.Items = lists.Without([]Item{
		{Label: t.Status, Disabled: true},
		publicItem(t.Public),
		separator,
		needsItem(v, now), transferItem(v),
		{Label: "Open", Do: ActionOpen},
		{Label: "New chat", Do: ActionNew},
		recentItem(v), machinesItem(v), separator,
		modeItem(v),
		{Label: "Pause agent", Do: ActionPause, Checked: v.Status.Paused},
		{Label: "Settings", Do: ActionSettings},
		separator,
		{Label: "Quit", Do: ActionQuit},
	}, Item.isEmpty)
	return t
}

// isEmpty reports whether an entry has neither an action nor entries: the menu omits it.
func (i Item) isEmpty() bool {
	return !i.Separator && !i.Disabled && i.Do == "" && len(i.Items) == 0
}

// limitItems returns the first entries of a list; the others become one entry with their number.
func limitItems[T any](list []T, entry func(T) Item, more Item) (items []Item) {
	for i, x := range list {
		if i == maxItems {
			more.Label = fmt.Sprintf("%d more…", len(list)-i)
			return append(items, more)
		}
		items = append(items, entry(x))
	}
	return items
}

// needsText says how many questions wait for the person, or which one.
func needsText(v feed.View, now time.Time) string {
	if v.Needs() == 1 {
		return question.WordsOf(v.Questions.Pending[0], v, now).Title
	}
	return format.Plural(v.Needs(), "question needs", "questions need") + " you"
}

func publicItem(text string) Item {
	if text == "" {
		return Item{}
	}
	return Item{Label: text, Do: ActionExposure}
}

func needsItem(v feed.View, now time.Time) Item {
	n := v.Needs()
	item := Item{Label: fmt.Sprintf("Needs you (%d)", n)}
	item.Items = limitItems(v.Questions.Pending, func(q protocol.Question) Item {
		return Item{Label: format.Clip(question.WordsOf(q, v, now).Line, 60), Do: ActionReview, Question: q.ID}
	}, Item{Do: ActionNeeds})
	if n > 1 && n <= maxItems {
		item.Items = append(item.Items, Item{Separator: true}, Item{Label: "Show all", Do: ActionNeeds})
	}
	return item
}

func recentItem(v feed.View) Item {
	recent := lists.Without(v.Sessions.List, func(s protocol.SessionEntry) bool { return s.Archived })
	items := lists.Map(recent[:min(len(recent), maxItems)], func(s protocol.SessionEntry) Item {
		return Item{Label: format.Clip(feed.TitleOf(s), 40), Do: ActionChat, Key: s.SessionKey}
	})
	return Item{Label: "Recent chats", Items: items}
}

func modeItem(v feed.View) Item {
	if len(v.Sessions.List) == 0 {
		return Item{}
	}
	newest := v.Sessions.List[0]
	item := Item{Label: "Approvals in this chat"}
	now := chats.ModeOf(newest, time.Now())
	limit, trust := chats.TrustLimit(v.Machines)
	for i, c := range chats.ModeChoices {
		item.Items = append(item.Items, Item{
			Label: c.Text, Do: ActionMode, Key: newest.SessionKey, Mode: i,
			Checked: c.Mode == now.Mode && c.For == 0, Disabled: c.Mode == protocol.ModeTrust && !trust,
		})
	}
	if limit != "" {
		item.Items = append(item.Items, Item{Label: format.Clip(limit, 120), Disabled: true})
	}
	return item
}

func machinesItem(v feed.View) Item {
	return Item{Label: "Machines", Items: limitItems(v.Machines, func(n protocol.NodeInfo) Item {
		presence := "offline"
		if n.Online {
			presence = "online"
		}
		return Item{Label: format.Clip(n.DisplayName(), 40) + " · " + presence, Do: ActionMachine, Node: n.ID}
	}, Item{Do: ActionMachine})}
}

func transferItem(v feed.View) Item {
	item := Item{Label: fmt.Sprintf("Transfers (%d)", len(v.Transfers.List))}
	item.Items = limitItems(v.Transfers.List, func(x protocol.Transfer) Item {
		label := format.Clip(transfer.Title(v, x), 40)
		switch {
		case x.State != protocol.TransferRunning:
			label += " · " + x.State
		case x.Bytes > 0:
			label += fmt.Sprintf(" · %.0f %%", math.Floor(100*transfer.Progress(x)))
		}
		return Item{Label: label, Do: ActionTransfers}
	}, Item{Do: ActionTransfers})
	return item
}

// With returns the tray with other gateways, whose approvals count like local ones.
func (t Content) With(list []gateways.Line) Content {
	if len(list) == 0 {
		return t
	}
	item := Item{Label: "Gateways"}
	there, where := 0, ""
	for i, name := range gateways.Names(list) {
		needs := list[i].Needs
		if needs > 0 {
			there += needs
			if where == "" || where == name {
				where = name
			} else {
				where = "other gateways"
			}
		}
		if i >= maxItems {
			continue
		}
		label := name
		if needs > 0 {
			label = fmt.Sprintf("%s · needs you (%d)", name, needs)
		}
		item.Items = append(item.Items, Item{Label: label, Do: ActionGateway, Gateway: list[i].ID})
	}
	t.Items = slices.Clone(t.Items)
	if there > 0 {
		item.Label = fmt.Sprintf("Gateways (%d)", there)
		if t.Needs == 0 && t.Icon != Error && t.Icon != Offline {
			t.Status = format.Plural(there, "approval waiting", "approvals waiting") + " at " + where
			t.Items[0].Label = t.Status
		}
		if t.Icon != Error {
			t.Icon = NeedsYou
		}
		t.Needs += there
	}
	// below the machines and the other lists
	at := slices.IndexFunc(t.Items, func(i Item) bool { return i.Do == ActionNew })
	for t.Items[at+1].Items != nil {
		at++
	}
	t.Items = slices.Insert(t.Items, at+1, item)
	return t
}
