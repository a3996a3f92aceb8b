package conversation

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Kinds of rows.
const (
	kindMessage = iota
	kindTool
	kindThinking
	kindNotice
	kindProblem
	kindQueued
	kindDay
)

// Data of the rows. All types are comparable, as [transcript.Item] requires.
type (
	messageData struct {
		sentBy
		id     protocol.MessageID // ID of the stored message; empty while streaming
		run    protocol.RunID
		text   string
		plain  bool
		images string // keys, one per line
	}
	sentBy   struct{ sender, time, fullTime string }
	toolData struct {
		id       string             // ID of the card, for its expanded state
		info     *protocol.CallInfo // of a change that can be undone; nil for others
		card     transcript.Call
		call     protocol.CallID
		approval protocol.QuestionID
		hash     string // hash of the approval
		open     bool   // default, unless the reader changed it
	}
	thinkingData struct{ id, title, text string }
	// noticeData and problemData include their button's action.
	noticeData struct {
		icon, text, button, action string
	}
	problemData struct {
		problem widgets.Problem
		action  string
		run     protocol.RunID
	}
	dayData    struct{ text string }
	queuedData struct {
		run  protocol.RunID
		text string
	}
)

// Actions of notices.
const (
	actionReload = "reload"
	actionResume = "resume"
)

// builder creates rows from states. It caches the rows of messages that can no longer change, so
// that a streamed piece after 20,000 messages costs little more than a comparison.
type builder struct {
	machines *style.Machines
	seen     map[protocol.QuestionID]sighting
	outputs  map[protocol.CallID]string // whole outputs that the reader has loaded
	undos    map[protocol.CallID]undo
	rows     map[protocol.MessageID]string // key of a message's first row; of a result, its card
	day      int                           // for which the cached rows were built

	cached       []transcript.Item // rows of the first cachedCount messages
	cachedCount  int
	firstCached  protocol.MessageID
	lastCached   protocol.MessageID
	cachedCursor cursor
}

// cursor is the context that a message's rows need from earlier messages.
type cursor struct {
	speaker string // previous author, with the run
	day     string // latest day with a heading
	steps   map[protocol.RunID]int
}

func newBuilder(machines *style.Machines) *builder {
	b := &builder{
		machines: machines, seen: map[protocol.QuestionID]sighting{}, rows: map[protocol.MessageID]string{},
		outputs: map[protocol.CallID]string{}, undos: map[protocol.CallID]undo{},
	}
	b.clearCache()
	return b
}

func (b *builder) clearCache() {
	b.cached, b.cachedCount, b.cachedCursor = nil, 0, cursor{steps: map[protocol.RunID]int{}}
}

func (b *builder) build(s State, now time.Time) []transcript.Item {
	ms := s.Messages
	day := now.Year()*1000 + now.YearDay()
	n := b.cachedCount
	if day != b.day || n > len(ms) || n > 0 && (ms[0].ID != b.firstCached || ms[n-1].ID != b.lastCached) {
		b.day = day
		b.clearCache()
	}
	b.updateCache(s, now)

	p := &pass{builder: b, state: s, now: now, items: make([]transcript.Item, 0, len(b.cached)+32), latest: true}
	if s.More {
		p.add("older", kindNotice, 32, noticeData{icon: "clock", text: "Loading earlier messages…"})
	}
	p.items = append(p.items, b.cached...)
	p.cursor = b.cachedCursor
	p.cursor.steps = maps.Clone(p.cursor.steps)
	for i := b.cachedCount; i < len(ms); i++ {
		p.message(i)
	}
	p.addLive()
	if s.Offline != "" {
		p.add("offline", kindNotice, 32, noticeData{icon: "warning", text: s.Offline})
	}
	if s.Paused {
		p.add("paused", kindNotice, 32, noticeData{"pause", "The agent is paused and starts no new work.", "Resume", actionResume})
	}
	return p.items
}

// updateCache caches the rows of the messages before the person's latest one.
func (b *builder) updateCache(s State, now time.Time) {
	ms := s.Messages
	end := 0
	for i := len(ms) - 1; i >= b.cachedCount; i-- {
		if ms[i].Role == protocol.RoleUser {
			end = i
			break
		}
	}
	p := &pass{builder: b, state: s, now: now, items: b.cached, cursor: b.cachedCursor}
	for b.cachedCount < end {
		p.message(b.cachedCount)
		b.cachedCount++
	}
	b.cached, b.cachedCursor = p.items, p.cursor
	if n := b.cachedCount; n > 0 {
		b.firstCached, b.lastCached = ms[0].ID, ms[n-1].ID
	}
}

// pass adds the rows of one build.
type pass struct {
	*builder
	state  State
	now    time.Time
	items  []transcript.Item
	cursor cursor
	latest bool // the messages are not cached
	// liveKeys has the keys that live rows must not repeat; nil before.
	liveKeys map[string]bool
}

func (p *pass) add(key string, kind int, estimate float32, data any) {
	if p.liveKeys != nil {
		if p.liveKeys[key] {
			return
		}
		p.liveKeys[key] = true
	}
	p.items = append(p.items, transcript.Item{Key: key, Kind: kind, Estimate: estimate, Data: data})
}

// addLive adds the activity in progress: streamed text, calls, approvals, and the runs' states.
func (p *pass) addLive() {
	p.liveKeys = map[string]bool{}
	for _, it := range p.items[min(len(p.cached), len(p.items)):] {
		p.liveKeys[it.Key] = true
		if d, ok := it.Data.(toolData); ok {
			p.liveKeys["call/"+string(d.call)], p.liveKeys["ask/"+string(d.approval)] = true, true
		}
	}
	for _, r := range p.state.Runs {
		p.liveRun(r)
	}
	for i := range p.state.Calls { // a call by the person, outside any run
		c := p.state.Calls[i]
		if key := "call/" + string(c.CallID); !p.liveKeys[key] {
			p.liveKeys[key] = true
			p.liveCall("own/"+string(c.CallID), &c)
		}
	}
	for _, q := range p.state.Approvals {
		if q.Kind == protocol.AskContinue {
			card := transcript.Call{
				Verb: "Continue?", Argument: q.Why, State: transcript.CallWaiting, Status: question.WaitingText, CanAnswer: true,
				AllowEnabled: p.seen[q.ID].allows(q, p.now),
			}
			card.AllowHint = allowHint(card)
			p.add("ask/"+string(q.ID), kindTool, 80, toolData{id: string(q.ID), card: card, approval: q.ID, hash: q.Hash, open: true})
		}
	}
}

// liveRun adds what a run has streamed, its calls and its state.
func (p *pass) liveRun(r protocol.RunInfo) {
	base := fmt.Sprintf("r/%s/%d", r.RunID, cmp.Or(r.Step, p.cursor.steps[r.RunID]+1))
	m := protocol.Message{RunID: r.RunID, Timestamp: r.StartedAt}
	if !r.Over() {
		if strings.TrimSpace(r.Thinking) != "" && !p.liveKeys[base+"/think0"] {
			p.sender(base+"/head", m)
		}
		p.thinking(base+"/think0", r.Thinking, false, r.Text == "" && r.State != protocol.RunTools)
		if strings.TrimSpace(r.Text) != "" && !p.liveKeys[base+"/text0"] {
			p.answer(base+"/text0", m, r.Text)
		}
	}
	for i := range p.state.Calls {
		c := p.state.Calls[i]
		if key := "call/" + string(c.CallID); c.RunID == r.RunID && !p.liveKeys[key] {
			if !c.Direct {
				p.sender(base+"/head", m)
			}
			p.liveCall(key, &c)
		}
	}
	p.runState(r)
}

func (p *pass) liveCall(key string, c *protocol.CallInfo) {
	p.call(key, callView{info: c, approval: p.state.pendingApproval(*c), offline: p.state.IsOffline(c.Node)}, true, true)
}

func (p *pass) runState(r protocol.RunInfo) {
	key := "run/" + string(r.RunID)
	notice := func(icon, text string) { p.add(key, kindNotice, 32, noticeData{icon: icon, text: text}) }
	switch r.State {
	case protocol.RunQueued:
		p.add(key, kindQueued, 40, queuedData{r.RunID, r.Message})
	case protocol.RunThinking:
		if r.Thinking != "" {
			return
		}
		text := "Working…"
		if d := time.Duration(p.now.UnixMilli()-r.StartedAt) * time.Millisecond; r.StartedAt > 0 && d >= 3*time.Second {
			text += " " + formatSeconds(d)
		}
		notice("activity", text)
	case protocol.RunRetrying:
		notice("reset", cmp.Or(r.Notice, "Trying again…"))
	case protocol.RunFailed:
		if n := p.cachedCount; n > 0 && p.state.Messages[n-1].RunID == r.RunID {
			return // an earlier turn, whose messages say it
		}
		problem, action := runProblem(r.Error)
		p.add(key, kindProblem, 90, problemData{problem, action, r.RunID})
	case protocol.RunCancelled:
		notice("stop", "Stopped.")
	default:
		if r.Notice != "" && !r.Over() {
			notice("info", r.Notice)
		}
	}
}
