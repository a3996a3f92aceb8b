package app

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/apps"
	"fairlead/app/feed"
	"fairlead/app/native"
	"fairlead/app/nodes"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/tools"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// connectRequest is a device that asks to be paired, an app that asks to connect, a machine that
// offers more than was allowed, or the question of an MCP server.
type connectRequest struct {
	id       protocol.QuestionID
	title    string
	hasLimit bool // it ends at a time
	build    func(notNow func()) *widgets.Question
	onClose  func() // answers the request when the person closes the window; nil puts it off
}

// connectWindow asks the person such a question in a window of its own.
type connectWindow struct {
	ui     *ui
	window fyne.Window    // nil while no request is shown
	shown  connectRequest // in the window
	view   *widgets.Question
	later  map[protocol.QuestionID]bool // requests that the person put off; they are still on the page Needs you
}

// requests returns the questions of a view other than approvals, in their order.
func (c *connectWindow) requests(v feed.View) (list []connectRequest) {
	app := c.ui.backend.state
	for _, q := range v.Questions.Pending {
		r := connectRequest{id: q.ID, title: question.Title(q), hasLimit: q.ExpiresAt > 0}
		switch {
		case q.Pairing != nil:
			r.build = func(notNow func()) *widgets.Question {
				return nodes.NewRequest(q, time.Now(), app.Questions.Answer, notNow)
			}
		case q.App != nil:
			r.build = func(notNow func()) *widgets.Question {
				return c.resized(apps.NewConsent(q, v.Machines, time.Now(), app.Questions.Answer, notNow))
			}
		case q.Input != nil:
			h := tools.QuestionHandlers{Answer: app.Questions.Answer, OpenURL: c.ui.opener.openLink}
			r.build = func(func()) *widgets.Question { return c.resized(tools.NewQuestion(q, v, time.Now(), h)) }
			r.onClose = func() { app.Questions.Answer(q, protocol.QuestionAnswerParams{Decision: protocol.DecisionDismiss}) }
		default: // of a newer gateway, or about changed tools, for which nobody waits
			continue
		}
		list = append(list, r)
	}
	return list
}

// resized returns a question that resizes the window with its content.
func (c *connectWindow) resized(q *widgets.Question) *widgets.Question {
	q.OnResize = c.fit
	return q
}

// update shows the most urgent request, and closes the window when it is no longer pending.
func (c *connectWindow) update(v feed.View) {
	var first *connectRequest
	for _, r := range c.requests(v) {
		if c.window != nil && c.shown.id == r.id && (r.hasLimit || first == nil) {
			return
		}
		if first == nil && !c.later[r.id] {
			first = &r
		}
	}
	if first == nil {
		c.close()
		return
	}
	c.show(*first, c.ui.showQuietly)
}

// show shows a request in the window. It calls open for a new window.
func (c *connectWindow) show(r connectRequest, open func(fyne.Window)) {
	isNew := c.window == nil
	if isNew {
		c.window = native.NewWindow(c.ui.app, "", nil)
		c.window.SetPadded(false)
		c.window.SetCloseIntercept(c.putOff)
		c.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
			if e.Name == fyne.KeyEscape {
				c.putOff()
			}
		})
		shortcut(c.window, fyne.KeyW, c.putOff)
	}
	c.shown, c.view = r, r.build(c.putOff)
	c.ui.backend.state.Approvals.MarkShown(r.id, "")
	c.window.SetTitle(r.title)
	content := widgets.NewVScroll(widgets.Inset(style.Group, style.Page, style.Group, style.Page, c.view.Box))
	c.window.SetContent(container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), content))
	c.fit()
	if isNew {
		c.window.CenterOnScreen()
		open(c.window)
	}
}

// connectWidth is the width of the window, and connectHeight its maximum height.
const connectWidth, connectHeight float32 = 480, 720

// fit gives the window the height of its content.
func (c *connectWindow) fit() {
	if c.window != nil {
		height := widgets.Fit(c.view.Box, connectWidth-2*style.Page) + 2*style.Group
		c.window.Resize(fyne.NewSize(connectWidth, min(height, connectHeight)))
	}
}

// putOff closes the window without an answer. The request stays on the page Needs you, except that
// of a server, which is cancelled.
func (c *connectWindow) putOff() {
	if cancel := c.shown.onClose; cancel != nil {
		c.close()
		cancel()
		return
	}
	if c.later == nil {
		c.later = make(map[protocol.QuestionID]bool)
	}
	c.later[c.shown.id] = true
	c.close()
	c.update(c.ui.view()) // shows the next one
}

func (c *connectWindow) close() {
	if c.window != nil {
		c.window.Close()
		c.window, c.shown, c.view = nil, connectRequest{}, nil
	}
}

// review shows a request in front, or the page Needs you if it is no longer pending.
func (c *connectWindow) review(id protocol.QuestionID) {
	for _, r := range c.requests(c.ui.view()) {
		if r.id == id {
			delete(c.later, id)
			c.show(r, fyne.Window.Show)
			c.window.RequestFocus()
			return
		}
	}
	c.ui.main.show()
	c.ui.approvals.openInbox()
}

func (c *connectWindow) tick(now time.Time) {
	if c.window != nil {
		c.view.Tick(now)
	}
}
