package reach

import (
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/computer"
	"fairlead/app/pagetest"
	"fairlead/app/style"
)

func TestTheQuestionNamesTheAddressAndWhoAsks(t *testing.T) {
	pagetest.Start(t, style.Light)
	q := &computer.TargetQuestion{Target: "db.lan:5432", Gateway: "Anna’s desk", Until: pagetest.Noon.Add(time.Minute)}
	box, size := Framed(New(q, pagetest.Noon))
	pagetest.Window(t, box, size.Width, size.Height)
	pagetest.Shows(t, box, "Allow connections from this computer to db.lan:5432?", "The gateway “Anna’s desk”", "db.lan", "5432", "1:00 left", "holds from now on")
}

func TestTheQuestionCannotBeAllowedAtOnce(t *testing.T) {
	pagetest.Start(t, style.Light)
	question := New(&computer.TargetQuestion{Target: "db.lan:5432"}, pagetest.Noon)
	pagetest.Window(t, question.Box, width, 400)
	allow := pagetest.Button(t, question.Box, "Allow from now on")
	if !allow.Disabled() {
		t.Error("Allow can be pressed at once, want after two seconds: a click may have been for another window")
	}
	question.Tick(pagetest.Noon.Add(armAfter))
	if allow.Disabled() {
		t.Error("Allow cannot be pressed after two seconds")
	}
	test.Tap(allow)
}

func TestTheQuestionInLightAndDark(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		pagetest.Start(t, mode)
		q := &computer.TargetQuestion{Target: "db.lan:5432", Until: pagetest.Noon.Add(time.Minute)}
		box, size := Framed(New(q, pagetest.Noon.Add(-time.Minute)))
		w := pagetest.Window(t, box, size.Width, size.Height)
		pagetest.Shot(t, w, fmt.Sprint("reach-", name))
	}
}
