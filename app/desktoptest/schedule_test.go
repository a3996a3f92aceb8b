//go:build desktop

package desktoptest

import (
	"image"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestAScheduleIsMadeAsAPersonSaysIt makes a schedule for every day at 09:00 with the keyboard, runs
// it, and opens the run.
func TestAScheduleIsMadeAsAPersonSaysIt(t *testing.T) {
	p := start(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &day{p, p.gateway()}
	d.click(d.waitTextIn(mainWindow, "Schedule", func(w window) window { w.y, w.h, w.w = w.y+w.h-260, 260, 360; return w }))
	d.waitText(mainWindow, "Nothing is scheduled")
	d.until("the button for a new schedule", func() bool { // by its colour: OCR does not recognize its text
		w := d.waitWindow(mainWindow)
		w.x, w.w = w.x+260, w.w-260
		areas := d.coloured(w)
		if len(areas) != 1 {
			return false
		}
		d.click(areas[0].Min.Add(areas[0].Size().Div(2)))
		return true
	})
	d.waitText(mainWindow, "Every day at 09:00")
	d.typeText("Morning report")
	d.keys("Tab", "Tab", "Tab")
	d.typeText("list the Go files")
	d.shot("form")
	d.keys("Tab", "Tab", "Tab", "Tab", "space")
	var job protocol.CronJob
	d.until("the schedule", func() bool {
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
	d.until("the run", func() bool {
		runs, err := client.Call(t.Context(), d.c, protocol.CronRuns, protocol.CronRunsParams{JobID: job.ID})
		return err == nil && runs.Count == 1
	})
	done := d.waitText(mainWindow, "file matches")
	d.shot("runs")
	d.click(done.Sub(image.Pt(0, 8)))
	d.waitTextIn(mainWindow, "Morning report", func(w window) window { w.x, w.w, w.h = w.x+250, w.w-250, 44; return w })
	d.shot("run")
	for _, e := range d.sessions() {
		if e.Schedule != job.ID {
			t.Errorf("the run made the chat %+v among the person's chats", e)
		}
	}
}
