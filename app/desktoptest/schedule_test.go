//go:build desktop

package desktoptest

import (
	"image"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// openSchedules opens the page of schedules, of which there are none.
func (d *chatProgram) openSchedules() {
	d.t.Helper()
	d.click(d.waitTextIn(mainWindow, "Schedule", func(w window) window { w.y, w.h, w.w = w.y+w.h-260, 260, 360; return w }))
	d.waitText(mainWindow, "Nothing is scheduled")
}

// newSchedule opens the form; the field of the name has the focus.
func (d *chatProgram) newSchedule() {
	d.t.Helper()
	d.waitFor("the button for a new schedule", func() bool { // by its colour: OCR does not recognize its text
		w := d.waitWindow(mainWindow)
		w.x, w.w = w.x+260, w.w-260
		areas := d.colouredAreas(w)
		if len(areas) != 1 {
			return false
		}
		d.click(areas[0].Min.Add(areas[0].Size().Div(2)))
		return true
	})
	d.waitText(mainWindow, "Every day at 09:00")
}

// checkDraftOfForm leaves a form by shortcuts and by Escape, and returns to it: it shows what was
// typed, and no key of a shortcut.
func (d *chatProgram) checkDraftOfForm() {
	d.t.Helper()
	d.keys("ctrl+n")
	d.waitText(mainWindow, "What would you like")
	d.openSchedules()
	d.newSchedule()
	d.waitText(mainWindow, "unsaved changes were restored")
	d.keys("ctrl+g")
	d.typeText("zebra")
	d.waitText(mainWindow, "No results")
	d.keys("Escape", "Escape", "Escape") // clears the word, leaves the search, leaves the form
	d.waitText(mainWindow, "Nothing is scheduled")
	d.newSchedule()
}

// checkWheelOverForm turns the wheel over a field of a form that is longer than its window.
func (d *chatProgram) checkWheelOverForm() {
	d.t.Helper()
	w := d.waitWindow(mainWindow)
	d.moveWindow(mainWindow, 60, 60, w.w, 560)
	field := d.waitText(mainWindow, "Look at the backups")
	turn := func(wheel string) {
		for range 12 {
			d.press(field, wheel)
		}
	}
	turn("5")
	d.waitText(mainWindow, "If Fairlead was not running")
	d.waitText(mainWindow, "Cancel")
	d.screenshot("scrolled")
	turn("4")
	d.waitText(mainWindow, "unsaved changes were restored")
	d.moveWindow(mainWindow, 60, 60, w.w, w.h)
}

// TestScheduleIsCreatedFromPlainWords makes a schedule for every day at 09:00 with the keyboard,
// runs it, and opens the run.
func TestScheduleIsCreatedFromPlainWords(t *testing.T) {
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &chatProgram{p, p.gateway()}
	d.openSchedules()
	d.newSchedule()
	d.typeText("Morning report")
	d.checkDraftOfForm()
	d.checkWheelOverForm()
	d.keys("Tab", "Tab", "Tab")
	d.typeText("list the Go files")
	d.screenshot("form")
	d.keys("Tab", "Tab", "Tab", "Tab", "space")
	var job protocol.CronJob
	d.waitFor("the schedule", func() bool {
		list, err := client.Call(t.Context(), d.c, protocol.CronList, protocol.CronListParams{})
		if err != nil || len(list.Jobs) != 1 {
			return false
		}
		job = list.Jobs[0]
		return true
	})
	if job.Name != "Morning report" || job.Schedule.Expr != "0 9 * * *" || job.Spec.Message != "list the Go files" {
		t.Errorf("the schedule is %+v", job)
	}
	d.clickText(mainWindow, "Morning report")
	d.clickText(mainWindow, "Run now")
	d.waitFor("the run", func() bool {
		runs, err := client.Call(t.Context(), d.c, protocol.CronRuns, protocol.CronRunsParams{JobID: job.ID})
		return err == nil && runs.Count == 1
	})
	done := d.waitText(mainWindow, "file matches")
	d.screenshot("runs")
	d.click(done.Sub(image.Pt(0, 8)))
	d.waitTextIn(mainWindow, "Morning report", func(w window) window { w.x, w.w, w.h = w.x+250, w.w-250, 44; return w })
	d.screenshot("run")
	for _, e := range d.sessions() {
		if e.Schedule != job.ID && e.MessageCount > 0 {
			t.Errorf("the run made the chat %+v among the person's chats", e)
		}
	}
}
